// Package cache stores results on disk: a blob of bytes under a key that is a digest of all inputs of the result.
//
// Entries are verified: one that is damaged, has another version or another key's name counts as missing and is
// removed. Goroutines and processes may share a store. Writes are atomic; the last writer of a key wins. Writes are
// not synced to disk, because damage by a crash of the machine is detected when an entry is read.
package cache

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
)

// DefaultLimit is the limit of a store in bytes, unless PARTWISE_CACHE_SIZE or SetLimit sets another one.
const DefaultLimit = 10_000_000_000

const (
	// keptPart is the percentage of the limit that remains after an eviction.
	keptPart = 90
	// Entries are counted again after 1/scanPart of the limit was written, because other processes also write.
	// stuckPart replaces it while the store exceeds its limit because entries cannot be removed.
	scanPart, stuckPart = 10, 1000
	// touchAfter is the age at which an entry's time of last use is updated.
	touchAfter = time.Hour
)

// The file of an entry is the length of the blob, a CRC-32C of the version of the format, the key and the blob, and the
// blob. The checksum guards against disk faults and crashes, not against tampering.
const version, headerSize = "pwcache\x02", 8 + 4

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func header(key Key, blob []byte) []byte {
	sum := crc32.Update(crc32.Checksum(append([]byte(version), key[:]...), castagnoli), castagnoli, blob)
	return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint64(nil, uint64(len(blob))), sum)
}

// Store is a folder of blobs by key. Goroutines and processes may share it. A nil *Store has
// no blob, and Put stores none.
type Store struct {
	// Failed, if set, is called with the first error of Put. Put then stores nothing more, so that a full disk only makes a
	// run slower.
	Failed func(error)

	dir      string
	limit    int64
	disabled atomic.Bool

	mu   sync.Mutex
	room int64 // bytes that may be written before the entries are counted again
}

// Default returns the default folder: PARTWISE_CACHE, or partwise/cache in the user's cache folder.
func Default() (string, error) { return UserFolder("PARTWISE_CACHE", "partwise", "cache") }

// UserFolder returns the folder in an environment variable, or else a folder in the user's cache folder.
func UserFolder(variable string, elements ...string) (string, error) {
	if dir := os.Getenv(variable); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("%s is not set, and the user cache folder is unknown: %w", variable, err)
	}
	return filepath.Join(append([]string{dir}, elements...)...), nil
}

// Names of a store's files: an entry is in a folder named by the first two digits of its key.
var (
	shardName = lazyregexp.New(`^[0-9a-f]{2}$`)
	entryName = lazyregexp.New(`^[0-9a-f]{64}\.partwise$`)
)

const markerName = "partwise-cache.txt" // marks a folder as a store

const markerText = `This folder is a cache of partwise. All files in it can be removed at any time;
partwise computes them again when needed.
`

// Open opens the store in dir, creates the folder if necessary, and removes temporary files of killed processes. The
// limit is the environment variable PARTWISE_CACHE_SIZE, such as 20GB, or DefaultLimit. It is an error if dir holds
// other files and is not a store.
func Open(dir string) (*Store, error) {
	s := &Store{dir: dir, limit: DefaultLimit}
	const variable = "PARTWISE_CACHE_SIZE"
	if text := os.Getenv(variable); text != "" {
		var err error
		if s.limit, err = bytesize.Parse(text); err != nil {
			return nil, fmt.Errorf("cache: the environment variable %s: %w", variable, err)
		}
	}
	marker := filepath.Join(dir, markerName)
	err := os.MkdirAll(dir, 0o777)
	if _, missing := os.Lstat(marker); err == nil && missing != nil {
		var all []fs.DirEntry
		all, err = os.ReadDir(dir)
		for _, e := range all {
			if e.Name() == markerName { // another process has just written it
				continue
			}
			if !(e.IsDir() && shardName().MatchString(e.Name())) && !atomicfile.IsTemporary(e.Name()) {
				return nil, fmt.Errorf("cache: the folder %s has %s, which is not a cache file; choose an empty or new folder", dir, strconv.Quote(e.Name()))
			}
		}
		if err == nil {
			_ = atomicfile.Write(marker, []byte(markerText)) // a read-only folder can still be used
		}
	}
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	s.removeTemporary()
	return s, nil
}

// SetLimit sets the limit in bytes of all entries with their headers. Call it before the store is used.
func (s *Store) SetLimit(limit int64) {
	s.limit = limit
}

func (s *Store) removeTemporary() {
	for _, dir := range append(s.shards(), s.dir) {
		_ = atomicfile.RemoveStale(dir) // remaining files do no harm
	}
}

func (s *Store) path(key Key) string {
	name := key.String()
	return filepath.Join(s.dir, name[:2], name+".partwise")
}

// Get returns the blob of a key, which the caller owns. It allocates SizeOf bytes plus the header.
func (s *Store) Get(key [sha256.Size]byte) (blob []byte, ok bool) {
	info, ok := s.stat(key)
	if !ok {
		return nil, false
	}
	path := s.path(key)
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, false
	}
	if len(file) < headerSize || !bytes.Equal(file[:headerSize], header(key, file[headerSize:])) {
		// This may also remove a valid entry that another process has just written, which costs only time.
		_ = os.Remove(path)
		return nil, false
	}
	// The modification time is the time of last use. A time in the future comes from a wrong clock.
	if now := time.Now(); now.Sub(info.ModTime()).Abs() > touchAfter {
		_ = os.Chtimes(path, now, now) // without it the entry is evicted earlier
	}
	return file[headerSize:], true
}

// stat describes the file of an entry. Opening a pipe would block, and Put stores nothing above the limit.
func (s *Store) stat(key Key) (info fs.FileInfo, ok bool) {
	if s == nil {
		return nil, false
	}
	info, err := os.Lstat(s.path(key))
	return info, err == nil && info.Mode().IsRegular() && info.Size() <= s.limit
}

// SizeOf returns the length of the blob of a key and whether it exists in this length. Get may still find it damaged.
func (s *Store) SizeOf(key [sha256.Size]byte) (size int64, ok bool) {
	info, ok := s.stat(key)
	if !ok {
		return 0, false
	}
	f, err := os.Open(s.path(key))
	if err != nil {
		return 0, false
	}
	defer f.Close()
	err = binary.Read(f, binary.LittleEndian, &size)
	return size, err == nil && size == info.Size()-headerSize
}

// Put stores a blob under a key and evicts the least recently used blobs above the limit. It does not store a blob that
// exceeds the limit. After an error the store has the old blob or none.
func (s *Store) Put(key [sha256.Size]byte, blob []byte) {
	if s == nil || s.disabled.Load() {
		return
	}
	if err := s.put(key, blob); err != nil && s.disabled.CompareAndSwap(false, true) && s.Failed != nil {
		s.Failed(err)
	}
}

func (s *Store) put(key Key, blob []byte) error {
	size := int64(headerSize + len(blob))
	if size > s.limit {
		return nil
	}
	// Clear may remove the folder concurrently, so try again.
	err := s.write(key, blob)
	for try := 0; try < 5 && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist)); try++ {
		err = s.write(key, blob)
	}
	if err != nil {
		// Windows cannot replace a file that is being read. It usually holds the same blob.
		if there, ok := s.Get(key); ok && bytes.Equal(there, blob) {
			return nil
		}
		return fmt.Errorf("cache: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.room -= size; s.room < 0 {
		s.room = min(max(s.limit-s.evict(), s.limit/stuckPart), s.limit/scanPart)
	}
	return nil
}

func (s *Store) write(key Key, blob []byte) error {
	path := s.path(key)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return atomicfile.Writer{Unsynced: true}.Write(path, func(w io.Writer) error {
		_, err1 := w.Write(header(key, blob))
		_, err2 := w.Write(blob)
		return errors.Join(err1, err2)
	})
}

// evict removes the least recently used entries above the limit and returns the remaining bytes.
func (s *Store) evict() (left int64) {
	all, _ := s.entries() // entries that cannot be listed cannot be removed either
	for _, e := range all {
		left += e.Size()
	}
	if left <= s.limit {
		return left
	}
	slices.SortFunc(all, func(a, b entry) int { return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.path, b.path)) })
	for _, e := range all {
		if left <= s.limit/100*keptPart {
			break
		}
		if err := os.Remove(e.path); err == nil || errors.Is(err, fs.ErrNotExist) {
			left -= e.Size()
		}
	}
	return left
}

// Usage describes the content of the store in the folder Dir.
type Usage struct {
	Dir         string
	Entries     int
	Size, Limit int64     // size of all entries in bytes, and its limit
	Oldest      time.Time // earliest time of last use of an entry, or the zero time
}

// Usage returns the usage of the store.
func (s *Store) Usage() (u Usage, err error) {
	u.Dir, u.Limit = s.dir, s.limit
	all, err := s.entries()
	for _, e := range all {
		u.Entries++
		u.Size += e.Size()
		if u.Oldest.IsZero() || e.ModTime().Before(u.Oldest) {
			u.Oldest = e.ModTime()
		}
	}
	return u, err
}

// Clear removes all entries and temporary files. It continues after an error and returns the first.
func (s *Store) Clear() error {
	all, err := s.entries()
	for _, e := range all {
		if gone := os.Remove(e.path); err == nil && gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = fmt.Errorf("cache: %w", gone)
		}
	}
	s.removeTemporary()
	for _, dir := range s.shards() {
		_ = os.Remove(dir) // fails if the folder is not empty
	}
	return err
}

// entry is the file of an entry. Its modification time is the time of last use.
type entry struct {
	path string
	fs.FileInfo
}

// entries returns all entries. It continues after an error and returns the first. A missing file is not an error.
func (s *Store) entries() (all []entry, first error) {
	note := func(err error) {
		if err != nil && first == nil && !errors.Is(err, fs.ErrNotExist) {
			first = fmt.Errorf("cache: %w", err)
		}
	}
	for _, dir := range s.shards() {
		files, err := os.ReadDir(dir)
		note(err)
		for _, e := range files {
			if e.Type().IsRegular() && entryName().MatchString(e.Name()) && e.Name()[:2] == filepath.Base(dir) {
				info, err := e.Info()
				note(err)
				if err == nil {
					all = append(all, entry{filepath.Join(dir, e.Name()), info})
				}
			}
		}
	}
	return all, first
}

func (s *Store) shards() (dirs []string) {
	all, _ := os.ReadDir(s.dir) // an unreadable store counts as empty
	for _, e := range all {
		if e.IsDir() && shardName().MatchString(e.Name()) {
			dirs = append(dirs, filepath.Join(s.dir, e.Name()))
		}
	}
	return dirs
}

// Key is the SHA-256 sum of the inputs of an entry.
type Key [sha256.Size]byte

const keyFormat = "partwise key 1" // must change when the digest of parts changes

// NewKey returns the key for a kind of blob and its inputs. It digests the order, types and values of the parts: byte
// slices and keys directly, other values as formatted by %#v. Parts must not contain pointers, whose values differ
// between runs.
func NewKey(kind string, parts ...any) Key {
	h := sha256.New()
	// Every part is preceded by its kind and length.
	put := func(what byte, part []byte) {
		h.Write(binary.LittleEndian.AppendUint64([]byte{what}, uint64(len(part))))
		h.Write(part)
	}
	put('f', []byte(keyFormat))
	put('k', []byte(kind))
	for _, part := range parts {
		switch p := part.(type) {
		case []byte:
			put('b', p)
		case []Key:
			var all []byte
			for _, key := range p {
				all = append(all, key[:]...)
			}
			put('l', all)
		default:
			put('v', fmt.Appendf(nil, "%T %#[1]v", p))
		}
	}
	return Key(h.Sum(nil))
}

// String returns the key as 64 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }
