package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/licences"
	"github.com/seed4492f2cd/partwise/internal/simd"
)

// version is set by a build without a checkout (see the Makefile); otherwise it is the tag or revision.
var version = ""

func versionCommand() *cobra.Command {
	return newCommand("version", func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
		return err
	})
}

func versionText() string { return describeVersion(buildInfo()) }

func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return new(debug.BuildInfo)
}

// describeVersion returns the version, and below it whatever may change results or is needed to build it again.
func describeVersion(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "partwise %s\n", releaseVersion(info))
	if revision := settings["vcs.revision"]; revision != "" {
		if t := settings["vcs.time"]; t != "" {
			revision += " of " + t
		}
		if settings["vcs.modified"] == "true" {
			revision += ", with uncommitted changes"
		}
		fmt.Fprintf(&b, "  revision   %s\n", revision)
	}
	build := "portable"
	if slices.Contains(strings.Split(settings["-tags"], ","), "opencv") {
		build = "with OpenCV"
	}
	fmt.Fprintf(&b, "  build      %s\n  go         %s %s/%s\n  processor  %s used by the inner loops",
		build, runtime.Version(), runtime.GOOS, runtime.GOARCH, cmp.Or(simd.Instructions(), "no vector instructions"))
	return b.String()
}

// releaseVersion returns the version of a build or of its module, such as v1.2.3 or, between two tags, one with the
// time and revision. If both are unknown, it is "unversioned".
func releaseVersion(info *debug.BuildInfo) string {
	return cmp.Or(version, strings.TrimSuffix(info.Main.Version, "(devel)"), "unversioned")
}

func licencesCommand() *cobra.Command {
	var text bool
	cmd := newCommand("licences", func(cmd *cobra.Command, args []string) error {
		linked, err := licences.Linked(buildInfo())
		if err != nil {
			return err
		}
		out := cmd.OutOrStdout()
		if len(args) == 0 && !text {
			t := columns.Table{Header: []string{"library", "version", "licence"}, Limits: []int{0, 0, 40}}
			for _, l := range linked {
				t.Row(l.Name, l.Version, cmp.Or(l.ID, "unknown"))
			}
			return printTable(out, t, "partwise itself is under Apache-2.0. partwise licences NAME prints one text, --text all texts.")
		}
		if len(args) == 1 {
			linked = slices.DeleteFunc(linked, func(l licences.Licence) bool {
				return !strings.Contains(strings.ToLower(l.Name), strings.ToLower(args[0]))
			})
		}
		if len(linked) == 0 {
			return usageError{fmt.Errorf("no linked library is called %q; \"partwise licences\" lists them", args[0])}
		}
		var b bytes.Buffer
		licences.Write(&b, linked)
		_, err = b.WriteTo(out)
		return err
	})
	cmd.Aliases = []string{"licenses"}
	cmd.Flags().BoolVar(&text, "text", false, "print all licence texts")
	return cmd
}

func manCommand() *cobra.Command {
	var dir string
	cmd := newCommand("man", func(cmd *cobra.Command, _ []string) error {
		if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
			return fmt.Errorf("%s is not empty; choose a new or empty folder", dir)
		}
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		n := readyForManual(cmd.Root())
		header := &doc.GenManHeader{Section: "1", Source: "partwise " + releaseVersion(buildInfo()), Manual: "partwise"}
		for _, s := range buildInfo().Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil && os.Getenv("SOURCE_DATE_EPOCH") == "" {
				header.Date = &t
			}
		}
		if err := doc.GenManTree(cmd.Root(), header, dir); err != nil {
			return err
		}
		return say(cmd, "%d manual pages are in %s.\n", n, dir)
	})
	cmd.Flags().StringVar(&dir, "dir", "", "output folder, new or empty")
	_ = cmd.MarkFlagRequired("dir")
	return cmd
}

// readyForManual converts the help of a command and its subcommands to Markdown, and counts them.
func readyForManual(cmd *cobra.Command) int {
	cmd.DisableAutoGenTag = true                                // hides the name of the generating library
	cmd.Long = strings.ReplaceAll(cmd.Long, "\n  ", "\n      ") // examples
	n := 1
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			n += readyForManual(c)
		}
	}
	return n
}
