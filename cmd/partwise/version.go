package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/simd"
)

// version is set by a build that is not made from a checkout (see the
// Makefile); elsewhere the version comes from the tag or the revision.
var version = ""

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, the revision and how this program was built",
		Args:  arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
			return err
		},
	}
}

func versionText() string { return describeVersion(buildInfo()) }

// buildInfo is what is known of this build.
func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return new(debug.BuildInfo)
}

// describeVersion says what a program of this build is: its version on the
// first line, and on those that follow what may change its results or is needed
// to make it again.
func describeVersion(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	lines := []string{"partwise " + releaseVersion(info)}
	put := func(what, text string) {
		lines = append(lines, fmt.Sprintf("  %-10s %s", what, text))
	}
	if revision := settings["vcs.revision"]; revision != "" {
		text := revision
		if t := settings["vcs.time"]; t != "" {
			text += " of " + t
		}
		if settings["vcs.modified"] == "true" {
			text += ", with uncommitted changes"
		}
		put("revision", text)
	}
	build := "portable"
	if slices.Contains(strings.Split(settings["-tags"], ","), "opencv") {
		build = "with OpenCV"
	}
	put("build", build)
	put("go", fmt.Sprintf("%s %s/%s", runtime.Version(), runtime.GOOS, runtime.GOARCH))
	put("processor", cmp.Or(simd.Instructions(), "no vector instructions")+" used by the inner loops")
	return strings.Join(lines, "\n")
}

// releaseVersion returns the version of this program: that of its build or of
// its module, such as v1.2.3 or, between two tags, one that holds the time and
// the revision. A build that knows neither is "unversioned".
func releaseVersion(info *debug.BuildInfo) string {
	if version != "" {
		return version
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "unversioned"
}
