package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/blas"
)

// version is set by the build of a release.
var version = ""

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version, and how this build does matrix products",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
			return err
		},
	}
}

func versionText() string {
	v := version
	if info, ok := debug.ReadBuildInfo(); ok && v == "" {
		v = info.Main.Version
	}
	return fmt.Sprintf("partwise %s (%s, %s/%s, matrix products by %s)", v, runtime.Version(), runtime.GOOS, runtime.GOARCH, blas.Name)
}
