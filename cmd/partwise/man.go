package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
)

func manCommand() *cobra.Command {
	var dir string
	var force bool
	cmd := &cobra.Command{
		Use:   "man",
		Short: "Write the manual pages",
		Long: `Man writes the manual pages of partwise and its commands into a folder, for
man(1). They are dated by the environment variable SOURCE_DATE_EPOCH, in seconds, and
without it not at all, so that one program writes the same pages at any time.`,
		Example: "  partwise man --dir man/man1",
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if dir == "" {
				return usageError{errors.New("--dir is missing: the folder for the pages")}
			}
			n, err := writeManual(cmd.Root(), dir, force)
			if err != nil {
				return err
			}
			_, err = plaintext.Fprintf(cmd.OutOrStdout(), "%d manual pages are in %s.\n", n, dir)
			return err
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder for the pages, made if need be")
	cmd.Flags().BoolVar(&force, "force", false, "replace pages that are there already")
	return cmd
}

// writeManual writes a page for each command into dir, and returns how many.
func writeManual(root *cobra.Command, dir string, force bool) (int, error) {
	date, err := manualDate()
	if err != nil {
		return 0, err
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	source := "partwise " + releaseVersion(info)
	root.InitDefaultCompletionCmd()
	var files []string
	var pages [][]byte
	var add func(cmd *cobra.Command) error
	add = func(cmd *cobra.Command) error {
		cmd.DisableAutoGenTag = true                                // the page would say which library made it
		cmd.Long = strings.ReplaceAll(cmd.Long, "\n  ", "\n      ") // which is read as Markdown: an example
		var page bytes.Buffer
		header := &doc.GenManHeader{Section: "1", Source: source, Manual: "partwise", Date: &date}
		if err := doc.GenMan(cmd, header, &page); err != nil {
			return fmt.Errorf("the page of %s: %w", cmd.CommandPath(), err)
		}
		text := page.Bytes()
		if date.IsZero() {
			text = bytes.Replace(text, []byte(date.Format(`"Jan 2006"`)), []byte(`""`), 1)
		}
		files = append(files, filepath.Join(dir, strings.ReplaceAll(cmd.CommandPath(), " ", "-")+".1"))
		pages = append(pages, text)
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				if err := add(c); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if err := add(root); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return 0, err
	}
	if err := checkNewFiles(force, files...); err != nil {
		return 0, err
	}
	write := atomicfile.CreateFunc // a file may have appeared after the check
	if force {
		write = atomicfile.WriteFunc
	}
	for i, file := range files {
		if err := write(file, func(w io.Writer) error {
			_, err := w.Write(pages[i])
			return err
		}); err != nil {
			return 0, err
		}
	}
	return len(files), nil
}

// manualDate returns what the environment variable SOURCE_DATE_EPOCH says, or the
// zero time.
func manualDate() (time.Time, error) {
	epoch := os.Getenv("SOURCE_DATE_EPOCH")
	if epoch == "" {
		return time.Time{}, nil
	}
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return time.Time{}, fmt.Errorf("SOURCE_DATE_EPOCH is %q, want a number of seconds", epoch)
	}
	return time.Unix(seconds, 0).UTC(), nil
}
