package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/jpeg"
	_ "image/png"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
)

// colourBlobs is a basis of k triples of soft spots: red, green and blue.
func colourBlobs(k int) *mat.Dense {
	spots := blobs(3 * k)
	basis := mat.NewDense(3*256, k, nil)
	for plane := range 3 {
		basis.Slice(plane*256, (plane+1)*256, 0, k).(*mat.Dense).Copy(spots.Slice(0, 256, plane*k, (plane+1)*k))
	}
	return basis
}

// fakeClusters is a grouping of n pictures into two groups, with most classes known and one picture in the wrong group.
func fakeClusters(n int) Clusters {
	c := Clusters{
		Name: "Holiday & more", Command: "partwise cluster holiday --groups 2",
		Method: "nmf", Settings: [][2]string{{"groups", "2"}},
		Classes:  []string{"beach", "<tower>"},
		Grouping: &grouping.Grouping{Scores: map[string]float64{"NMI": 0.5, "AC": 0.75}},
		Side:     32,
		Basis:    &Basis{Method: "nmf", Vectors: colourBlobs(4), Height: 16, Width: 16, Channels: 3},
		Image:    func(i int) (image.Image, error) { return plain(20+i, 20, red), nil },
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
	for _, name := range []string{"page/page.js", "page/data.js", "pictures/000.png", "bases/nmf.png"} {
		if _, ok := files[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	again := t.TempDir()
	defer parallel.SetCores(1)()
	if err := WriteClusters(t.Context(), again, c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(files, tree(t, again)); diff != "" {
		t.Errorf("the second time other bytes: %s", diff)
	}
}

// dataOf returns the data of a page's script.
func dataOf(t *testing.T, files map[string]string) (d pageData) {
	t.Helper()
	text := strings.TrimPrefix(files[dataFile], "window.partwiseData = ")
	text, ok := strings.CutSuffix(text, ";\n")
	if !ok || strings.ContainsAny(text, "<>\n\u2028\u2029") {
		t.Errorf("the data are no script of one line: %.200q", files[dataFile])
	}
	in := json.NewDecoder(strings.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(&d); err != nil {
		t.Fatal(err)
	}
	return d
}

// TestThumbnails: the sheets hold all pictures in the order of the groups, at the positions in the data.
func TestThumbnails(t *testing.T) {
	for side, n := range map[int]int{20: 1100, 300: 140} {
		c := fakeClusters(n)
		c.Side = side
		c.Image = func(i int) (image.Image, error) {
			if i == 7 {
				return nil, errFailing
			}
			return plain(side-i%5, side/2, color.RGBA{uint8(i), uint8(i >> 8 * 50), 100, 255}), nil
		}
		for i := range n {
			c.Memberships = append(c.Memberships, cluster.Membership{Distance: float64(i * 7 % n)})
		}
		dir := t.TempDir()
		if err := WriteClusters(t.Context(), dir, c); err != nil {
			t.Fatal(err)
		}
		files := tree(t, dir)
		d := dataOf(t, files)
		s := d.Sheets
		sizes := s.Sizes
		if len(sizes) != 2*n || len(d.Order) != n {
			t.Fatalf("%d sizes, an order of %d", len(sizes), len(d.Order))
		}
		var sheets []image.Image
		for i := range s.Count {
			img, _, err := image.Decode(strings.NewReader(files[fmt.Sprintf("pictures/%03d%s", i, s.Ending)]))
			if err != nil {
				t.Fatal(err)
			}
			sheets = append(sheets, img)
		}
		if _, more := files[fmt.Sprintf("pictures/%03d%s", s.Count, s.Ending)]; more || s.Count < 2 {
			t.Errorf("%d sheets, and more: %v", s.Count, more)
		}
		for at, i := range d.Order {
			if at > 0 {
				before := d.Order[at-1]
				if c.Groups[before] > c.Groups[i] || c.Groups[before] == c.Groups[i] && c.Memberships[before].Distance > c.Memberships[i].Distance {
					t.Fatalf("%d stands before %d", before, i)
				}
			}
			w, h := int(sizes[2*i]), int(sizes[2*i+1])
			if i == 7 {
				if w != 0 || h != 0 {
					t.Errorf("what cannot be read is %d×%d", w, h)
				}
				continue
			}
			cell := at % s.PerSheet
			x, y := cell%s.Columns*s.Cell, cell/s.Columns*s.Cell
			r, g, b, _ := sheets[at/s.PerSheet].At(x+w/2, y+h/2).RGBA()
			off := func(have uint32, want uint8) bool { return int(have>>8)-int(want) > 6 || int(want)-int(have>>8) > 6 }
			if w > s.Cell || h > s.Cell || off(r, uint8(i)) || off(g, uint8(i>>8*50)) || off(b, 100) {
				t.Fatalf("side %d: picture %d of %d×%d differs", side, i, w, h)
			}
		}
	}
}

// TestClustersData: the script has the data of the samples.
func TestClustersData(t *testing.T) {
	c := fakeClusters(6)
	for _, x := range []float64{0, 1, 0.5, 0.126, 0.01, 0.3} {
		c.Memberships = append(c.Memberships, cluster.Membership{Confidence: x})
	}
	c.Pictures = noCopies(6)
	dir := t.TempDir()
	write := func() pageData {
		t.Helper()
		if err := WriteClusters(t.Context(), dir, c); err != nil {
			t.Fatal(err)
		}
		files := tree(t, dir)
		sources(t, files)
		return dataOf(t, files)
	}
	d := write()
	if len(d.Codes)+len(d.Map) > 0 {
		t.Error("codes without features")
	}
	if diff := cmp.Diff([]any{[]int{0, 100, 50, 13, 1, 30}, []int(nil), []int{1, 1, 0, 1, -1, 1}, []string{"beach", "<tower>"}, []string{"", "mostly <tower>"}},
		[]any{d.Confidence, d.CopyOf, d.Labels, d.Classes, d.GroupNames}); diff != "" {
		t.Errorf("data (-want +got): %s", diff)
	}
	c.Pictures.CopyOf[4], c.Pictures.Near[4], c.Pictures.Outlier[1], c.Pictures.Remark[2] = 0, true, 0.25, "blurred"
	c.Features = blobs(6).Slice(0, 6, 0, 6).(*mat.Dense)
	d = write()
	if len(d.Map) != 4*6 || d.CodeLength == 0 || len(d.Codes) != 6*d.CodeLength {
		t.Errorf("a map of %d bytes, codes of %d, %d each", len(d.Map), len(d.Codes), d.CodeLength)
	}
	if diff := cmp.Diff([]any{[]int{0, 1, 2, 3, 0, 5}, []int{4}, [][2]any{{1.0, 0.25}}, [][2]any{{2.0, "blurred"}}},
		[]any{d.CopyOf, d.Near, d.Outliers, d.Remarks}); diff != "" {
		t.Errorf("data (-want +got): %s", diff)
	}
}

// TestLinks: a link leads from the page to the file, with any name.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	files := []string{
		"a b.jpg", "deep/ü ?#%41&\"'<>.jpg", "caf\xe9 \xff.png", "javascript:alert(1)", "猫/👩‍👩‍👧.jpg", "x\ny", "\u202egpj", "~/(1)*!.jpg", "-_.",
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, filepath.Join(dir, "photos", f))
	}
	links := linksTo(paths, filepath.Join(dir, "results", "photos-groups"))
	page := &url.URL{Scheme: "file", Path: filepath.ToSlash(dir) + "/results/photos-groups/index.html"}
	for i, l := range links {
		to, err := page.Parse(l)
		if err != nil || to.Scheme != "file" || to.RawQuery != "" || to.Fragment != "" || filepath.FromSlash(to.Path) != paths[i] {
			t.Errorf("%q leads to %v, want %q: %v", l, to, paths[i], err)
		}
	}
	for _, test := range []struct {
		links, names []string
		base         string
		rests        []string
	}{
		{nil, []string{"a"}, "", nil},
		{[]string{"../p/a%20b", "../p/d/c"}, []string{"a b", "d/c"}, "../p/", nil},
		{[]string{"../p/a%20b", "../p/%FF"}, []string{"a b", `\xff`}, "../p/", []string{"a%20b", "%FF"}},
		{[]string{"../p/a", ""}, []string{"a", "b"}, "../p/", []string{"a", ""}},
		{[]string{"", "../p/a"}, []string{"b", "a"}, "", []string{"", "../p/a"}},
		{[]string{"../p/ab/c", "../p/a/d"}, []string{"c", "d"}, "../p/", []string{"ab/c", "a/d"}},
		{[]string{"../../p/a", "../q"}, []string{"a", "q"}, "../", []string{"../p/a", "q"}},
	} {
		if base, rests := shorterLinks(test.links, test.names); base != test.base || !cmp.Equal(rests, test.rests) {
			t.Errorf("%q: %q and %v, want %q and %v", test.links, base, rests, test.base, test.rests)
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
	if len(asked) != 400 {
		t.Errorf("%d pictures were asked for, want all", len(asked))
	}
	page := tree(t, dir)["index.html"]
	for _, words := range []string{
		"200 images.", "188 more images.",
		"IMG_0000.jpg is not shown: disk full",
		" Classes: beach (159), &lt;tower&gt; (1).",
	} {
		if !strings.Contains(page, words) {
			t.Errorf("the page does not say %q", words)
		}
	}
}

func TestWriteClustersBare(t *testing.T) {
	dir := t.TempDir()
	c := Clusters{Name: "texts", Method: "nmf", Names: []string{"a.txt", "b.txt", "c.txt"}, Grouping: &grouping.Grouping{Groups: []int{2, 0, 2}}}
	if err := WriteClusters(t.Context(), dir, c); err != nil {
		t.Fatal(err)
	}
	files := tree(t, dir)
	sources(t, files)
	if len(files) != 6 {
		t.Errorf("%d files, want the page, its scripts and its data", len(files))
	}
	for _, words := range []string{"3 samples in 3 groups.", "a.txt", "c.txt", "0 samples."} {
		if !strings.Contains(files["index.html"], words) {
			t.Errorf("the page does not say %q", words)
		}
	}
	if err := WriteClusters(t.Context(), t.TempDir(), Clusters{Grouping: &grouping.Grouping{}}); err != nil {
		t.Errorf("without samples: %v", err)
	}
}

func TestWriteClustersErrors(t *testing.T) {
	c := fakeClusters(6)
	c.Basis.Width = 1
	if err := WriteClusters(t.Context(), t.TempDir(), c); err == nil || !strings.Contains(err.Error(), "basis of nmf") {
		t.Errorf("error %v does not name the basis", err)
	}
	c = fakeClusters(6)
	c.Image = func(int) (image.Image, error) { return nil, fmt.Errorf("decoding: %w", context.Canceled) }
	if err := WriteClusters(t.Context(), t.TempDir(), c); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want the context's", err)
	}
}

// noCopies describes n pictures without copies.
func noCopies(n int) *input.Pictures {
	p := &input.Pictures{CopyOf: make([]int, n), Near: make([]bool, n), Outlier: make([]float64, n), Remark: make([]string, n)}
	for i := range n {
		p.CopyOf[i] = i
	}
	return p
}

func TestWritePictures(t *testing.T) {
	c := fakeClusters(6)
	c.Pictures = &input.Pictures{
		CopyOf: []int{0, 0, 2, 0, 2, 5}, Near: []bool{false, false, false, true, false, false}, Outlier: []float64{0, 0, 0, 0, 0, 0.957},
		Sharpness: []float64{1, 1, 0.125, 0.5, 0.125, -1}, Remark: []string{"", "", "blurred", "", "blurred", "blank"},
		Burst: make([]bool, 6), Size: make([]image.Point, 6), Bytes: make([]int64, 6), Capture: make([]imagefile.Capture, 6),
	}
	c.Names[5] = "=1+1.jpg"
	text := string(PicturesCSV(c.Names, c.Pictures))
	const rest = ",0,0,0,,,,\n"
	const want = "file,copy_of,copy,outlier,sharpness,remark,width,height,bytes,taken,latitude,longitude,camera\n" +
		"IMG_0000.jpg,,,,1.00," + rest + "IMG_0001.jpg,IMG_0000.jpg,exact,,1.00," + rest + "IMG_0002.jpg,,,,0.12,blurred" + rest +
		"IMG_0003.jpg,IMG_0000.jpg,near,,0.50," + rest + "IMG_0004.jpg,IMG_0002.jpg,exact,,0.12,blurred" + rest + "'=1+1.jpg,,,0.96,,blank" + rest
	if text != want {
		t.Errorf("got %s, want %s", text, want)
	}
	if got := PicturesFound(c.Pictures); got != "3 copies of 2 images, 2 blurred, 1 blank, 1 outlier" {
		t.Errorf("found %q", got)
	}
	if got := PicturesFound(noCopies(3)) + PicturesFound(nil); got != "" {
		t.Errorf("got %q, want none", got)
	}
}

// TestClusterTitles: a group is named after a class only if most of its samples have it.
func TestClusterTitles(t *testing.T) {
	for _, test := range []struct {
		labels   string // of one group: a, b, or - for an unknown class
		labelled []int
		want     string
	}{
		{"aab", nil, "Group 1: mostly a"},
		{"aaab", nil, "Group 1: mostly a"},
		{"ab", nil, "Group 1"},
		{"aabb", nil, "Group 1"},
		{"aa--", nil, "Group 1: mostly a"},
		{"aa---", nil, "Group 1"},
		{"a" + strings.Repeat("-", 94), nil, "Group 1"},
		{"---", nil, "Group 1"},
		{"b" + strings.Repeat("-", 94), []int{1}, "Group 1: b"},
		{"bb--", []int{1}, "Group 1: b"},
		{"bb---", []int{1}, "Group 1: b"},
		{"---", []int{-1}, "Group 1"},
	} {
		c := Clusters{Classes: []string{"a", "b"}, Grouping: &grouping.Grouping{GroupClasses: test.labelled}}
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
			t.Errorf("classes %s of the samples, labelled %v: the page has no title %q", test.labels, test.labelled, test.want)
		}
	}
}
