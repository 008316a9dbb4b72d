package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"runtime/pprof"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/output"
)

// profileFlag adds the flag of where a profile of the command's work goes. The command has
// its RunE by then.
func profileFlag(cmd *cobra.Command) {
	path := cmd.Flags().String("profile", "", "write a CPU profile to this file, which must not be there yet, for go tool pprof")
	work := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *path == "" {
			return work(cmd, args)
		}
		return profile(*path, func() error { return work(cmd, args) })
	}
}

// profile does the work and writes a profile of it, also where it fails or is interrupted,
// but for mistakes in the command line.
func profile(path string, work func() error) error {
	if err := noProfile(output.CheckFile(path, false)); err != nil {
		return err
	}
	if err := atomicfile.RemoveStale(filepath.Dir(path)); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := pprof.StartCPUProfile(&text); err != nil {
		return err
	}
	err := func() error {
		defer pprof.StopCPUProfile()
		return work()
	}()
	if wrong := (usageError{}); errors.As(err, &wrong) {
		return err
	}
	// The file may have appeared meanwhile.
	return errors.Join(err, noProfile(atomicfile.CreateFunc(path, func(w io.Writer) error {
		_, err := text.WriteTo(w)
		return err
	})))
}

// noProfile says of an error that a file is there already what that means.
func noProfile(err error) error {
	var at *fs.PathError
	if errors.Is(err, fs.ErrExist) && errors.As(err, &at) {
		return fmt.Errorf("%s is there already, and a profile replaces no file", at.Path)
	}
	return err
}
