package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pictures"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// spots returns an image of 160×120 pixels with coloured discs, different for each seed.
func spots(seed uint64) *image.RGBA {
	src := rand.New(rand.NewPCG(seed, 1))
	img := image.NewRGBA(image.Rect(0, 0, 160, 120))
	for p := range 160 * 120 {
		img.SetRGBA(p%160, p/160, color.RGBA{120, 130, 140, 255})
	}
	for n := range 150 {
		r, x, y := 40/(1+float64(n)/10), 160*src.Float64(), 120*src.Float64()
		c := color.RGBA{uint8(src.IntN(256)), uint8(src.IntN(256)), uint8(src.IntN(256)), 255}
		for v := max(int(y-r), 0); v < min(int(y+r), 120); v++ {
			for u := max(int(x-r), 0); u < min(int(x+r), 160); u++ {
				if math.Hypot(float64(u)-x, float64(v)-y) < r {
					img.SetRGBA(u, v, c)
				}
			}
		}
	}
	return img
}

// album writes a folder of 12 images and three copies: 12.png has the bytes and 13.png the pixels of 00.png, 14.png is
// darker and 15.png grey.
func album(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	name := func(i int) string {
		return filepath.Join(dir, string([]byte{'0' + byte(i/10), '0' + byte(i%10)})+".png")
	}
	for i := range 12 {
		writePNG(t, name(i), spots(uint64(i)))
	}
	first, err := os.ReadFile(name(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name(12), first, 0o666); err != nil {
		t.Fatal(err)
	}
	of := spots(0)
	darker := image.NewRGBA(of.Rect)
	for p := range 160 * 120 {
		c := of.RGBAAt(p%160, p/160)
		darker.SetRGBA(p%160, p/160, color.RGBA{c.R / 4 * 3, c.G / 4 * 3, c.B / 4 * 3, 255})
	}
	writePNG(t, name(13), of)
	if err := os.WriteFile(name(13), append(mustRead(t, name(13)), 0), 0o666); err != nil { // one byte after the end
		t.Fatal(err)
	}
	writePNG(t, name(14), darker)
	grey := image.NewRGBA(of.Rect)
	for i := range grey.Pix {
		grey.Pix[i] = []uint8{70, 71, 72, 255}[i%4]
	}
	writePNG(t, name(15), grey)
	return dir
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// All kinds of copies are found, also if features, looks and thumbnails come from the cache; thumbnails are then equal.
func TestPictures(t *testing.T) {
	testkit.Slow(t)
	set, folder := album(t), t.TempDir()
	var before [][]byte
	for at, text := range []string{"{pixels: 16, colour: true}", "{pixels: 8}", "{pixels: 16, colour: true}"} {
		in := prepare(t, "{name: x, methods: [nmf], features: "+text+"}", set, input.PrepareOptions{Cache: open(t, folder), Pictures: true})
		compared := false
		p, err := in.Pictures(t.Context(), func(string, int, int) { compared = true })
		if err != nil {
			t.Fatal(err)
		}
		if compared == (at == 2) {
			t.Errorf("run %d: compared %v", at, compared)
		}
		want := []int{13, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 13, 13} // 13.png is the largest file
		near := slices.Repeat([]bool{false}, 15)
		near[14] = true
		if len(p.CopyOf) < 15 || !slices.Equal(p.CopyOf[:15], want) || !slices.Equal(p.Near[:15], near) {
			t.Errorf("%s: copies of %v, near %v", text, p.CopyOf, p.Near)
		}
		if len(p.Remark) == 16 && p.Remark[15] != pictures.Blank || p.Remark[0] != "" {
			t.Errorf("%s: remarks %q", text, p.Remark)
		}
		var all [][]byte
		for i := range 15 {
			small, err := in.Thumbnail(t.Context(), i)
			if err != nil || small.Bounds().Size() != image.Pt(160, 120) {
				t.Fatalf("thumbnail %d: %v, %v", i, small, err)
			}
			all = append(all, small.(*image.YCbCr).Y)
		}
		if before != nil && !slices.EqualFunc(all, before, bytes.Equal) {
			t.Errorf("%s: other thumbnails than before", text)
		}
		before = all
	}
	// Everything comes from the cache.
	in := prepare(t, "{name: x, methods: [nmf], features: {pixels: 8}}", set, input.PrepareOptions{Cache: open(t, folder), Pictures: true})
	if err := os.Remove(in.Set.Files[in.Rows[3]]); err != nil {
		t.Fatal(err)
	}
	if _, err := in.Thumbnail(t.Context(), 3); err != nil {
		t.Errorf("the thumbnail of the cache: %v", err)
	}
	// Vectors are not pictures.
	in = labelledSet(t, map[int]string{1: "a"})
	if p, err := in.Pictures(t.Context(), nil); p != nil || err != nil {
		t.Errorf("of vectors: %v, %v", p, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	in = prepare(t, "{name: x, methods: [nmf], features: {pixels: 8}}", photograph(t, 2), input.PrepareOptions{Pictures: true})
	if _, err := in.Pictures(ctx, nil); err == nil {
		t.Error("no error of a context that ended")
	}
}

// TestOriginals: the original of a stack is the largest picture, then the largest file, the oldest, and the shortest
// name, at any position.
func TestOriginals(t *testing.T) {
	dir := t.TempDir()
	whole := spots(1)
	file := func(name string, img image.Image, quality, day int) {
		t.Helper()
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		when := time.Date(2020, 1, day, 0, 0, 0, 0, time.UTC)
		if err := os.Chtimes(path, when, when); err != nil {
			t.Fatal(err)
		}
	}
	file("a.jpg", features.Thumbnail(whole, 120), 100, 1) // 120×90
	file("b.jpg", whole, 60, 1)
	file("c.jpg", whole, 95, 9)
	file("d, of the same day.jpg", whole, 95, 5)
	file("e.jpg", whole, 95, 5)
	file("f.jpg", spots(2), 95, 1)
	in := prepare(t, "{name: x, methods: [nmf], features: {pixels: 16, colour: true}}", dir, input.PrepareOptions{Pictures: true})
	p, err := in.Pictures(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{4, 4, 4, 4, 4, 5}; !slices.Equal(p.CopyOf, want) {
		t.Errorf("copies of %v, want %v", p.CopyOf, want)
	}
	// Copies follow it, although it comes after them.
	g, err := grouping.Groups{K: 2, Method: spec.Method{Name: spec.KMeans}, Copies: p.CopyOf}.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if g.Groups[i] != g.Groups[4] || g.Groups[i] == g.Groups[5] {
			t.Errorf("groups %v", g.Groups)
			break
		}
	}
}

// TestCopiesFollow checks that copies share a group with their original and do not affect the groups of other images.
func TestCopiesFollow(t *testing.T) {
	in := labelledSet(t, map[int]string{1: "a"})
	n := len(in.Rows)
	alone := grouping.Groups{K: 3, Method: spec.Method{Name: spec.KMeans}, Seed: 1}
	want, err := alone.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	// Each third sample has 20 copies at the end.
	rows, copies := matrix.AllRows(in.X), matrix.AllRows(in.X)
	for i := range n {
		for range 20 * ((i + 1) % 3 / 2) {
			rows, copies = append(rows, i), append(copies, i)
		}
	}
	many := in.Subset(rows)
	g := alone
	g.Copies = copies
	got, err := g.Find(t.Context(), many, nil)
	if err != nil {
		t.Fatal(err)
	}
	together := map[[2]int]bool{}
	for i, group := range want.Groups {
		together[[2]int{group, got.Groups[i]}] = true
	}
	if len(together) != 3 {
		t.Errorf("groups %v with copies, and %v without", got.Groups[:n], want.Groups)
	}
	for i, c := range copies {
		if got.Groups[i] != got.Groups[c] {
			t.Errorf("row %d is in group %d, want its original's group %d", i, got.Groups[i], got.Groups[c])
		}
	}
	if len(got.Memberships) != len(rows) {
		t.Errorf("%d memberships of %d", len(got.Memberships), len(rows))
	}
}

// A label of a copy labels the original, and copies with different labels are separated.
func TestCopiesLabelled(t *testing.T) {
	in := labelledSet(t, map[int]string{1: "a", 12: "b", 20: "b", 30: "c"})
	copies := matrix.AllRows(in.X)
	copies[19] = 5  // labelled b, as is sample 11
	copies[29] = 11 // labelled c, and the original b
	g := grouping.Groups{K: 3, Method: spec.Method{Name: "constrained-kmeans"}, UseLabels: true, Copies: copies, Seed: 1}
	found, err := g.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found.Groups[5] != found.Groups[19] || found.Groups[5] != found.Groups[11] || found.Groups[29] == found.Groups[11] || found.Groups[0] == found.Groups[5] {
		t.Errorf("groups %v", found.Groups)
	}
	if len(found.Notes) != 1 || !strings.HasPrefix(found.Notes[0], "copies with different labels or links are treated as different images (1 stack of copies)") {
		t.Errorf("notes %q", found.Notes)
	}
	var named []string
	for _, class := range found.GroupClasses {
		named = append(named, in.Set.Classes[class])
	}
	slices.Sort(named)
	if diff := cmp.Diff([]string{"a", "b", "c"}, named); diff != "" {
		t.Error(diff)
	}
	// Links separate copies too, also through must-links.
	g = grouping.Groups{K: 3, Method: spec.Method{Name: "constrained-kmeans"}, Copies: matrix.AllRows(in.X), Links: datasets.Links{Must: [][2]int{{3, 8}}, Cannot: [][2]int{{8, 20}}}, Seed: 1}
	g.Copies[20], g.Copies[25] = 3, 3
	found, err = g.Find(t.Context(), in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if found.Groups[3] != found.Groups[8] || found.Groups[8] == found.Groups[20] || len(found.Notes) != 1 {
		t.Errorf("groups %v, notes %q", found.Groups, found.Notes)
	}
}

// A thumbnail shows the image from which a row was computed: a changed file is an error.
func TestThumbnail(t *testing.T) {
	set := photograph(t, 3)
	large := image.NewGray(image.Rect(0, 0, 640, 200))
	for p := range large.Pix {
		large.Pix[p] = uint8(p)
	}
	writePNG(t, set+"/across/00.png", large)
	in := prepare(t, "{name: x, methods: [nmf], features: {hog: true}}", set, input.PrepareOptions{})
	for i, row := range in.Rows {
		want := image.Pt(80, 70)
		if strings.HasSuffix(in.Set.Names[row], "across/00.png") {
			want = image.Pt(pictures.ThumbnailSide, 50)
		}
		small, err := in.Thumbnail(t.Context(), i)
		if err != nil || small.Bounds().Size() != want {
			t.Errorf("%s: %v, %v, want %v", in.Set.Names[row], small, err, want)
		}
	}
	path := in.Set.Files[in.Rows[1]]
	writePNG(t, path, image.NewGray(image.Rect(0, 0, 80, 70)))
	if _, err := in.Thumbnail(t.Context(), 1); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want an error that names the changed file", err)
	}
}

// labelledSet returns 35 samples of three classes, and inputs with the given labels, by sample numbers from 1.
func labelledSet(t *testing.T, classes map[int]string) *input.Inputs {
	t.Helper()
	var text strings.Builder
	for row, class := range classes {
		fmt.Fprintf(&text, "%d,%s\n", row, class)
	}
	labels := filepath.Join(t.TempDir(), "labels.csv")
	if err := os.WriteFile(labels, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	in, err := input.Prepare(t.Context(), &spec.Experiment{Data: spec.Data{Set: testkit.CSV(t, 5, 20, 10), OpenOptions: datasets.OpenOptions{Labels: labels}}}, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return in
}
