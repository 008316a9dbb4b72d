package figure

import (
	"bytes"
	"errors"
	"fmt"
	"image/color"
	"image/png"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/report/table"
)

// drawn returns a figure in both formats.
func drawn(t *testing.T, f *Figure) (picture, svg []byte) {
	t.Helper()
	var p, s bytes.Buffer
	if err := errors.Join(f.Write(t.Context(), &p, "png"), f.Write(t.Context(), &s, "svg")); err != nil {
		t.Fatal(err)
	}
	return p.Bytes(), s.Bytes()
}

// rgba is the i-th method's colour.
func rgba(i int) color.RGBA { return Palette[i].(color.RGBA) }

// colours returns how many pixels of a picture have each colour.
func colours(t *testing.T, picture []byte) map[color.RGBA]int {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	found := map[color.RGBA]int{}
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			found[color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)]++
		}
	}
	return found
}

func TestCurves(t *testing.T) {
	scores := table.New(fakeRecords(sevenMethods, []int{2, 3, 4, 5}, 3), "AC free", sevenMethods, table.Tests{})
	f, err := Curves(scores, looks)
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	found := colours(t, picture)
	for i, method := range sevenMethods {
		if found[rgba(i)] < 200 {
			t.Errorf("no line of %s in its colour", method)
		}
	}
	for _, word := range append([]string{"Number of classes", "AC of the unlabelled samples, %", "2", "5"}, sevenMethods...) {
		if !strings.Contains(string(svg), ">"+word+"</text>") {
			t.Errorf("%q does not stand in the drawing", word)
		}
	}
	again, err := Curves(scores, looks)
	if err != nil {
		t.Fatal(err)
	}
	if p, s := drawn(t, again); !bytes.Equal(p, picture) || !bytes.Equal(s, svg) {
		t.Error("the same table gives other bytes")
	}
}

// rings counts the rings of a drawing.
func rings(svg []byte) int { return strings.Count(string(svg), "stroke-width:1.4") }

// A ring marks the best rank of each method, unless all are equally good.
func TestCurvesOfRanks(t *testing.T) {
	records := ranksAndSweeps()
	for i, r := range records {
		if r.Method == "nmf" {
			records[i].Scores["AC"] = 0.5
		}
	}
	for score, want := range map[string]int{"AC": len(sweptMethods) - 1, "NMI": len(sweptMethods)} {
		f, err := Curves(table.New(records, score, sweptMethods, table.Tests{}), looks)
		if err != nil {
			t.Fatal(err)
		}
		if _, svg := drawn(t, f); rings(svg) != want {
			t.Errorf("%s: %d rings, want %d", score, rings(svg), want)
		}
	}
	f, err := Curves(table.New(sweptRecords(2, 3), "AC", sweptMethods, table.Tests{}), looks)
	if err != nil {
		t.Fatal(err)
	}
	if _, svg := drawn(t, f); rings(svg) != 0 {
		t.Error("numbers of classes have no best")
	}
}

// Incomplete and unusual experiments can be drawn.
func TestCurvesOdd(t *testing.T) {
	many := make([]string, 15)
	for i := range many {
		many[i] = fmt.Sprintf("method %d with a rather long name & <more>", i)
	}
	for name, scores := range map[string]*table.Table{
		"awkward":     awkward(),
		"one point":   table.New(scored("nmf", 2, 0.5), "AC", []string{"nmf", "cf"}, table.Tests{}),
		"all equal":   table.New(slices.Concat(scored("nmf", 2, 1, 1), scored("nmf", 3, 1, 1)), "AC", []string{"nmf"}, table.Tests{}),
		"negative":    table.New(slices.Concat(scored("nmf", 2, -1, -0.9), scored("nmf", 30, 1, 1)), "AC", []string{"nmf"}, table.Tests{}),
		"fifteen":     table.New(fakeRecords(many, []int{2, 4, 68, 100}, 2), "AC", many, table.Tests{}),
		"fifteen dot": table.New(fakeRecords(many, []int{2}, 2), "AC", many, table.Tests{}),
	} {
		t.Run(name, func(t *testing.T) {
			f, err := Curves(scores, looks)
			if err != nil {
				t.Fatal(err)
			}
			var svg strings.Builder
			if err := f.Write(t.Context(), &svg, "svg"); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(svg.String(), "NaN") {
				t.Error("NaN in the drawing")
			}
		})
	}
	if _, err := Curves(table.New(nil, "AC", sevenMethods, table.Tests{}), looks); !errors.Is(err, ErrNoData) {
		t.Errorf("got error %v, want %v", err, ErrNoData)
	}
	if _, err := Curves(&table.Table{Rows: make([]table.Row, 1)}, looks); err != nil {
		t.Errorf("a row without methods: %v", err)
	}
}

// A single number of classes gives dots, each beside its method's name.
func TestDots(t *testing.T) {
	f, err := Curves(table.New(fakeRecords(sevenMethods, []int{10}, 5), "NMI", sevenMethods, table.Tests{}), looks)
	if err != nil {
		t.Fatal(err)
	}
	picture, svg := drawn(t, f)
	for _, word := range append([]string{"NMI with 10 classes, %"}, sevenMethods...) {
		if strings.Count(string(svg), ">"+word+"</text>") != 1 {
			t.Errorf("%q does not stand once in the drawing", word)
		}
	}
	found := colours(t, picture)
	for i, method := range sevenMethods {
		if found[rgba(i)] < 100 {
			t.Errorf("no dot of %s in its colour", method)
		}
	}
}

func TestPercentTicks(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		want   []string
	}{
		{0.46, 0.87, []string{"40", "50", "60", "70", "80", "90"}},
		{0, 1, []string{"0", "20", "40", "60", "80", "100"}},
		{0.991, 0.998, []string{"99.1", "99.2", "99.3", "99.4", "99.5", "99.6", "99.7", "99.8"}},
		{1, 1, []string{"100", "100.1"}},
		{-0.12, 0.11, []string{"-15", "-10", "-5", "0", "5", "10", "15"}},
		{-1, 1, []string{"-100", "-50", "0", "50", "100"}},
	} {
		axis := plot.New().Y
		axis.Min, axis.Max = test.lo, test.hi
		roundTicks(&axis, true)
		var got []string
		for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
			got = append(got, tick.Label)
		}
		if !slices.Equal(got, test.want) || axis.Min > test.lo || axis.Max < test.hi {
			t.Errorf("%v to %v: ticks %v on an axis from %v to %v, want %v", test.lo, test.hi, got, axis.Min, axis.Max, test.want)
		}
	}
}

func TestWholeTicks(t *testing.T) {
	var labels []string
	f := newChart("", "")
	f.wholeX([]int{2, 3, 4, 68, 100})
	for _, tick := range f.plot.X.Tick.Marker.Ticks(2, 100) {
		labels = append(labels, tick.Label)
	}
	if want := []string{"2", "", "", "68", "100"}; !slices.Equal(labels, want) {
		t.Errorf("labels %q, want %q", labels, want)
	}
}

// Methods look different, even beyond the number of colours.
func TestLooks(t *testing.T) {
	seen := map[string]int{}
	for i := range 28 {
		line := lineOf(i)
		look := fmt.Sprint(line.Color, line.Dashes)
		if j, ok := seen[look]; ok {
			t.Errorf("methods %d and %d have one look", j, i)
		}
		seen[look] = i
	}
	if lineOf(0).Width <= vg.Points(1) {
		t.Error("lines are too thin for print")
	}
}

func TestFigureWriteError(t *testing.T) {
	f, err := Curves(awkward(), looks)
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats {
		if err := f.Write(t.Context(), failing{}, format); !errors.Is(err, errFailing) {
			t.Errorf("got error %v, want the writer's", err)
		}
	}
}

func TestNumberTicks(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		want   []string
	}{
		{2105, 3820, []string{"2000", "2500", "3000", "3500", "4000"}},
		{0.0012, 0.0051, []string{"0.001", "0.002", "0.003", "0.004", "0.005", "0.006"}},
		{-3, 1.5, []string{"-3", "-2", "-1", "0", "1", "2"}},
		{5, 5, []string{"5", "6"}},
		{0, 0, []string{"0", "0.2"}},
		{1.2e7, 4.1e7, []string{"1e+07", "2e+07", "3e+07", "4e+07", "5e+07"}},
	} {
		axis := plot.New().Y
		axis.Min, axis.Max = test.lo, test.hi
		roundTicks(&axis, false)
		var got []string
		for _, tick := range axis.Tick.Marker.Ticks(axis.Min, axis.Max) {
			got = append(got, tick.Label)
		}
		if !slices.Equal(got, test.want) || axis.Min > test.lo || axis.Max < test.hi {
			t.Errorf("%v to %v: ticks %v on an axis from %v to %v, want %v", test.lo, test.hi, got, axis.Min, axis.Max, test.want)
		}
	}
}

// A PDF has equal bytes every time, no date, and outlines for letters of any script.
func TestPDF(t *testing.T) {
	scores := awkward()
	f, err := Curves(scores, looks)
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := errors.Join(f.Write(t.Context(), &first, "pdf"), f.Write(t.Context(), &second, "pdf")); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same figure gives other bytes")
	}
	text := first.String()
	if !strings.HasPrefix(text, "%PDF-1.") || !strings.Contains(text, "(D:20000101000000") || strings.Contains(text, "/FontFile") {
		t.Errorf("%.300q …", text)
	}
	for _, date := range regexp.MustCompile(`\(D:[0-9]+`).FindAllString(text, -1) {
		if date != "(D:20000101000000" {
			t.Errorf("a date %s", date)
		}
	}
}

// A PNG states its resolution.
func TestPNGResolution(t *testing.T) {
	f, err := Curves(awkward(), looks)
	if err != nil {
		t.Fatal(err)
	}
	picture, _ := drawn(t, f) // decodes as before
	if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(picture, []byte("pHYs"))
	if at != 8+25+4 || !bytes.Equal(picture[at+4:at+13], []byte{0, 0, 0x1e, 0xc2, 0, 0, 0x1e, 0xc2, 1}) {
		t.Errorf("pHYs at %d in %x", at, picture[:80])
	}
}

// A method has one colour in all figures, whichever others they have.
func TestLooksAcrossFigures(t *testing.T) {
	looks := NewLooks(sweptMethods, lambdaSweep)
	for name, want := range map[string]int{"nmf": 0, "ogl_1": 1, "ogl 2 50": 1, "gnmf": 2, "g 0.5": 2, "g 50": 2} {
		if looks[name] != want {
			t.Errorf("%s has number %d, want %d", name, looks[name], want)
		}
	}
	colour := rgba(2) // of gnmf
	records := fakeRecords([]string{"g 50"}, []int{2, 3}, 6)
	figures := map[string]func() (*Figure, error){
		"curves": func() (*Figure, error) {
			return Curves(table.New(records, "AC", []string{"g 50"}, table.Tests{}), looks)
		},
		"dots": func() (*Figure, error) {
			return Curves(table.New(fakeRecords([]string{"g 50"}, []int{2}, 6), "AC", []string{"g 50"}, table.Tests{}), looks)
		},
		"convergence": func() (*Figure, error) { return Convergence(t.Context(), records, []string{"g 50"}, looks) },
		"sweep": func() (*Figure, error) {
			return SweepCurves(table.New(fakeRecords([]string{"g 0.5", "g 50"}, []int{2, 3}, 6), "AC", []string{"g 0.5", "g 50"}, table.Tests{}), lambdaSweep, "lambda", looks)
		},
		"terms": func() (*Figure, error) {
			return Terms(t.Context(), []record.Record{penalised("g 50", 2, 5, 4, 3)}, "g 50", looks)
		},
	}
	for name, draw := range figures {
		f, err := draw()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		picture, _ := drawn(t, f)
		found := colours(t, picture)
		if found[colour] < 30 || found[rgba(0)] > 0 || found[rgba(1)] > 0 {
			t.Errorf("%s: %d dots of the method's colour, %d and %d of others", name, found[colour], found[rgba(0)], found[rgba(1)])
		}
	}
}

// TestBands: each curve of several repeats has a band, and one of a single repeat has none.
func TestBands(t *testing.T) {
	for repeats, want := range map[int]int{1: 0, 5: len(sevenMethods)} {
		f, err := Curves(table.New(fakeRecords(sevenMethods, []int{2, 3, 10}, repeats), "AC", sevenMethods, table.Tests{}), looks)
		if err != nil {
			t.Fatal(err)
		}
		_, svg := drawn(t, f)
		if got := strings.Count(string(svg), "fill-opacity:0.1"); got != want {
			t.Errorf("%d repeats: %d bands, want %d", repeats, got, want)
		}
	}
}

// TestStraight: a transparent colour keeps its hue.
func TestStraight(t *testing.T) {
	r, g, b, a := straight(color.NRGBA{0x10, 0x80, 0xff, bandStrength}).RGBA()
	if r>>8 != 0x10 || g>>8 != 0x80 || b>>8 != 0xff || a>>8 != bandStrength {
		t.Errorf("%x %x %x %x", r, g, b, a)
	}
}
