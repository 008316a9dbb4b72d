package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// noise is a JPEG file of which every part takes about as many bytes.
func noise(t *testing.T) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	img := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range img.Pix {
		img.Pix[i] = uint8(rng.Uint32())
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, nil); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

// TestSkipped: what cannot be used is skipped, counted by kind in one line and listed beside the output, where that is
// read from the cache too; with --strict the first is an error; where nothing can be used, that is one.
func TestSkipped(t *testing.T) {
	workplace(t)
	must(t, groupPhotos("groups")...)
	must(t, "fit", "photos", "--rank", "2", "--iterations", "1", "--features", "pixels=4", "--out", "m.npz")
	whole := noise(t)
	write(t, "photos/whole.jpg", whole)
	write(t, "photos/cut.jpg", whole[:len(whole)*3/4])
	for i := range 30 {
		place(t, fmt.Sprintf("photos/phone/%d.heic", i), "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic")
	}
	place(t, "photos/phone/short.jpg", whole[:len(whole)/3])
	place(t, "photos/phone/=text.png", "no picture")
	bad := [][]string{{"phone/=text.png", "not an image"}, {"phone/short.jpg", "truncated"}, {"cut.jpg", "truncated, used as far as it goes"}}
	want := "skipped 32 of 106 files: 30 HEIC images (not supported), 1 not an image, 1 truncated; used 1 truncated JPEG file as far as it goes"
	if os.Symlink("..", "photos/phone/round") == nil {
		bad = append(bad, []string{"phone/round", "link to a folder that it lies in"})
		want = "skipped 33 of 107 files: 30 HEIC images (not supported), 1 link to a folder that it lies in, 1 not an image, 1 truncated; used 1 truncated JPEG file as far as it goes"
	}
	for line, list := range map[string]string{
		"cluster photos -k 3 --features pixels=4 --out found":             "found/skipped.csv",
		"cluster photos -k 3 --features network --out network":            "network/skipped.csv",
		"cluster photos -k 3 --features hog+colour --out both":            "both/skipped.csv",
		"cluster photos -k 3 --features sift,words=9 --out words":         "words/skipped.csv",
		"cluster photos -k 3 --features pixels=4 --batch 20 --out blocks": "blocks/skipped.csv",
		"features photos --features pixels=4 --out f.csv":                 "f.csv.skipped.csv",
		"fit photos --rank 2 --features pixels=4 --out f.npz":             "f.npz.skipped.csv",
		"apply m.npz photos --out a.npz":                                  "a.npz.skipped.csv",
		"assign groups photos --out a.csv":                                "a.csv.skipped.csv",
		"assign groups photos":                                            "",
	} {
		args := strings.Fields(line)
		for range 2 { // the second time from the cache
			code, out, stderr := partwise(args...)
			told := want
			if list != "" {
				told += "; see " + filepath.FromSlash(list)
			}
			if code != exitDone || strings.Count(stderr, told+"\n") != 1 || strings.Contains(stderr, ".heic") {
				t.Errorf("partwise %s: exit code %d, printed %q, said %q, want %q", line, code, out, stderr, told)
			}
			if list == "" {
				continue
			}
			rows, err := csv.NewReader(strings.NewReader(read(t, list))).ReadAll()
			if err != nil || len(rows) != 1+30+len(bad) || strings.Join(rows[0], " ") != "file kind reason" {
				t.Errorf("%s: %d rows, %v", list, len(rows), err)
			}
			for _, b := range bad {
				if !slices.ContainsFunc(rows, func(row []string) bool {
					return strings.TrimPrefix(row[0], "'") == b[0] && row[1] == b[1] && row[2] != ""
				}) {
					t.Errorf("%s has no %q:\n%s", list, b, read(t, list))
				}
			}
			if !strings.HasPrefix(line, "cluster") && !slices.Contains(args, "--force") {
				refused(t, "is there already; --force replaces it", args...)
				args = append(args, "--force")
			}
		}
		before := contents(t, "groups")
		if code, _, stderr := partwise(append(slices.Clone(args), "--strict")...); code != exitFailed || strings.Contains(stderr, "skipped") {
			t.Errorf("partwise %s --strict: exit code %d, said %q", line, code, stderr)
		}
		same(t, line, "groups", before)
	}
	// The list of an earlier time does not stand beside an output that lacks nothing, and is replaced by nobody unasked.
	if err := os.Rename("photos/phone", "phone"); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove("photos/cut.jpg"); err != nil {
		t.Fatal(err)
	}
	must(t, strings.Fields("features photos --features pixels=4 --out f.csv --force")...)
	if text := read(t, "f.csv.skipped.csv"); text != "file,kind,reason\n" {
		t.Errorf("the list is %q", text)
	}
	if err := os.Remove("f.csv"); err != nil {
		t.Fatal(err)
	}
	refused(t, "f.csv.skipped.csv is there already", strings.Fields("features photos --features pixels=4 --out f.csv")...)
	must(t, strings.Fields("cluster photos -k 3 --features pixels=4 --out found")...)
	if _, err := os.Stat("found/skipped.csv"); err == nil {
		t.Error("the list of an earlier time stays")
	}
	if err := os.RemoveAll("phone/round"); err != nil {
		t.Fatal(err)
	}
	refused(t, "none of the 32 samples of phone can be used (30 HEIC images (not supported), 1 not an image, 1 truncated); the first: ", strings.Fields("cluster phone -k 2 --features pixels=4 --out none")...)
	if _, err := os.Stat("none"); err == nil {
		t.Error("results of nothing")
	}
}

// TestSortSkips: pictures that were grouped beside a link that leads round in a circle are sorted.
func TestSortSkips(t *testing.T) {
	workplace(t)
	if err := os.Mkdir("photos/in", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("..", "photos/in/round"); err != nil {
		t.Skip(err)
	}
	if code, _, stderr := partwise(groupPhotos("groups")...); code != exitDone {
		t.Fatal(stderr)
	}
	must(t, "sort", "groups", "--to", "sorted", "--copy")
}
