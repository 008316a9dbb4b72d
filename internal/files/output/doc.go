// Package output owns the folders that results are written to. It never removes
// or overwrites a file that partwise did not write.
//
// A folder has a manifest, a list of the files that partwise wrote with their SHA-256 sums. A file of
// the manifest whose sum is still the one listed may be replaced or removed. Any other file below a
// name that a command writes is foreign: the folder is refused with its path, before any work is done
// and once more before anything is replaced.
//
//	folder, err := output.Open(dir, spec)                 // one writer at a time
//	defer folder.Close()
//	stage, err := folder.Stage("index.html", "groups/")   // a hidden folder in dir
//	… write stage.Dir()/index.html and so on …
//	err = stage.Publish()                                 // all of it, or nothing
//
// The staged files replace everything that partwise wrote under the names given to Stage. Publish first
// lists in the manifest which files come and go, then removes and renames, and last writes the new
// manifest. A process killed before the first step has changed nothing; after one killed later, the
// next Open does the missing steps. The next Open also removes the staging folders of killed processes.
//
// Symbolic links in a folder are foreign and never followed.
package output
