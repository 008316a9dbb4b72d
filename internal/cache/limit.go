package cache

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/seed4492f2cd/partwise/internal/bytesize"
)

// DefaultLimit is how many bytes the entries of a store have at most, unless
// the environment variable PARTWISE_CACHE_SIZE or SetLimit says otherwise.
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
	// keptPart is how much of the limit is left when entries are removed, in
	// percent, so that it is not passed again at once.
	keptPart = 90
	// After 1/scanPart of the limit has been put, entries are counted again, since other processes put theirs.
	scanPart = 10
	// stuckPart is the same where there are too many bytes, as when entries cannot
	// be removed.
	stuckPart = 1000
	// touchAfter is the age at which the time of an entry's last use is renewed.
	touchAfter = time.Hour
)

// SetLimit sets how many bytes the entries have at most, headers included; above
// it those go that were not used for longest. It is called before the store is
// used.
func (s *Store) SetLimit(limit int64) {
	if s != nil {
		s.limit = limit
	}
}

// added notes that an entry of size bytes was put, and removes others where
// that is too much. Of several goroutines one removes, and the others go on.
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

// evict removes the entries that were not used for longest, if all have more
// bytes than the limit, and returns how many bytes are left. An entry that cannot
// be removed, such as one that Windows has open, stays.
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

// touch renews the time of an entry's last use, which is that of its file's last
// change. A time in the future, of a clock that was wrong, does not stay either.
func touch(path string, last time.Time) {
	now := time.Now()
	if age := now.Sub(last); age > touchAfter || age < -touchAfter {
		_ = os.Chtimes(path, now, now) // else it goes earlier, and is made again
	}
}
