// Package cache keeps on disk what was made of something that has not changed,
// a blob of bytes under a key that digests all that it was made from.
//
// Nothing in a store is trusted: what is not whole, is of another version or
// stands under another key's name counts as not there, and is removed.
// Goroutines and processes may share a store. An entry appears at once and
// whole; of two writers of a key the last one stays. What a crash of the
// machine left of an entry is found out when it is read, so nothing waits for
// the disk.
package cache
