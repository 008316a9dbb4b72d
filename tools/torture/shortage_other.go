//go:build !linux

package main

import "errors"

var (
	onDisks  []string
	errLinux = errors.New("disks are tried on Linux only")
)

// shortages returns the ways in which a disk can be short here.
func shortages(string) ([]shortage, []string) {
	return nil, []string{"Disks that are short are tried on Linux only."}
}

func mountDisks(string) error        { return errLinux }
func unmountDisks(string)            {}
func syncDisk(string) error          { return errLinux }
func failPower(string, string) error { return errLinux }
