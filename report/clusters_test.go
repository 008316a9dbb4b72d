package report

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/seed4492f2cd/partwise/report/figure"
	"gonum.org/v1/gonum/mat"
)

// colourBlobs is a basis of k times three soft spots, a red, a green and a blue
// one.
func colourBlobs(k int) *mat.Dense {
	spots := blobs(3 * k)
	basis := mat.NewDense(3*256, k, nil)
	for plane := range 3 {
		basis.Slice(plane*256, (plane+1)*256, 0, k).(*mat.Dense).Copy(spots.Slice(0, 256, plane*k, (plane+1)*k))
	}
	return basis
}

// fakeClusters is a grouping of n pictures into two groups, with most classes
// known and one picture in the wrong group.
func fakeClusters(n int) Clusters {
	c := Clusters{
		Name: "Holiday & more", Command: "partwise cluster holiday --groups 2",
		Method: "nmf", Settings: [][2]string{{"groups", "2"}},
		Classes: []string{"beach", "<tower>"},
		Scores:  map[string]float64{"NMI": 0.5, "AC": 0.75},
		Basis:   &Basis{Method: "nmf", Vectors: colourBlobs(4), Height: 16, Width: 16, Channels: 3},
		Image:   func(i int) (image.Image, error) { return plain(20+i, 20, red), nil },
	}
	for i := range n {
		c.Names = append(c.Names, fmt.Sprintf("IMG_%04d.jpg", i))
		c.Groups = append(c.Groups, i%2)
		label := i % 2
		if i%5 == 4 {
			label = -1
		}
		c.Labels = append(c.Labels, label)
	}
	c.Labels[0] = 1
	return c
}

func TestWriteClusters(t *testing.T) {
	dir := t.TempDir()
	c := fakeClusters(12)
	if err := WriteClusters(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	golden(t, "clusters.html", files["index.html"])
	sources(t, files)
	for _, name := range []string{"groups/1.png", "groups/2.png", "bases/nmf.png"} {
		if _, ok := files[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	// Picture 0 has another class than its group, picture 2 the same, and of
	// picture 4 it is not known.
	f, err := os.Open(filepath.Join(dir, "groups", "1.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sheet, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []any{missColour, hitColour, nil} {
		const step = figure.SheetBox + 2*3 + 10 // with its frame and the gap
		found := map[any]bool{}
		for y := range sheet.Bounds().Dy() {
			for x := i * step; x < (i+1)*step; x++ {
				found[sheet.At(x, y)] = true
			}
		}
		for _, colour := range []any{missColour, hitColour} {
			if found[colour] != (colour == want) {
				t.Errorf("picture %d has a frame in %v: %v", 2*i, colour, found[colour])
			}
		}
	}
}

func TestWriteClustersLarge(t *testing.T) {
	dir := t.TempDir()
	c := fakeClusters(400)
	var mu sync.Mutex
	asked := map[int]bool{}
	c.Image = func(i int) (image.Image, error) {
		mu.Lock()
		asked[i] = true
		mu.Unlock()
		if i == 0 {
			return nil, errFailing
		}
		return plain(2, 2, red), nil
	}
	if err := WriteClusters(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	if len(asked) != 2*figure.MaxTiles || !asked[392] && !asked[394] && !asked[396] {
		t.Errorf("%d pictures were asked for, want %d from everywhere", len(asked), 2*figure.MaxTiles)
	}
	page := tree(t, dir)["index.html"]
	for _, words := range []string{
		"200 pictures, of which 64 are shown.",
		"IMG_0000.jpg is not shown: disk full",
		"Known classes: beach (159), &lt;tower&gt; (1).",
	} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not say %q", words)
		}
	}
}

func TestWriteClustersBare(t *testing.T) {
	dir := t.TempDir()
	c := Clusters{Name: "texts", Method: "nmf", Names: []string{"a.txt", "b.txt", "c.txt"}, Groups: []int{2, 0, 2}}
	if err := WriteClusters(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	sources(t, files)
	if len(files) != 1 {
		t.Errorf("%d files, want the page only", len(files))
	}
	for _, words := range []string{"3 samples sorted into 3 groups.", "a.txt, c.txt", "0 samples."} {
		if !strings.Contains(files["index.html"], words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	if err := WriteClusters(t.Context(), t.TempDir(), Clusters{}); err != nil {
		t.Errorf("nothing at all: %v", err)
	}
}

func TestWriteClustersErrors(t *testing.T) {
	for what, spoil := range map[string]func(*Clusters){
		"groups":         func(c *Clusters) { c.Groups = c.Groups[1:] },
		"labels":         func(c *Clusters) { c.Labels = c.Labels[1:] },
		"group -1":       func(c *Clusters) { c.Groups[3] = -1 },
		"group 99999999": func(c *Clusters) { c.Groups[3] = 99999999 },
		"label 2":        func(c *Clusters) { c.Labels[3] = 2 },
		"basis of nmf":   func(c *Clusters) { c.Basis.Width = 1 },
		"copies of 5":    func(c *Clusters) { c.Pictures = pictures(6); c.Pictures.CopyOf = c.Pictures.CopyOf[1:] },
		"copy of":        func(c *Clusters) { c.Pictures = pictures(6); c.Pictures.CopyOf[2] = 3 },
		"outlier by":     func(c *Clusters) { c.Pictures = pictures(6); c.Pictures.Outlier[2] = math.NaN() },
	} {
		c := fakeClusters(6)
		spoil(&c)
		if err := WriteClusters(t.Context(), t.TempDir(), c); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
	c := fakeClusters(6)
	c.Image = func(int) (image.Image, error) { return nil, fmt.Errorf("decoding: %w", context.Canceled) }
	if err := WriteClusters(t.Context(), t.TempDir(), c); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the context's", err)
	}
}

// pictures returns what is told of n pictures without copies.
func pictures(n int) *Pictures {
	p := &Pictures{CopyOf: make([]int, n), Near: make([]bool, n), Outlier: make([]float64, n), Remark: make([]string, n)}
	for i := range n {
		p.CopyOf[i] = i
	}
	return p
}

// TestClusterTitles: a group is called after a class only where most of its samples
// say so.
func TestClusterTitles(t *testing.T) {
	for _, test := range []struct {
		labels string // of one group: a, b, or - where the class is not known
		told   []int
		want   string
	}{
		{"aab", nil, "Group 1: mostly a"},
		{"aaab", nil, "Group 1: mostly a"},
		{"ab", nil, "Group 1"},
		{"aabb", nil, "Group 1"},
		{"aa--", nil, "Group 1: mostly a"},
		{"aa---", nil, "Group 1"},
		{"a" + strings.Repeat("-", 94), nil, "Group 1"},
		{"---", nil, "Group 1"},
		{"b" + strings.Repeat("-", 94), []int{1}, "Group 1"},
		{"bb--", []int{1}, "Group 1: b"},
		{"bb---", []int{1}, "Group 1"},
		{"---", []int{-1}, "Group 1"},
	} {
		c := Clusters{Classes: []string{"a", "b"}, GroupClasses: test.told}
		for i, l := range test.labels {
			c.Names = append(c.Names, fmt.Sprint(i))
			c.Groups = append(c.Groups, 0)
			c.Labels = append(c.Labels, map[rune]int{'a': 0, 'b': 1, '-': -1}[l])
		}
		dir := t.TempDir()
		if err := WriteClusters(t.Context(), dir, c); err != nil {
			t.Fatal(err)
		}
		if page := tree(t, dir)["index.html"]; !strings.Contains(page, ">"+test.want+"<") {
			t.Errorf("labels %s, told %v: the group is not called %q", test.labels, test.told, test.want)
		}
	}
	c := fakeClusters(4)
	for _, told := range [][]int{{0}, {0, 2}, {-2, 0}} {
		if c.GroupClasses = told; WriteClusters(t.Context(), t.TempDir(), c) == nil {
			t.Errorf("classes told as %v are no error", told)
		}
	}
}
