package vectorfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// writeShard writes shard i of n into dir, 2×m.
func writeShard(t *testing.T, dir string, i, n, m int, settings string, single bool) {
	t.Helper()
	c := &Content{Classes: []string{"a", "b"}, Labels: []int{1, -1}, Settings: settings, Single: single}
	x := mat.NewDense(2, m, nil)
	for r := range 2 {
		c.Names = append(c.Names, fmt.Sprintf("sample %d", 2*i+r))
		for j := range m {
			x.Set(r, j, float64(10*(2*i+r)+j)+0.5)
		}
	}
	c.Vectors = x
	if err := Write(t.Context(), filepath.Join(dir, Shard{i, n}.File("rows", ".npz")), c); err != nil {
		t.Fatal(err)
	}
}

// TestOpenShards: shards in memory and on disk, in both precisions, give the same set.
func TestOpenShards(t *testing.T) {
	for _, single := range []bool{false, true} {
		dir := t.TempDir()
		for i := range 3 {
			writeShard(t, dir, i, 3, 4, "", single)
		}
		for _, name := range []string{dir, filepath.Join(dir, "rows-*.npz")} {
			paths, err := Shards(name)
			if err != nil || len(paths) != 3 {
				t.Fatalf("%s: %q, %v", name, paths, err)
			}
			for _, onDisk := range []bool{false, true} {
				c, err := OpenShards(t.Context(), paths, Options{OnDisk: onDisk})
				if err != nil {
					t.Fatal(err)
				}
				if n, m := c.Vectors.Dims(); n != 6 || m != 4 || c.Vectors.At(3, 2) != 32.5 || c.Names[5] != "sample 5" || c.Labels[4] != 1 || c.Labels[5] != -1 || c.Classes[1] != "b" {
					t.Errorf("single %t, on disk %t: %d×%d, %+v", single, onDisk, n, m, c)
				}
				c.Close()
			}
		}
	}
}

func TestShardsRefused(t *testing.T) {
	for want, write := range map[string]func(dir string){
		"rows-00001-of-00003.npz: shard 1/3 is missing": func(dir string) { writeShard(t, dir, 2, 3, 4, "", false); writeShard(t, dir, 0, 3, 4, "", false) },
		"rows-00002-of-00003.npz: shard 2/3 is missing": func(dir string) { writeShard(t, dir, 0, 3, 4, "", false); writeShard(t, dir, 1, 3, 4, "", false) },
		"different sets of shards":                      func(dir string) { writeShard(t, dir, 0, 2, 4, "", false); writeShard(t, dir, 1, 3, 4, "", false) },
		"rows-00001-of-00002.npz: vectors of 5 values":  func(dir string) { writeShard(t, dir, 0, 2, 4, "", false); writeShard(t, dir, 1, 2, 5, "", false) },
		"rows-00001-of-00002.npz: features of the settings y": func(dir string) {
			writeShard(t, dir, 0, 2, 4, "x", false)
			writeShard(t, dir, 1, 2, 4, "y", false)
		},
		`two of the samples have the name "sample 0"`: func(dir string) {
			writeShard(t, dir, 0, 2, 4, "", false)
			if err := os.Link(filepath.Join(dir, "rows-00000-of-00002.npz"), filepath.Join(dir, "rows-00001-of-00002.npz")); err != nil {
				t.Skip(err)
			}
		},
	} {
		dir := t.TempDir()
		write(dir)
		paths, err := Shards(dir)
		if err == nil {
			_, err = OpenShards(t.Context(), paths, Options{OnDisk: true})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, expected %q", err, want)
		}
	}
	for _, text := range []string{"", "1", "3/3", "-1/3", "0/0", "a/b", "0/100000"} {
		if _, err := ParseShard(text); err == nil {
			t.Errorf("%q is a shard", text)
		}
	}
}

// A value that is not finite is found when its row is read.
func TestStoredShardChecksRows(t *testing.T) {
	dir := t.TempDir()
	writeShard(t, dir, 0, 1, 4, "", false)
	path := filepath.Join(dir, "rows-00000-of-00001.npz")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(text), "\x00\x00\x00\x00\x00\x00\xe0\x3f") // 0.5
	copy(text[at:], "\x00\x00\x00\x00\x00\x00\xf0\x7f")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := OpenShards(t.Context(), []string{path}, Options{OnDisk: true})
	if err == nil {
		defer c.Close()
		err = c.Vectors.(*Stored).Read(t.Context(), 0, mat.NewDense(2, 4, nil))
	}
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v", err)
	}
}
