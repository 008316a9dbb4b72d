package main

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
)

func cacheCommand() *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "cache",
		Short: "Show the size of the feature cache, or clear it",
		Long: `Show the size of the feature cache. Cached features let a second run start immediately. Above the
limit, the least recently used entries are removed. The limit is --cache-size,
PARTWISE_CACHE_SIZE or 10 GB.`,
		Example: "  partwise cache\n  partwise cache clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, u, err := openCache(dir)
			if err != nil {
				return err
			}
			facts := [][2]any{{"folder", plaintext.Line(u.Dir)}, {"entries", u.Entries}, {"size", bytesize.Format(u.Size)}, {"limit", bytesize.Format(u.Limit)}}
			if !u.Oldest.IsZero() {
				facts = append(facts, [2]any{"oldest", "last used on " + u.Oldest.Format(time.DateOnly)})
			}
			return printFacts(cmd.OutOrStdout(), 0, facts)
		},
	}
	cmd.PersistentFlags().StringVar(&dir, "cache", "", "cache folder (default $PARTWISE_CACHE, then the user cache)")
	cmd.AddCommand(&cobra.Command{
		Use:     "clear",
		Short:   "Remove all cached features",
		Long:    "Remove all cached features. Other files in the folder stay.",
		Example: "  partwise cache clear",
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, u, err := openCache(dir)
			if err == nil {
				err = store.Clear()
			}
			if err != nil {
				return err
			}
			return printFacts(cmd.OutOrStdout(), 0, [][2]any{{"folder", plaintext.Line(u.Dir)}, {"removed", u.Entries}, {"freed", bytesize.Format(u.Size)}})
		},
	})
	return cmd
}

// openCache opens the cache in the folder dir, or the default one if dir is "".
func openCache(dir string) (store *cache.Store, u cache.Usage, err error) {
	if dir == "" {
		if dir, err = cache.Default(); err != nil {
			return nil, u, err
		}
	}
	if store, err = cache.Open(dir); err == nil {
		u, err = store.Usage()
	}
	return store, u, err
}

// cacheFolder returns the folder in the flags, "" for none.
func cacheFolder(cmd *cobra.Command) string {
	folder, _ := cmd.Flags().GetString("cache") // "" for a command without the flags
	if without, err := cmd.Flags().GetBool("no-cache"); folder != "" || without || err != nil {
		return folder
	}
	folder, err := cache.Default()
	if err != nil || os.MkdirAll(folder, 0o777) != nil {
		return "" // no folder is available
	}
	return folder
}

// openStore opens the cache of the flags, or a temporary one, because descriptors are read twice. remove deletes a
// temporary one.
func openStore(cmd *cobra.Command) (store *cache.Store, remove func(), err error) {
	folder, remove := cacheFolder(cmd), func() {}
	if folder == "" {
		if folder, err = os.MkdirTemp("", "partwise-"); err != nil {
			return nil, remove, err
		}
		remove = func() { os.RemoveAll(folder) }
	}
	if store, err = cache.Open(folder); err != nil {
		return nil, remove, err
	}
	size, err := cacheSize(cmd)
	if size > 0 {
		store.SetLimit(size)
	}
	return store, remove, err
}

// cacheSize returns the size limit in the flag, 0 for none.
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
