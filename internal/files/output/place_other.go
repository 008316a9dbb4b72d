//go:build !unix

package output

// isNotFolder: Windows says of a path through a file that it is not there.
func isNotFolder(error) bool { return false }
