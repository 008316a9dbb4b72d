package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/bytesize"
	"github.com/seed4492f2cd/partwise/internal/cache"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// prepareFlags adds the flags of where descriptors, words and histograms are kept,
// and of how much memory is taken.
func prepareFlags(cmd *cobra.Command) {
	memoryFlag(cmd)
	cmd.Flags().String("cache", "", "folder where what is made of photographs is kept (default $PARTWISE_CACHE, then the user's cache)")
	cmd.Flags().String("cache-size", "", "most that is kept there, as in 20GB (default $PARTWISE_CACHE_SIZE, then 10GB)")
	cmd.Flags().Bool("no-cache", false, "keep nothing of what is made of photographs for the next time")
}

// cacheFolder returns the folder that the flags say, "" for none.
func cacheFolder(cmd *cobra.Command) (string, error) {
	folder, err := cmd.Flags().GetString("cache")
	if err != nil {
		return "", err
	}
	without, err := cmd.Flags().GetBool("no-cache")
	switch {
	case err != nil || folder != "" && !without:
		return folder, err
	case folder != "":
		return "", usageError{errors.New("--cache and --no-cache: say one of them")}
	case without:
		return "", nil
	}
	if folder, err = cache.Default(); err != nil || os.MkdirAll(folder, 0o777) != nil {
		return "", nil // nowhere to keep it
	}
	return folder, nil
}

// cacheSize returns the limit of the cache that the flag says, 0 for none.
func cacheSize(cmd *cobra.Command) (int64, error) {
	text, err := cmd.Flags().GetString("cache-size")
	if err != nil || text == "" {
		return 0, err
	}
	size, err := bytesize.Parse(text)
	if err != nil {
		return 0, usageError{fmt.Errorf("--cache-size: %w", err)}
	}
	return size, nil
}

// prepare makes the features that a command works on, and shows how far it is. The
// set is checked before an image is read; check may be nil.
func prepare(cmd *cobra.Command, e *pipeline.Experiment, check func(*datasets.Set) error) (*pipeline.Inputs, error) {
	folder, err := cacheFolder(cmd)
	if err != nil {
		return nil, err
	}
	size, err := cacheSize(cmd)
	if err != nil {
		return nil, err
	}
	bars := &stages{w: cmd.ErrOrStderr()}
	defer bars.end()
	in, err := e.Prepare(cmd.Context(), pipeline.PrepareOptions{
		Cache: folder, CacheSize: size, Check: check, Progress: bars.show,
		CacheFailed: func(err error) {
			plaintext.Fprintf(cmd.ErrOrStderr(), "partwise: %v; the work goes on without keeping more\n", err)
		},
	})
	if err != nil {
		var bad *features.BadSampleError
		if errors.As(err, &bad) {
			err = fmt.Errorf("%w (--skip-bad leaves out what cannot be used)", err)
		}
		doing := bars.doing()
		return nil, stopped(cmd.Context(), err, cmp.Or(doing, "looking at the data"), keptFeatures(folder, doing != "" && doing != "reading"))
	}
	return in, nil
}

// keptOf says what is left of the inputs when the work on them is stopped.
func keptOf(cmd *cobra.Command, in *pipeline.Inputs) string {
	folder, _ := cacheFolder(cmd) // which prepare has found
	return keptFeatures(folder, in.Features.Words != nil)
}
