//go:build !linux

package main

// shortages returns the ways in which a disk can be short here.
func shortages(string) ([]shortage, []string) {
	return nil, []string{"Disks that are short are tried on Linux only."}
}
