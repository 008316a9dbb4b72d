package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
)

// DefaultLimit is the most bytes that a store holds, unless the environment variable
// PARTWISE_CACHE_SIZE or SetLimit sets another limit.
const DefaultLimit = 10_000_000_000

// limitVariable names the limit of all stores.
const limitVariable = "PARTWISE_CACHE_SIZE"

// Limit returns the limit of stores: that of the environment variable
// PARTWISE_CACHE_SIZE, such as 20GB, or DefaultLimit.
func Limit() (int64, error) {
	text := os.Getenv(limitVariable)
	if text == "" {
		return DefaultLimit, nil
	}
	limit, err := bytesize.Parse(text)
	if err != nil {
		return 0, fmt.Errorf("the environment variable %s: %w", limitVariable, err)
	}
	return limit, nil
}

const (
	// keptPart is the percentage of the limit that stays when entries are removed, so that it is not
	// exceeded again at once.
	keptPart = 90
	// After 1/scanPart of the limit has been put, entries are counted again, since other processes put
	// theirs.
	scanPart = 10
	// stuckPart replaces scanPart while the store is above its limit, as when entries cannot be removed.
	stuckPart = 1000
	// touchAfter is the age at which the time of an entry's last use is renewed.
	touchAfter = time.Hour
)

// SetLimit sets the most bytes of all entries with their headers; above it the least recently used are
// removed. It is called before the store is used.
func (s *Store) SetLimit(limit int64) {
	if s != nil {
		s.limit = limit
	}
}

// added counts an entry of size bytes, and removes others above the limit. One goroutine removes while
// others go on.
func (s *Store) added(size int64) {
	s.mu.Lock()
	s.size += size
	s.unseen += size
	look := !s.counted || s.unseen > s.limit/scanPart || s.size > s.limit && s.unseen > s.limit/stuckPart
	if !look || s.evicting {
		s.mu.Unlock()
		return
	}
	s.evicting = true
	s.unseen = 0
	s.mu.Unlock()

	left := s.evict()

	s.mu.Lock()
	s.size, s.counted, s.evicting = left+s.unseen, true, false
	s.mu.Unlock()
}

// used is an entry's file and when it was used last.
type used struct {
	path string
	size int64
	last time.Time
}

// evict removes the least recently used entries if the store is above its limit, and returns how many
// bytes are left. An entry that cannot be removed, such as an open file on Windows, stays.
func (s *Store) evict() (left int64) {
	var all []used
	_ = s.each(func(path string, e fs.DirEntry) error { // what cannot be listed cannot be removed
		if info, err := e.Info(); err == nil {
			all = append(all, used{path, info.Size(), info.ModTime()})
			left += info.Size()
		}
		return nil
	})
	if left <= s.limit {
		return left
	}
	slices.SortFunc(all, func(a, b used) int { return cmp.Or(a.last.Compare(b.last), cmp.Compare(a.path, b.path)) })
	for _, e := range all {
		if left <= s.limit/100*keptPart {
			break
		}
		if err := os.Remove(e.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			left -= e.size
		}
	}
	return left
}

// touch renews the time of an entry's last use, which is the time of its file. It also corrects times
// in the future, of a wrong clock.
func touch(path string, last time.Time) {
	now := time.Now()
	if age := now.Sub(last); age > touchAfter || age < -touchAfter {
		_ = os.Chtimes(path, now, now) // else it goes earlier, and is made again
	}
}
