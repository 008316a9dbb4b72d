package cache

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// age makes an entry unused for the given time.
func age(t *testing.T, s *Store, key Key, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(s.path(key), at, at); err != nil {
		t.Fatal(err)
	}
}

func has(s *Store, key Key) bool {
	_, ok := s.SizeOf(key)
	return ok
}

// The least recently used entries are removed first. Reading an entry is a use.
func TestLimit(t *testing.T) {
	s := open(t, t.TempDir())
	blob := make([]byte, 1000-headerSize)
	s.SetLimit(10_000)
	key := func(i int) Key { return NewKey("limit", i) }
	for i := range 10 {
		put(t, s, key(i), blob)
		age(t, s, key(i), time.Duration(100-i)*time.Hour)
	}
	checkSize(t, s, 10, 10_000)
	if _, ok := s.Get(key(0)); !ok {
		t.Fatal("the oldest is gone within the limit")
	}
	put(t, s, key(10), blob)
	// 9 of 11 are left, 90 %.
	checkSize(t, s, 9, 9_000)
	for i := range 11 {
		if want := i != 1 && i != 2; has(s, key(i)) != want {
			t.Errorf("entry %d is there: got %v, want %v", i, !want, want)
		}
	}
	if u, err := s.Usage(); err != nil || u.Limit != 10_000 || time.Since(u.Oldest).Round(time.Hour) != 97*time.Hour {
		t.Errorf("%+v, %v; the oldest was used 97 h ago", u, err)
	}
}

// TestLimitOfOneEntry checks that an entry above the limit is not stored and removes no other entry.
func TestLimitOfOneEntry(t *testing.T) {
	s := open(t, t.TempDir())
	s.SetLimit(1000)
	put(t, s, NewKey("small"), make([]byte, 500))
	put(t, s, NewKey("large"), make([]byte, 1000))
	if !has(s, NewKey("small")) || has(s, NewKey("large")) {
		t.Error("a blob above the limit was kept, or took the place of another")
	}
}

// A store counts entries that other stores put into the same folder.
func TestLimitOfSeveralStores(t *testing.T) {
	dir := t.TempDir()
	const limit, size, stores = 100_000, 1000, 4
	var all sync.WaitGroup
	for g := range stores {
		s := open(t, dir)
		s.SetLimit(limit)
		all.Go(func() {
			for i := range 200 {
				key := NewKey("of several", g, i)
				if err := s.put(key, bytes.Repeat([]byte{byte(i)}, size)); err != nil {
					t.Error(err)
				}
				// The entry may have been removed; otherwise its content must be right.
				if blob, ok := s.Get(key); ok && (len(blob) != size || blob[0] != byte(i)) {
					t.Error("Get returns another blob than Put stored")
				}
			}
		})
	}
	all.Wait()
	s := open(t, dir)
	u, err := s.Usage()
	// Each store may lag behind by a tenth of the limit.
	if most := int64(limit + stores*(limit/scanPart+size+headerSize)); err != nil || u.Size > most || u.Size < limit/2 {
		t.Errorf("%d bytes are left, %v; want at most %d and about %d", u.Size, err, most, limit)
	}
}

func TestLimitVariable(t *testing.T) {
	t.Setenv("PARTWISE_CACHE_SIZE", "3MB")
	if u, err := open(t, t.TempDir()).Usage(); err != nil || u.Limit != 3e6 {
		t.Errorf("the limit is %d, %v", u.Limit, err)
	}
	t.Setenv("PARTWISE_CACHE_SIZE", "much")
	if _, err := Open(t.TempDir()); err == nil || !strings.Contains(err.Error(), "PARTWISE_CACHE_SIZE") {
		t.Errorf("a limit of %q: %v", os.Getenv("PARTWISE_CACHE_SIZE"), err)
	}
	t.Setenv("PARTWISE_CACHE_SIZE", "")
	if u, err := open(t, t.TempDir()).Usage(); err != nil || u.Limit != DefaultLimit {
		t.Errorf("the limit is %d, %v", u.Limit, err)
	}
}

// A user's folder does not become a cache, and a cache stays a cache whatever files are added.
func TestMarker(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "1.jpg"), []byte("mine"))
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), dir) || !strings.Contains(err.Error(), "1.jpg") {
		t.Errorf("a folder of photographs opened as a cache: %v", err)
	}
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("got files %v", left)
	}
	dir = t.TempDir()
	put(t, open(t, dir), Key{}, nil)
	write(t, filepath.Join(dir, "1.jpg"), []byte("mine"))
	open(t, dir)
	// A cache of an earlier version without a marker.
	dir = t.TempDir()
	put(t, open(t, dir), Key{}, nil)
	if err := os.Remove(filepath.Join(dir, markerName)); err != nil {
		t.Fatal(err)
	}
	if !has(open(t, dir), Key{}) {
		t.Error("the entry is gone")
	}
}
