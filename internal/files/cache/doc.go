// Package cache stores results on disk: a blob of bytes under a key that digests all inputs of the result.
//
// Nothing in a store is trusted: an entry that is damaged, of another version or under another key's
// name counts as missing and is removed. Goroutines and processes may share a store. Entries appear
// atomically; the last writer of a key wins. Damage by a crash of the machine is detected when an entry
// is read, so writes do not wait for the disk.
package cache
