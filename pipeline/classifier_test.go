package pipeline

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// waves returns samples of 3 classes, whose 4 columns differ in size.
func waves(from, to int) (x *mat.Dense, labels []int) {
	x = mat.NewDense(to-from, 4, nil)
	for i := from; i < to; i++ {
		class := (i*i + i/4) % 3
		for j, scale := range []float64{1, 100, 0.01, 3} {
			v := math.Sin(float64(1 + 3*i + 7*j*j + i*j))
			if class == j {
				v += 0.8
			}
			x.Set(i-from, j, v*scale+float64(j))
		}
		labels = append(labels, class)
	}
	return x, labels
}

// TestLinearClassifier compares with what scikit-learn 1.9.1 finds, StandardScaler before
// LogisticRegression(C, tol=1e-10), or without the first.
func TestLinearClassifier(t *testing.T) {
	train, truth := waves(0, 60)
	test, _ := waves(60, 140)
	for _, c := range []struct {
		by   Classifier
		want string
	}{
		{Classifier{C: 0.05}, "20202210002000122102020001000202020200002010220000102022000201002201020002010212"},
		{Classifier{}, "21102210012000122102020101000221020201002210220010102122000201002201020001210212"},
		{Classifier{C: 50}, "21102210012000122102020101000221020201002210220010102122000201002201020001210212"},
		{Classifier{Scale: "none"}, "21202010202002102102020101020201020001202010202020102020020001020201010201010212"},
		{Classifier{C: 50, Scale: "none"}, "21202010202002102102020101020201020001202010202020102020020001020201010201010212"},
	} {
		got, err := classifyLinear(t.Context(), c.by, train, truth, test)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, class := range got {
			fmt.Fprint(&text, class)
		}
		if text.String() != c.want {
			t.Errorf("%+v: got\n%s, want\n%s", c.by, text.String(), c.want)
		}
	}
}

// TestStandard: columns get mean 0 and standard deviation 1, whatever their size; sparse ones
// are divided by the same numbers, and those that do not vary are 0.
func TestStandard(t *testing.T) {
	x := mat.NewDense(5, 4, []float64{
		1e200, 0, 7, 1e-200,
		3e200, 2, 7, 2e-200,
		2e200, 0, 7, 0,
		0, 5, 7, 5e-200,
		1e200, 0, 7, 1e-200})
	s := newStandard(x)
	dense := s.of(x).(*mat.Dense)
	for j := range 4 {
		mean, deviation := stat.PopMeanStdDev(mat.Col(nil, j, dense), nil)
		want := 1.0
		if j == 2 {
			want = 0
		}
		if math.Abs(mean) > 1e-12 || math.Abs(deviation-want) > 1e-12 {
			t.Errorf("column %d has mean %v and deviation %v", j, mean, deviation)
		}
	}
	var entries []sparse.Entry
	for i := range 5 {
		for j := range 4 {
			if v := x.At(i, j); v != 0 {
				entries = append(entries, sparse.Entry{Row: i, Col: j, Value: v})
			}
		}
	}
	csr := sparse.FromEntries(5, 4, entries)
	of := newStandard(csr)
	divided := of.of(csr)
	for i := range 5 {
		for j := range 4 {
			if got, want := divided.At(i, j), x.At(i, j)*s.factor[j]; math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("sparse at %d, %d: %v, want %v", i, j, got, want)
			}
		}
	}
	if csr.At(0, 0) != 1e200 {
		t.Error("the samples were changed")
	}
}

// TestClassifiers: an experiment with the linear classifier tells classes apart that lie apart,
// is the same with any number of workers, and has other trials than one by neighbours.
func TestClassifiers(t *testing.T) {
	text := strings.Replace(classifying, "neighbours: {k: 3}", "classifier: {by: linear, c: 10}", 1)
	set := testkit.CSV(t, 12, 10, 11)
	p := newPlan(t, text, set)
	if log := runPlan(t, p, RunOptions{}); string(log) != string(runPlan(t, p, RunOptions{Workers: 1})) {
		t.Error("one worker makes another log")
	}
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Scores["accuracy"] < 0.5 {
			t.Errorf("%s, rank %d: accuracy %v of classes that lie apart", r.Method, r.Rank, r.Scores["accuracy"])
		}
	}
	other := newPlan(t, classifying, set)
	if p.trials[0].id == other.trials[0].id {
		t.Error("a trial of another classifier has the same identity")
	}
	if !slices.Contains(p.Experiment.Shared(), [2]string{"classification", "logistic regression of standardised features, C = 10"}) {
		t.Errorf("shared settings %q", p.Experiment.Shared())
	}
}

// splitFolder makes pictures of two classes in folders train and test.
func splitFolder(t *testing.T, counts map[string]int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "split")
	for in, count := range counts {
		if err := os.MkdirAll(filepath.Join(dir, in), 0o777); err != nil {
			t.Fatal(err)
		}
		for i := range count {
			img := image.NewGray(image.Rect(0, 0, 2, 2))
			img.SetGray(0, 0, color.Gray{Y: uint8(9 * (i + 1))})
			if strings.HasSuffix(in, "Forest") {
				img.SetGray(1, 1, color.Gray{Y: 200})
			} else {
				img.SetGray(1, 0, color.Gray{Y: 200})
			}
			f, err := os.Create(filepath.Join(dir, in, fmt.Sprintf("%d.png", i)))
			if err != nil {
				t.Fatal(err)
			}
			if err := png.Encode(f, img); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	return dir
}

// TestSplit: where the data are in folders train and test, a classification learns from the one
// and is tested on the other, in each repeat.
func TestSplit(t *testing.T) {
	const text = `{name: x, task: classify, split: folders, methods: [original, {name: nmf, iterations: 20}], rank: 2, repeats: 2, classifier: linear, features: {pixels: 2}}`
	dir := splitFolder(t, map[string]int{"train/Coast": 5, "train/Forest": 4, "test/Coast": 2, "test/Forest": 3})
	p := newPlan(t, text, dir)
	for repeat := range 2 {
		d := p.draw(2, repeat)
		for i, row := range d.rows {
			if !strings.HasPrefix(p.Inputs.Set.Names[row], "train/") || d.labels[i] != d.truth[i] {
				t.Errorf("learned from %s, label %d of class %d", p.Inputs.Set.Names[row], d.labels[i], d.truth[i])
			}
		}
		for _, row := range d.testRows {
			if !strings.HasPrefix(p.Inputs.Set.Names[row], "test/") {
				t.Errorf("tested on %s", p.Inputs.Set.Names[row])
			}
		}
		if len(d.rows) != 9 || len(d.testRows) != 5 {
			t.Errorf("%d samples to train and %d to test, want 9 and 5", len(d.rows), len(d.testRows))
		}
	}
	records, err := p.Run(t.Context(), nil, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		if r.Tested != 5 || r.Samples != 9 || r.Scores["accuracy"] != 1 {
			t.Errorf("%s: %d tested after %d, accuracy %v", r.Method, r.Tested, r.Samples, r.Scores["accuracy"])
		}
	}
}

// TestSplitMistakes: what a split cannot be of, and what does not go with it.
func TestSplitMistakes(t *testing.T) {
	const base = "{name: x, task: classify, methods: [original], "
	for _, c := range []struct {
		text, data, want string
	}{
		{base + "split: folders}", splitFolder(t, map[string]int{"Coast": 3, "Forest": 3}), "has no parts train and test"},
		{base + "split: folders}", splitFolder(t, map[string]int{"train/Coast": 3, "train/Forest": 3, "test/Coast": 3}), `class "Forest": split: it has 3 samples to train and 0 to test`},
		{base + "split: folders, train: 2}", "generated", "leave out train and test"},
		{base + "train: 2}", "generated", "needs train and test"},
		{base + "train: 2, test: rest, classifier: linear, neighbours: 3}", "generated", "neighbours are for the classifier"},
		{base + "train: 2, test: rest, classifier: {c: 3}}", "generated", "by: linear"},
		{"{name: x, methods: [nmf], split: folders}", "generated", "for classification"},
		{"{name: x, methods: [nmf], classifier: linear}", "generated", "for classification"},
	} {
		e, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		e.Data.Set = c.data
		set, err := Open(t.Context(), e)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckSet(e, set); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}
