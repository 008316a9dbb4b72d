package pipeline

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/internal/fitting"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

const scoredElsewhere = `
name: elsewhere
task: %s
methods: [%s]
classes: [2, 3]
repeats: 2
seed: 5
`

// writeDraws writes the draws of a plan, and returns the folder.
func writeDraws(t *testing.T, p *Plan, format string) string {
	t.Helper()
	dir := t.TempDir()
	if n, err := p.WriteDraws(t.Context(), dir, format, nil); err != nil || n != 4 {
		t.Fatalf("%d draws, %v", n, err)
	}
	return dir
}

// drawn is a draw as another program reads it.
type drawn struct {
	*vectorfile.Content
	lists map[string]vectorfile.Variable
}

func readDraw(t *testing.T, path string) drawn {
	t.Helper()
	c, err := vectorfile.Open(t.Context(), path, vectorfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	vars, err := vectorfile.Variables(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	d := drawn{c, map[string]vectorfile.Variable{}}
	for _, v := range vars {
		d.lists[v.Name] = v
	}
	return d
}

// number returns the value of a list.
func (d drawn) number(name string, i int) int {
	return int(mat.DenseCopyOf(d.lists[name].Value).RawMatrix().Data[i])
}

// writeResult writes a result of a draw as numpy.savez does.
func writeResult(t *testing.T, path, draw string, put func(*npz.Writer)) {
	t.Helper()
	var text bytes.Buffer
	z := npz.NewWriter(&text)
	if draw != "" {
		z.Words("draw", []string{draw})
	}
	z.List("ignored", []float64{math.NaN()})
	put(z)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}

func putMatrix(z *npz.Writer, name string, x mat.Matrix) {
	n, m := x.Dims()
	z.Floats(name, []int{n, m}, mat.DenseCopyOf(x).RawRowView)
}

// TestResultsFromElsewhere: groups, classes and coefficients that the test computes from the files of the draws have the
// scores of the same method in partwise.
func TestResultsFromElsewhere(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	for _, c := range []struct{ task, own, settings string }{
		{"cluster", "kmeans", "labels: 30%\nlinks: 5%\ncluster: {restarts: 2}\n"},
		{"classify", "original", "train: 5\ntest: rest\nneighbours: {k: 3}\n"},
	} {
		folder := t.TempDir()
		text := func(methods string) string { return fmt.Sprintf(scoredElsewhere, c.task, methods) + c.settings }
		p := newPlan(t, text(c.own), set)
		dir, again, other := writeDraws(t, p, "npz"), writeDraws(t, p, "npz"), writeDraws(t, p, "mat")
		for id := range p.eachDraw {
			name := id.String() + ".npz"
			if a, b := readFile(t, filepath.Join(dir, name)), readFile(t, filepath.Join(again, name)); !bytes.Equal(a, b) {
				t.Errorf("%s is another file at the second time", name)
			}
			d, matlab := readDraw(t, filepath.Join(dir, name)), readDraw(t, filepath.Join(other, id.String()+".mat"))
			if !mat.Equal(d.Vectors, matlab.Vectors) || !slices.Equal(d.Labels, matlab.Labels) || !slices.Equal(d.Names, matlab.Names) ||
				!slices.Equal(d.lists["draw"].Text, matlab.lists["draw"].Text) || d.number("seed", 0) != matlab.number("seed", 0) {
				t.Errorf("%s: the formats differ", name)
			}
			drawn := p.draw(id.k, id.repeat)
			n := len(drawn.rows)
			if !slices.Equal(d.Labels, slices.Concat(drawn.labels, slices.Repeat([]int{-1}, len(drawn.testRows)))) || d.number("k", 0) != id.k {
				t.Errorf("%s: labels %v of %d classes", name, d.Labels, d.number("k", 0))
			}
			for i, row := range slices.Concat(drawn.rows, drawn.testRows) {
				if d.Names[i] != p.set.Names[row] {
					t.Fatalf("%s: row %d is %s", name, i, d.Names[i])
				}
			}
			if len(drawn.must) > 0 && [2]int{d.number("must", 0) - 1, d.number("must", 1) - 1} != drawn.must[0] {
				t.Errorf("%s: must-links %v", name, d.lists["must"])
			}
			rows := func(from, to int) mat.Matrix { return mat.DenseCopyOf(d.Vectors).Slice(from, to, 0, 8) }
			e, draw := p.Experiment, d.lists["draw"].Text[0]
			writeResult(t, filepath.Join(folder, "list-"+name), draw, func(z *npz.Writer) {
				if c.task == "cluster" {
					by := e.Cluster
					by.By = spec.KMeans
					groups, err := fitting.ClusterRows(t.Context(), by, d.Vectors, id.k, cluster.Known{}, rng.Seed(5, "k-means", id.k, id.repeat))
					if err != nil {
						t.Fatal(err)
					}
					for i := range groups {
						groups[i] = 10 - groups[i] // any integers
					}
					z.Integers("groups", groups...)
					return
				}
				w := fitting.Work{Method: p.methods[0], X: func() mat.Matrix { return rows(0, n) }}
				found, err := w.Classify(t.Context(), e, nil, drawn.truth, func() mat.Matrix { return rows(n, len(d.Names)) }, drawn.testRows)
				if err != nil {
					t.Fatal(err)
				}
				classes := make([]float64, len(found))
				for i := range found {
					classes[i] = float64(found[i] + 1)
				}
				z.List("predicted", classes)
			})
			writeResult(t, filepath.Join(folder, "v-"+name), draw, func(z *npz.Writer) { putMatrix(z, "V", d.Vectors) })
		}
		all := text(fmt.Sprintf("%s, nmf, {name: list, results: '%s/list-*'}, {name: vectors, results: '%s/v-*'}", c.own, folder, folder)) + "rank: 3\n"
		q := newPlan(t, all, set)
		records, err := q.Run(t.Context(), nil, RunOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(records); i += 4 {
			for _, r := range records[i+2 : i+4] {
				if want := records[i]; !maps.Equal(r.Scores, want.Scores) || r.Samples != want.Samples || len(r.Scores) == 0 {
					t.Errorf("%s has scores %v, but %s %v", r.Method, r.Scores, want.Method, want.Scores)
				}
			}
		}
		// A changed result is another trial, and other trials stay.
		d := readDraw(t, filepath.Join(dir, "k2-draw001.npz"))
		writeResult(t, filepath.Join(folder, "v-k2-draw001.npz"), d.lists["draw"].Text[0], func(z *npz.Writer) {
			putMatrix(z, "V", mat.DenseCopyOf(d.Vectors).Slice(0, len(d.Names), 2, 5))
		})
		changed := newPlan(t, all, set)
		for i, trial := range changed.trials {
			if (trial.id != q.trials[i].id) != (i == 3) {
				t.Errorf("trial %d: identity %s, before %s", i, trial.id, q.trials[i].id)
			}
		}
		if _, err := q.Run(t.Context(), nil, RunOptions{}); err == nil || !strings.Contains(err.Error(), "v-k2-draw001.npz changed during the run") {
			t.Errorf("a changed file during the run: %v", err)
		}
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestResultsFromElsewhereRefused: wrong results are found before anything runs, with the file and the value.
func TestResultsFromElsewhereRefused(t *testing.T) {
	set := testkit.CSV(t, 9, 10, 11)
	folder := t.TempDir()
	t.Chdir(folder)
	text := strings.Replace(fmt.Sprintf(scoredElsewhere, "cluster", "{name: theirs, results: '*.npz'}"), "[2, 3]", "3", 1)
	load := func(text string) error {
		e, err := spec.Parse([]byte(text))
		if err != nil {
			return err
		}
		e.Data.Set = set
		in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
		if err != nil {
			return err
		}
		defer in.Close()
		if _, err = NewPlan(t.Context(), e, in); err == nil || !strings.Contains(err.Error(), "but the experiment has") {
			if early := CheckSet(t.Context(), e, in.Set); fmt.Sprint(early) != fmt.Sprint(err) {
				t.Errorf("before features: %v, after them: %v", early, err)
			}
		}
		return err
	}
	p := newPlan(t, strings.Replace(text, "{name: theirs, results: '*.npz'}", "kmeans", 1), set)
	groups := slices.Repeat([]int{1, 2, 3}, 10)
	good := func() {
		for id := range p.eachDraw {
			writeResult(t, id.String()+".npz", p.identity(id), func(z *npz.Writer) { z.Integers("groups", groups...) })
		}
	}
	draw := p.identity(drawID{3, 0})
	of := func(put func(z *npz.Writer)) func() {
		return func() { writeResult(t, "k3-draw001.npz", draw, put) }
	}
	for want, change := range map[string]func(){
		"": func() {},
		"theirs: no file *.npz has the result of": func() { os.Remove("k3-draw002.npz") },
		"a.npz and k3-draw001.npz are both results of theirs for the draw set-k3-draw001": func() {
			writeResult(t, "a.npz", draw, func(z *npz.Writer) { z.Integers("groups", groups...) })
		},
		"a.npz: zip: not a valid zip file":                          func() { os.WriteFile("a.npz", []byte("text"), 0o666) },
		"a.npz: no array draw":                                      func() { writeResult(t, "a.npz", "", func(*npz.Writer) {}) },
		"k3-draw001.npz: groups (29 <i8): expected 30 values":       of(func(z *npz.Writer) { z.Integers("groups", groups[1:]...) }),
		"k3-draw001.npz: groups (30 <f8): value 2 is 1.5; expected": of(func(z *npz.Writer) { z.List("groups", append([]float64{1, 1.5}, make([]float64, 28)...)) }),
		"value 1 is -Inf; expected an integer from -9007":           of(func(z *npz.Writer) { z.List("groups", append([]float64{math.Inf(-1)}, make([]float64, 29)...)) }),
		"k3-draw001.npz: V (3×2 <f8): expected 30 rows":             of(func(z *npz.Writer) { putMatrix(z, "V", mat.NewDense(3, 2, nil)) }),
		"value 3 is NaN; expected a finite number":                  of(func(z *npz.Writer) { x := mat.NewDense(30, 2, nil); x.Set(1, 0, math.NaN()); putMatrix(z, "V", x) }),
		"k3-draw001.npz: expected one dense array of numbers, groups or V": of(func(z *npz.Writer) {
			z.Integers("groups", groups...)
			putMatrix(z, "V", mat.NewDense(30, 2, nil))
		}),
		"expected one dense array of numbers": of(func(z *npz.Writer) { z.Integers("predicted", groups...) }),
		`draw is "set-k3-draw001-0123", but the experiment has "` + draw: func() {
			writeResult(t, "k3-draw001.npz", "set-k3-draw001-0123", func(z *npz.Writer) { z.Integers("groups", groups...) })
		},
	} {
		good()
		os.Remove("a.npz")
		change()
		if err := load(text); want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
	good()
	os.Remove("a.npz")
	if err := load(strings.Replace(text, "repeats: 2", "repeats: 1", 1)); err != nil {
		t.Errorf("results of more repeats: %v", err)
	}
	if err := load(strings.Replace(text, "seed: 5", "seed: 6", 1)); err == nil || !strings.Contains(err.Error(), "seed changed") {
		t.Errorf("another seed: %v", err)
	}
	for settings, want := range map[string]string{
		"name: nmf, results: x":               "nmf is a method of partwise; give the results another name",
		"name: theirs, results: x, init: nmf": `theirs has no parameter "init"`,
		"name: theirs, results: '['":          "expected a pattern of files",
		"name: theirs":                        `unknown method "theirs"`,
		"name: ' ', results: x":               "the method has no name",
	} {
		if err := load(strings.Replace(text, "name: theirs, results: '*.npz'", settings, 1)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", settings, err)
		}
	}
}
