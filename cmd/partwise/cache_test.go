package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/cache"
)

// fill puts two blobs of 2000 bytes in all into the cache at dir.
func fill(t *testing.T, dir string) {
	t.Helper()
	store, err := cache.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{500, 1396} { // and 52 bytes before each
		if err := store.Put(cache.NewKey("test", size), make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCache(t *testing.T) {
	here, other := filepath.Join(t.TempDir(), "new"), t.TempDir()
	t.Setenv("PARTWISE_CACHE", here)
	says := func(line string, want ...string) {
		t.Helper()
		out := must(t, strings.Fields(line)...)
		for _, w := range want {
			if !strings.Contains(out, w) {
				t.Errorf("partwise %s does not say %q:\n%s", line, w, out)
			}
		}
	}
	says("cache", here, "entries  0", "size     0 bytes")
	fill(t, here)
	fill(t, other)
	note := filepath.Join(here, "note.txt")
	write(t, note, "mine")
	t.Setenv("PARTWISE_CACHE_SIZE", "3GB")
	says("cache", here, "entries  2", "size     2.0 kB", "limit    3.0 GB", "oldest   used last on "+time.Now().Format(time.DateOnly))
	says("cache --cache "+other, other, "entries  2")
	says("cache clear", here, "removed  2", "freed    2.0 kB")
	says("cache", here, "entries  0")
	says("cache --cache "+other, "entries  2")
	says("cache clear --cache "+other, other, "removed  2")
	if read(t, note) != "mine" {
		t.Error("a file that is not the cache's is another")
	}
	if left, err := os.ReadDir(here); err != nil || len(left) != 2 { // and what marks it as a cache
		t.Errorf("cleared, the folder holds %v, %v", left, err)
	}
}

func TestCacheMistakes(t *testing.T) {
	t.Setenv("PARTWISE_CACHE", filepath.Join(t.TempDir(), "a"))
	write(t, os.Getenv("PARTWISE_CACHE"), "a file")
	for line, want := range map[string]struct {
		code int
		text string
	}{
		"cache purge":     {2, `unknown command "purge"`},
		"cache clear now": {2, `"now" is one argument too many`},
		"cache --all":     {2, "unknown flag: --all"},
		"cache":           {1, os.Getenv("PARTWISE_CACHE")},
		"cache clear":     {1, os.Getenv("PARTWISE_CACHE")},
	} {
		code, _, stderr := partwise(strings.Fields(line)...)
		if code != want.code || !strings.HasPrefix(stderr, "partwise: ") || !strings.Contains(stderr, want.text) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d and %q, want %d and %q", line, code, stderr, want.code, want.text)
		}
	}
}
