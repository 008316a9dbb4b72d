package cache

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

func open(t testing.TB, dir string) *Store {
	t.Helper()
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Store, key Key, blob []byte) {
	t.Helper()
	if err := s.put(key, blob); err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}

// blobOf returns the blob for key i of every test.
func blobOf(i int) []byte {
	return bytes.Repeat(binary.LittleEndian.AppendUint32(nil, uint32(i)), i%5000)
}

func checkSize(t *testing.T, s *Store, entries, size int) {
	t.Helper()
	got, err := s.Usage()
	if err != nil || got.Entries != entries || got.Size != int64(size) {
		t.Errorf("%d entries of %d bytes, %v; want %d of %d", got.Entries, got.Size, err, entries, size)
	}
}

// files lists all files and folders below dir except the marker.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if path != dir && filepath.Base(path) != markerName {
			all = append(all, filepath.ToSlash(strings.TrimPrefix(path, dir+string(filepath.Separator))))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestStore(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "there")
	s := open(t, dir)
	checkSize(t, s, 0, 0)
	const n = 100
	size := 0
	for i := range n {
		key := NewKey("test", i)
		if _, ok := s.Get(key); ok {
			t.Fatalf("blob %d is there before it is put", i)
		}
		put(t, s, key, []byte("an older one"))
		put(t, s, key, blobOf(i))
		size += headerSize + len(blobOf(i))
	}
	again := open(t, dir)
	for i := range n {
		got, ok := again.Get(NewKey("test", i))
		if !ok || !bytes.Equal(got, blobOf(i)) {
			t.Errorf("blob %d: %d bytes, %v", i, len(got), ok)
		}
	}
	checkSize(t, again, n, size)
	for _, name := range files(t, dir) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
	if err := again.Clear(); err != nil {
		t.Fatal(err)
	}
	checkSize(t, s, 0, 0)
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("cleared, it still has %v", left)
	}
	if _, ok := s.Get(NewKey("test", 1)); ok {
		t.Error("a blob is there after all were removed")
	}
	put(t, s, NewKey("test", 1), blobOf(1))
	checkSize(t, s, 1, headerSize+len(blobOf(1)))
}

// A removed folder is created again.
func TestStoreFolderGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	s := open(t, dir)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	checkSize(t, s, 0, 0)
	if _, ok := s.Get(Key{}); ok {
		t.Error("a blob is in no folder")
	}
	if err := s.Clear(); err != nil {
		t.Error(err)
	}
	put(t, s, Key{}, []byte("x"))
	checkSize(t, s, 1, headerSize+1)
}

func TestNilStore(t *testing.T) {
	var s *Store
	s.Put(Key{}, []byte("x"))
	if _, ok := s.Get(Key{}); ok {
		t.Error("no store has a blob")
	}
}

// Every damaged entry is a miss, and is removed.
func TestDamage(t *testing.T) {
	s := open(t, t.TempDir())
	key := NewKey("test", "damage")
	path := s.path(key)
	put(t, s, key, []byte("0123456789"))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, content []byte) {
		t.Helper()
		write(t, path, content)
		if blob, ok := s.Get(key); ok {
			t.Errorf("%s: it passes for %q", what, blob)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s: the file is still there", what)
		}
	}
	for at := range whole {
		for bit := range 8 {
			bad := bytes.Clone(whole)
			bad[at] ^= 1 << bit
			refused(fmt.Sprintf("bit %d of byte %d", bit, at), bad)
		}
		for _, b := range []byte{0, 0xff} {
			bad := bytes.Clone(whole)
			bad[at] = b
			if !bytes.Equal(bad, whole) {
				refused(fmt.Sprintf("byte %d is %d", at, b), bad)
			}
		}
		write(t, path, whole[:at])
		if size, ok := s.SizeOf(key); ok {
			t.Errorf("cut at byte %d: %d bytes", at, size)
		}
		refused(fmt.Sprintf("cut at byte %d", at), whole[:at])
		refused(fmt.Sprintf("zeros from byte %d", at), append(bytes.Clone(whole[:at]), make([]byte, len(whole)-at+1)...))
	}
	sum := crc32.Checksum(append([]byte("pwcache\x01"), append(key[:], "0123456789"...)...), castagnoli)
	refused("another version", append(binary.LittleEndian.AppendUint32(bytes.Clone(whole[:8]), sum), "0123456789"...))
	refused("a byte more", append(bytes.Clone(whole), 0))
	refused("twice", append(bytes.Clone(whole), whole...))

	other := NewKey("test", "another")
	put(t, s, other, []byte("0123456789"))
	theirs, err := os.ReadFile(s.path(other))
	if err != nil {
		t.Fatal(err)
	}
	refused("of another key", theirs)

	put(t, s, key, []byte("new"))
	if blob, ok := s.Get(key); !ok || string(blob) != "new" {
		t.Errorf("put again: %q, %v", blob, ok)
	}
}

// An entry above the limit is a miss, and its memory is not allocated.
func TestLongEntry(t *testing.T) {
	s := open(t, t.TempDir())
	s.SetLimit(1 << 20)
	key := NewKey("long")
	put(t, s, key, []byte("0123456789"))
	if err := os.Truncate(s.path(key), 1<<40); err != nil {
		t.Skip(err)
	}
	if size, ok := s.SizeOf(key); ok {
		t.Errorf("%d bytes", size)
	}
	if blob, ok := s.Get(key); ok {
		t.Errorf("it passes for %d bytes", len(blob))
	}
}

// FuzzGet checks that every file that Get accepts is a file that Put would write.
func FuzzGet(f *testing.F) {
	key := NewKey("fuzz")
	blob := []byte("a blob")
	f.Add(append(header(key, blob), blob...))
	f.Add(header(key, nil))
	f.Add(append(header(NewKey("other"), blob), blob...))
	f.Add([]byte(version))
	s := open(f, f.TempDir())
	f.Fuzz(func(t *testing.T, file []byte) {
		write(t, s.path(key), file)
		blob, ok := s.Get(key)
		if ok && !bytes.Equal(file, append(header(key, blob), blob...)) {
			t.Errorf("%q passes for %q", file, blob)
		}
		if _, err := os.Stat(s.path(key)); (err == nil) != ok {
			t.Errorf("a hit: %v, and afterwards the file: %v", ok, err)
		}
	})
}

// TestStrangers checks that the store does not remove other files.
func TestStrangers(t *testing.T) {
	dir := t.TempDir()
	open(t, dir) // which marks the folder as a cache
	name := NewKey("test").String()
	strangers := []string{
		"thesis.tex", "photos/1.png", name + ".partwise", "orl/" + name + ".partwise",
		name[:2] + "/notes", name[:2] + "/" + name, name[:2] + "/" + strings.ToUpper(name) + ".partwise",
		name[:2] + "/" + name[1:] + ".partwise", "00/" + name + ".partwise",
		"x" + name + "-1.tmp", name + "-x.tmp", name[:2] + "/" + name + "-1.tmp",
	}
	for _, f := range strangers {
		write(t, filepath.Join(dir, f), []byte("mine"))
		if err := os.Chtimes(filepath.Join(dir, f), time.Time{}, time.Now().Add(-1000*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{"empty", "ff/" + strings.Repeat("f", 64) + ".partwise"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	want := files(t, dir)
	s := open(t, dir)
	put(t, s, NewKey("test"), nil)
	put(t, s, NewKey("test", 2), nil)
	checkSize(t, s, 2, 2*headerSize)
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, files(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestLeftovers(t *testing.T) {
	dir := t.TempDir()
	open(t, dir)
	stale := filepath.Join(dir, "00", atomicfile.NewName(".tmp"))
	write(t, stale, []byte("half"))
	s := open(t, dir)
	if got := files(t, dir); len(got) != 1 { // the folder
		t.Errorf("opening left %v", got)
	}
	checkSize(t, s, 0, 0)
	write(t, stale, []byte("half"))
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if got := files(t, dir); len(got) != 0 {
		t.Errorf("clearing left %v", got)
	}
}

func TestStoreRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	write(t, file, nil)
	if _, err := Open(file); err == nil || !strings.Contains(err.Error(), file) {
		t.Errorf("a file opened as a store: %v", err)
	}
	s := open(t, filepath.Join(dir, "cache"))
	key := NewKey("test")
	write(t, filepath.Dir(s.path(key)), nil) // instead of the folder
	if err := s.put(key, []byte("x")); err == nil || !strings.Contains(err.Error(), "cache: ") {
		t.Errorf("put where no folder can be made: %v", err)
	}
	if _, ok := s.Get(key); ok {
		t.Error("Get finds an entry after Put failed")
	}
	key = NewKey("another")
	if err := os.MkdirAll(filepath.Join(s.path(key), "x"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := s.put(key, []byte("x")); err == nil {
		t.Error("Put replaced a folder")
	}
	for _, name := range files(t, s.dir) {
		if strings.HasSuffix(name, ".tmp") {
			t.Errorf("%s is left", name)
		}
	}
}

// use puts, gets, damages and clears the entries of a few keys at random. Each blob that it gets must be right.
func use(dir string, seed uint64) error {
	s, err := Open(dir)
	if err != nil {
		return err
	}
	s.SetLimit(40_000) // all entries have at most 80 kB
	r := rand.New(rand.NewPCG(seed, 0))
	for range 400 {
		i := r.IntN(20)
		key := NewKey("shared", i)
		switch at := r.IntN(100); {
		case at == 0:
			err = s.Clear()
		case at == 1:
			_, err = s.Usage()
		case at == 2:
			_ = os.WriteFile(s.path(key), []byte(version), 0o666) // as a bad disk does
		case at < 50:
			err = s.put(key, blobOf(1000+i))
		default:
			if blob, ok := s.Get(key); ok && !bytes.Equal(blob, blobOf(1000+i)) {
				err = fmt.Errorf("blob %d: Get returns another blob than Put stored", i)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sharedVariable names the folder for a process that TestShared starts.
const sharedVariable = "PARTWISE_TEST_CACHE"

func TestShared(t *testing.T) {
	if dir := os.Getenv(sharedVariable); dir != "" {
		if err := use(dir, uint64(os.Getpid())); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			if err := use(dir, uint64(i)); err != nil {
				t.Error(err)
			}
		})
		if i%2 == 0 {
			continue
		}
		all.Go(func() {
			cmd := exec.CommandContext(t.Context(), exe, "-test.run=^TestShared$")
			cmd.Env = append(os.Environ(), sharedVariable+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("another process: %v\n%s", err, out)
			}
		})
	}
	all.Wait()
	s := open(t, dir)
	if err := s.Clear(); err != nil {
		t.Fatal(err)
	}
	if left := files(t, dir); len(left) > 0 {
		t.Errorf("cleared, it still has %v", left)
	}
}

func TestDefault(t *testing.T) {
	t.Setenv("PARTWISE_CACHE", "here")
	if dir, err := Default(); err != nil || dir != "here" {
		t.Errorf("got %q, %v", dir, err)
	}
	t.Setenv("PARTWISE_CACHE", "")
	user, err := os.UserCacheDir()
	if err != nil {
		t.Skip(err)
	}
	if dir, err := Default(); err != nil || dir != filepath.Join(user, "partwise", "cache") {
		t.Errorf("got %q, %v", dir, err)
	}
}

func BenchmarkGet(b *testing.B) {
	for _, size := range []int{20e3, 200e3} {
		s := open(b, b.TempDir())
		put(b, s, Key{}, make([]byte, size))
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(size))
			for b.Loop() {
				if _, ok := s.Get(Key{}); !ok {
					b.Fatal("the blob is not there")
				}
			}
		})
	}
}
