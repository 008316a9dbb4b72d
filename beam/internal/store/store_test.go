package store

import (
	"context"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	_ "gocloud.dev/blob/memblob" // mem
)

// opener opens the buckets of a scheme for tests.
type opener func() (*blob.Bucket, error)

func (o opener) OpenBucketURL(context.Context, *url.URL) (*blob.Bucket, error) { return o() }

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestStore: a file that is published is fetched whole, and shards are listed in order, in buckets and in a folder.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	blob.DefaultURLMux().RegisterBucket("disk", opener(func() (*blob.Bucket, error) { return fileblob.OpenBucket(dir, nil) }))
	for _, root := range []string{"mem://bucket/a b", "disk://bucket/x", "file://" + filepath.ToSlash(t.TempDir()), t.TempDir()} {
		t.Run(root, func(t *testing.T) {
			ctx, dir := t.Context(), t.TempDir()
			from := filepath.Join(dir, "rows.npz")
			for i, text := range []string{"first", strings.Repeat("second", 1<<18)} {
				write(t, from, text)
				if err := Publish(ctx, from, root+"/rows-00001-of-00002.npz"); err != nil {
					t.Fatal(i, err)
				}
				path, err := Fetch(ctx, root+"/rows-00001-of-00002.npz", dir)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := os.ReadFile(path); err != nil || string(got) != text {
					t.Fatalf("%d bytes instead of %d (%v)", len(got), len(text), err)
				}
			}
			if _, err := Shards(ctx, root); err == nil || !strings.Contains(err.Error(), "shard 0/2 is missing") {
				t.Errorf("without the first shard: %v", err)
			}
			for _, name := range []string{"rows-00000-of-00002.npz", "words-00000-of-00001.npz", "rows-00000-of-00002.csv"} {
				if err := Publish(ctx, from, root+"/"+name); err != nil {
					t.Fatal(err)
				}
			}
			paths, err := Shards(ctx, root+"/rows-*.npz")
			want := []string{root + "/rows-00000-of-00002.npz", root + "/rows-00001-of-00002.npz"}
			for i := range want {
				want[i] = strings.TrimPrefix(want[i], "file://")
			}
			if err != nil || !slices.Equal(paths, want) {
				t.Errorf("shards %q (%v)", paths, err)
			}
			if _, err := Shards(ctx, root+"/"); err == nil || !strings.Contains(err.Error(), "different sets of shards") {
				t.Errorf("two sets: %v", err)
			}
			// A file of an earlier fetch does not stand for one that is gone.
			write(t, filepath.Join(dir, "gone.npz"), "earlier")
			path, err := Fetch(ctx, root+"/gone.npz", dir)
			if _, there := os.Stat(path); err != nil || there == nil {
				t.Errorf("a missing file: %s, %v", path, err)
			}
			if err := Publish(ctx, filepath.Join(dir, "none"), root+"/x"); err == nil {
				t.Error("a missing file was published")
			}
			stopped, stop := context.WithCancel(ctx)
			if stop(); strings.HasPrefix(root, "mem") && Publish(stopped, from, root+"/stopped") == nil {
				t.Error("a stopped write was published")
			}
		})
	}
	for _, wrong := range []string{"ftp://host/x", "gs:///x"} {
		if _, err := Fetch(t.Context(), wrong, dir); err == nil || !strings.Contains(err.Error(), wrong+": expected a path, gs://") {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
