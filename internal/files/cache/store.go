package cache

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Store is a folder of blobs by key. Goroutines and processes may share it. A nil *Store stays empty.
type Store struct {
	dir   string
	limit int64

	mu sync.Mutex
	// size is the approximate number of bytes of all entries, once they are counted, and unseen the
	// bytes put since then.
	size, unseen      int64
	counted, evicting bool
}

// Default returns the default folder: the one that the environment variable PARTWISE_CACHE names, or
// else partwise/cache in the user's cache folder, beside downloaded data sets.
func Default() (string, error) {
	if dir := os.Getenv("PARTWISE_CACHE"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the cache is given, and there is none for the user's: %w", err)
	}
	return filepath.Join(dir, "partwise", "cache"), nil
}

// The names of a store's own files: an entry is in a folder named by the first two digits of its key.
// All other files are left alone.
var (
	shardName = regexp.MustCompile(`^[0-9a-f]{2}$`)
	entryName = regexp.MustCompile(`^[0-9a-f]{64}\.partwise$`)
	tempName  = regexp.MustCompile(`^[0-9a-f]{64}-[0-9]+\.tmp$`)
)

// leftover is the age of a temporary file that no running process still writes.
const leftover = time.Hour

// markerName is the file that tells a store's folder from others.
const markerName = "partwise-cache.txt"

const markerText = `This folder is a cache of partwise. Files in it may go at any time, and all of
them can be removed: they are made again when they are needed.
`

// Open returns the store in the folder dir, which it makes if need be, and removes the temporary files
// of killed processes. Its limit is Limit's. A folder that holds other files and is no store is an
// error.
func Open(dir string) (*Store, error) {
	limit, err := Limit()
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	s := &Store{dir: dir, limit: limit}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	if err := s.mark(); err != nil {
		return nil, err
	}
	if err := s.removeTemporary(leftover); err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	return s, nil
}

// mark writes the marker of a store, and refuses a folder of other files.
func (s *Store) mark() error {
	marker := filepath.Join(s.dir, markerName)
	if info, err := os.Lstat(marker); err == nil {
		if unfinished(marker, info) {
			_ = os.WriteFile(marker, []byte(markerText), 0o666)
		}
		return nil
	}
	all, err := os.ReadDir(s.dir)
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	for _, e := range all {
		own := e.IsDir() && shardName.MatchString(e.Name()) || e.Type().IsRegular() && tempName.MatchString(e.Name())
		if !own && e.Name() != markerName {
			return fmt.Errorf("cache: the folder %s holds %s, which is not of a cache; name an empty folder, or one that is not there yet", s.dir, strconv.Quote(e.Name()))
		}
	}
	// A folder that cannot be written to can be read.
	_ = os.WriteFile(marker, []byte(markerText), 0o666)
	return nil
}

// unfinished tells whether a kill or a full disk cut the marker short.
func unfinished(marker string, info fs.FileInfo) bool {
	if !info.Mode().IsRegular() || info.Size() >= int64(len(markerText)) {
		return false
	}
	text, err := os.ReadFile(marker)
	return err == nil && strings.HasPrefix(markerText, string(text))
}

// path returns the file of an entry.
func (s *Store) path(key Key) string {
	name := key.String()
	return filepath.Join(s.dir, name[:2], name+".partwise")
}

// Get returns the blob of a key and whether there is one. The caller owns the blob. Get allocates no
// more than SizeOf says.
func (s *Store) Get(key [sha256.Size]byte) (blob []byte, ok bool) {
	if s == nil {
		return nil, false
	}
	path := s.path(key)
	f, length, last, err := s.openEntry(key)
	if errors.Is(err, errDamaged) {
		// A good entry that another process has just put there is lost too, and made again.
		_ = os.Remove(path)
	}
	if err != nil {
		return nil, false
	}
	defer f.Close()
	file := make([]byte, int64(headerSize)+length)
	if _, err := f.ReadAt(file, 0); err != nil { // a file is never changed, but damaged
		return nil, false
	}
	if blob = file[headerSize:]; !checkSum(file[:headerSize], blob) {
		_ = os.Remove(path)
		return nil, false
	}
	touch(path, last)
	return blob, true
}

// errDamaged is the error of an entry with a wrong header.
var errDamaged = errors.New("a damaged entry")

// openEntry opens the file of an entry, and returns the length of the blob, on which header and file
// agree, and the time of the file.
func (s *Store) openEntry(key Key) (f *os.File, length int64, changed time.Time, err error) {
	path := s.path(key)
	info, err := os.Lstat(path)
	if err != nil {
		return nil, 0, changed, err
	}
	// Opening a pipe would wait for a writer, and Put keeps nothing above the limit.
	if !info.Mode().IsRegular() || info.Size() > s.limit {
		return nil, 0, changed, fs.ErrInvalid
	}
	if f, err = os.Open(path); err != nil {
		return nil, 0, changed, err
	}
	header := make([]byte, headerSize)
	n, _ := f.ReadAt(header, 0)
	length, ok := checkHeader(key, header[:n], info.Size())
	if !ok {
		f.Close()
		return nil, 0, changed, errDamaged
	}
	return f, length, info.ModTime(), nil
}

// SizeOf returns the length of the blob of a key and whether there is one. Get may still find it damaged.
func (s *Store) SizeOf(key [sha256.Size]byte) (size int64, ok bool) {
	if s == nil {
		return 0, false
	}
	f, length, _, err := s.openEntry(key)
	if err != nil {
		return 0, false
	}
	f.Close()
	return length, true
}

// Put stores a blob under a key, and removes the least recently used blobs above the limit. A blob
// above the limit itself is not stored. A caller can go on after an error: the store then has the old
// blob or none.
func (s *Store) Put(key [sha256.Size]byte, blob []byte) error {
	size := int64(headerSize + len(blob))
	if s == nil || size > s.limit {
		return nil
	}
	// Clear may take the folder away while it is made or before it is used.
	err := s.put(key, blob)
	for try := 0; try < 5 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)); try++ {
		err = s.put(key, blob)
	}
	if err != nil {
		return fmt.Errorf("cache: %w", err)
	}
	s.added(size)
	return nil
}

func (s *Store) put(key Key, blob []byte) error {
	path := s.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(s.dir, key.String()+"-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(encodeHeader(key, blob))
	if err == nil {
		_, err = f.Write(blob)
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		return nil
	}
	_ = os.Remove(f.Name())
	// Windows does not replace a file that is being read. It is most often the same blob.
	if there, ok := s.Get(key); ok && bytes.Equal(there, blob) {
		return nil
	}
	return err
}

// Usage describes the content of a store.
type Usage struct {
	// Dir is the folder of the store.
	Dir string
	// Entries is the number of entries, and Size the bytes of their files.
	Entries int
	Size    int64
	// Limit is the most that they have.
	Limit int64
	// Oldest is the last use of the least recently used entry, or the zero time.
	Oldest time.Time
}

// Usage returns the usage of the store.
func (s *Store) Usage() (u Usage, err error) {
	if s == nil {
		return u, nil
	}
	u.Dir, u.Limit = s.dir, s.limit
	err = s.each(func(_ string, e fs.DirEntry) error {
		info, err := e.Info()
		if err == nil {
			u.Entries++
			u.Size += info.Size()
			if u.Oldest.IsZero() || info.ModTime().Before(u.Oldest) {
				u.Oldest = info.ModTime()
			}
		}
		return err
	})
	return u, err
}

// Clear removes all entries and temporary files, those of running processes too, which then start
// again. Files and folders that are not the store's own stay. It continues after an error and returns
// the first.
func (s *Store) Clear() error {
	if s == nil {
		return nil
	}
	err := s.each(func(path string, _ fs.DirEntry) error { return os.Remove(path) })
	shards, e := s.shards()
	if err == nil {
		err = e
	}
	for _, dir := range shards {
		_ = os.Remove(dir) // which leaves one that holds anything
	}
	if e := s.removeTemporary(0); err == nil && e != nil {
		err = fmt.Errorf("cache: %w", e)
	}
	return err
}

// each calls visit for each entry's file. It continues after an error and returns the first; a missing
// file is no error.
func (s *Store) each(visit func(path string, e fs.DirEntry) error) error {
	shards, first := s.shards()
	note := func(err error) {
		if err != nil && first == nil && !errors.Is(err, fs.ErrNotExist) {
			first = fmt.Errorf("cache: %w", err)
		}
	}
	for _, dir := range shards {
		entries, err := os.ReadDir(dir)
		note(err)
		for _, e := range entries {
			if e.Type().IsRegular() && entryName.MatchString(e.Name()) && e.Name()[:2] == filepath.Base(dir) {
				note(visit(filepath.Join(dir, e.Name()), e))
			}
		}
	}
	return first
}

// shards returns the folders of entries.
func (s *Store) shards() (dirs []string, err error) {
	all, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cache: %w", err)
	}
	for _, e := range all {
		if e.IsDir() && shardName.MatchString(e.Name()) {
			dirs = append(dirs, filepath.Join(s.dir, e.Name()))
		}
	}
	return dirs, nil
}

// removeTemporary removes temporary files of the given age and above.
func (s *Store) removeTemporary(age time.Duration) error {
	files, err := os.ReadDir(s.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range files {
		if !e.Type().IsRegular() || !tempName.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) >= age {
			// On Windows a file that is being written stays, and another process may have removed it.
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
	return nil
}
