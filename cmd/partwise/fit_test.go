package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// array reads an array from a file.
func array(t *testing.T, file, name string) *mat.Dense {
	t.Helper()
	text := read(t, file)
	z, err := npz.Open(strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	values, shape, err := z.Floats(name, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	return mat.NewDense(shape[0], shape[1], values)
}

// writeArrays writes a file with arrays.
func writeArrays(t *testing.T, file string, arrays map[string]*mat.Dense) {
	t.Helper()
	var text bytes.Buffer
	z := npz.NewWriter(&text)
	for name, a := range arrays {
		n, m := a.Dims()
		z.Floats(name, []int{n, m}, a.RawRowView)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, file, text.String())
}

// TestFitFixtures: from given factors, fit finds the fixtures' factors after 1, 5 and 50 iterations.
func TestFitFixtures(t *testing.T) {
	fixtures, err := filepath.Abs(filepath.Join("..", "..", "factor", "testdata", "fixtures"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for file, method := range map[string]string{"nmf_f": "nmf", "nmf_kl": "nmf-kl", "cnmf": "cnmf", "cf": "cf", "ccf": "ccf", "gnmf": "gnmf"} {
		var f struct {
			Inputs struct {
				X      [][]float64
				Labels []int
				Lambda float64
				P      int
				Weight string
			}
			Init  map[string][][]float64
			After map[string]map[string]json.RawMessage
		}
		if err := json.Unmarshal([]byte(read(t, fixtures, file+".json")), &f); err != nil {
			t.Fatal(err)
		}
		x := testkit.Rows(f.Inputs.X).T()
		n, m := x.Dims()
		var table, labels strings.Builder
		for i := range n {
			for j := range m {
				fmt.Fprintf(&table, "%v,", x.At(i, j))
			}
			table.WriteString("\n")
			if f.Inputs.Labels != nil && f.Inputs.Labels[i] >= 0 {
				fmt.Fprintf(&labels, "%d,c%d\n", i+1, f.Inputs.Labels[i])
			}
		}
		write(t, "x.csv", strings.ReplaceAll(table.String(), ",\n", "\n"))
		write(t, "labels.csv", labels.String())
		tied := func(z *mat.Dense) *mat.Dense {
			if f.Inputs.Labels == nil {
				return z
			}
			_, k := z.Dims()
			v, next := mat.NewDense(n, k, nil), slices.Max(f.Inputs.Labels)+1
			for i, c := range f.Inputs.Labels {
				if c < 0 {
					c, next = next, next+1
				}
				v.SetRow(i, z.RawRowView(c))
			}
			return v
		}
		start := map[string]*mat.Dense{}
		for from, to := range map[string]string{"U": "basis", "W": "weights", "V": "coefficients", "Z": "coefficients"} {
			if a, ok := f.Init[from]; ok {
				if start[to] = testkit.Rows(a); from == "Z" {
					start[to] = tied(start[to])
				}
			}
		}
		writeArrays(t, "start.npz", start)
		if f.Inputs.Lambda > 0 {
			method += fmt.Sprintf(",lambda=%v,neighbours=%d,edges=%s", f.Inputs.Lambda, f.Inputs.P, f.Inputs.Weight)
		}
		for after, raw := range f.After {
			args := []string{"fit", "x.csv", "--method", method, "--solver", "mu", "--iterations", after, "--start", "start.npz", "--out", "found.npz", "--force", "--trace", "trace.csv"}
			if f.Inputs.Labels != nil {
				args = append(args, "--labels", "labels.csv")
			}
			must(t, args...)
			want := map[string][][]float64{}
			if err := json.Unmarshal(raw["normalised"], &want); err != nil {
				t.Fatal(err)
			}
			if z, ok := want["Z"]; ok {
				tiedRows := tied(testkit.Rows(z))
				want["V"] = nil
				for i := range n {
					want["V"] = append(want["V"], tiedRows.RawRowView(i))
				}
			}
			for from, to := range map[string]string{"U": "basis", "W": "weights", "V": "coefficients"} {
				if a, ok := want[from]; ok {
					testkit.Near(t, fmt.Sprintf("%s after %s iterations: %s", file, after, from), array(t, "found.npz", to), testkit.Rows(a), 1e-9)
				} else if from == "V" {
					t.Errorf("%s: no %s among the fixture's", file, from)
				}
			}
			lines := strings.Split(strings.TrimSpace(read(t, "trace.csv")), "\n")
			last := strings.Split(lines[len(lines)-1], ",")
			objective, err := strconv.ParseFloat(last[2], 64)
			var fixture float64
			if err := json.Unmarshal(raw["objective"], &fixture); err != nil {
				t.Fatal(err)
			}
			if err != nil || lines[0] != "iteration,seconds,objective" || last[0] != after || math.Abs(objective-fixture) > 1e-9*(1+math.Abs(fixture)) {
				t.Errorf("%s after %s iterations: the trace ends with %v, want the objective %v", file, after, last, fixture)
			}
		}
	}
}

// TestFitAndApply: training samples are represented as well as in the fit, by every kind of model, and the same command
// writes equal bytes.
func TestFitAndApply(t *testing.T) {
	workplace(t)
	for _, c := range []struct{ data, line string }{
		{"generated", "--method nmf --rank 6"},
		{"generated", "--method nmf-kl --rank 6 --solver fast --iterations 60"},
		{"photos", "--method cf,kernel=rbf --rank 4 --features hog"},
		{"photos", "--method pca --rank 4"},
		{"photos", "--method sparse-coding --rank 4 --iterations 5"},
		{"photos", "--method cnmf --rank 4 --labels labels.csv --features sift={step:4,bins:2},words=9,grid=2x2,idf=true"},
	} {
		args := append([]string{"fit", c.data}, strings.Fields(c.line)...)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], ":", ": ")
		}
		said := must(t, append(args, "--out", "m.npz", "--force")...)
		first := read(t, "m.npz")
		must(t, append(args, "--out", "m.npz", "--force")...)
		if read(t, "m.npz") != first {
			t.Errorf("%s: the file of a second run differs", c.line)
		}
		applied := must(t, "apply", "m.npz", c.data, "--out", "codes.npz", "--force")
		set, err := datasets.Open(t.Context(), "codes.npz", datasets.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		was := array(t, "m.npz", "coefficients")
		n, k := was.Dims()
		if p, q := set.Vectors.Dims(); p != n || q != k || !strings.Contains(applied, fmt.Sprintf("%d samples × %d coefficients", n, k)) {
			t.Fatalf("%s: %d×%d codes, want %d×%d; said %q", c.line, p, q, n, k, applied)
		}
		of := func(text string) float64 {
			_, text, _ = strings.Cut(text, "‖X − V·Uᵀ‖/‖X‖ is ")
			x, err := strconv.ParseFloat(strings.TrimSuffix(strings.Fields(text + " -")[0], "."), 64)
			if err != nil && !strings.Contains(c.line, "kernel") { // which has no basis among the features
				t.Errorf("%s: said %q", c.line, text)
			}
			return x
		}
		if before, now := of(said), of(applied); now > before+1e-4 || now < before*0.8 && !strings.Contains(c.line, "cnmf") {
			t.Errorf("%s: the error is %v, and was %v", c.line, now, before)
		}
	}
}

// TestFitInBatches: coefficients in batches agree with apply, and nothing is left of their temporary file.
func TestFitInBatches(t *testing.T) {
	workplace(t)
	head := "\x93NUMPY\x01\x00\x76\x00{'descr': '|u1', 'fortran_order': False, 'shape': (60, 16), }"
	values := []byte(fmt.Sprintf("%-127s\n", head))
	for i := range 60 * 16 {
		values = append(values, byte(1+i*i%(7+i%5)))
	}
	write(t, "x.npy", string(values))
	holes := strings.Replace(string(values), "|u1", "<f4", 1)[:128]
	for i, v := range values[128:] {
		if x := float32(v); i%7 > 0 {
			holes += string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(x)))
		} else {
			holes += string(binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN()))))
		}
	}
	write(t, "holes.npy", holes)
	for data, line := range map[string]string{"photos": "--features pixels=6", "x.npy": "", "holes.npy": "--missing nan --iterations 40"} {
		flags := strings.Fields(line)
		must(t, append([]string{"fit", data, "--batch", "20", "--rank", "4", "--out", "m.npz", "--force"}, flags...)...)
		if len(flags) > 2 {
			flags = flags[:2] // of apply too
		} else {
			flags = nil
		}
		must(t, append([]string{"apply", "m.npz", data, "--out", "codes.npz", "--force"}, flags...)...)
		set, err := datasets.Open(t.Context(), "codes.npz", datasets.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		was := array(t, "m.npz", "coefficients")
		size := mat.Norm(was, 2)
		if was.Sub(was, set.Vectors); !(mat.Norm(was, 2) < 0.05*size) {
			t.Errorf("%s: the coefficients differ by %v of %v", data, mat.Norm(was, 2), size)
		}
	}
	if left, err := filepath.Glob(".partwise-*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestApplyOfRun: the models of an experiment represent their training samples.
func TestApplyOfRun(t *testing.T) {
	workplace(t)
	must(t, "run", "--set", "photos,pattern={class}-*", "--method", "nmf,iterations=20", "--method", "pca", "--features", "sift={step: 4,bins: 2},words=9,grid=2x2,idf=true+colour,weight=0.5",
		"--task", "classify", "--train", "9", "--test", "9", "--rank", "5", "--repeats", "1", "--out", "ran")
	files, err := filepath.Glob("ran/models/*-*.npz")
	if err != nil || len(files) != 2 {
		t.Fatalf("models %v, %v", files, err)
	}
	for _, file := range files {
		out := must(t, "apply", file, "photos", "--pattern", "{class}-*", "--out", "codes.npz", "--force")
		if !strings.Contains(out, "72 samples × 5 coefficients are in") {
			t.Errorf("%s: printed %q", file, out)
		}
		codes, err := datasets.Open(t.Context(), "codes.npz", datasets.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		was := array(t, file, "coefficients")
		n, _ := was.Dims()
		// pca has the projections of the samples, in any order.
		found := 0
		for i := range n {
			for j := range 72 {
				if mat.EqualApprox(was.RowView(i), mat.DenseCopyOf(codes.Vectors).RowView(j), 1e-9) {
					found++
					break
				}
			}
		}
		if strings.Contains(file, "pca") && found < n {
			t.Errorf("%s: %d of %d samples have their coefficients", file, found, n)
		}
	}
}

// TestFitMistakes: impossible input is one error before an image is read.
func TestFitMistakes(t *testing.T) {
	workplace(t)
	must(t, "fit", "generated", "--rank", "3", "--iterations", "2", "--out", "m.npz")
	must(t, "cluster", "photos", "-k", "2", "--method", "kmeans", "--out", "groups")
	write(t, "photos/broken.png", "no picture")
	write(t, "there.npz", "mine")
	write(t, "x.csv", "1,2\n3,4\n5,6\n")
	nan := mat.NewDense(3, 2, []float64{1, 2, 3, 4, math.NaN(), 6})
	writeArrays(t, "nan.npz", map[string]*mat.Dense{"coefficients": nan})
	writeArrays(t, "other.npz", map[string]*mat.Dense{"codes": mat.NewDense(2, 2, []float64{1, 2, 3, 4})})
	writeArrays(t, "two.npz", map[string]*mat.Dense{"coefficients": mat.NewDense(2, 2, []float64{1, 2, 3, 4})})
	writeArrays(t, "ranks.npz", map[string]*mat.Dense{"basis": mat.NewDense(2, 1, []float64{1, 2}), "coefficients": mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})})
	writeArrays(t, "basis.npz", map[string]*mat.Dense{"basis": mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6})})
	for line, want := range map[string]string{
		"fit":                                                            "partwise fit DATA",
		"fit photos --rank 2":                                            "--out is missing",
		"fit photos --out m2.npz":                                        "set rank to 1 or more",
		"fit photos --rank 0 --out m2.npz":                               "rank 0: expected 1 or more",
		"fit photos --rank 2 --out m2.csv":                               "the name must end in .npz",
		"fit photos --rank 2 --out there.npz":                            "there.npz already exists; --force replaces it",
		"fit photos --rank 2 --out no/m2.npz":                            "no",
		"fit photos --rank 200 --out m2.npz":                             "rank 200 is above the number of samples of photos, 73",
		"fit photos --rank 2 --strict --out m2.npz":                      "broken.png",
		"fit photos --rank 2 --method nope --out m2.npz":                 `unknown method "nope"`,
		"fit photos --rank 2 --method kmeans --out m2.npz":               "kmeans does not factorise; choose another method (see partwise methods)",
		"fit photos --rank 2 --method cnmf --out m2.npz":                 "cnmf needs labels of some samples",
		"fit photos --rank 2 --method pca --start m.npz --out m2.npz":    "the factors have rank 3, but --rank is 2",
		"fit photos --method pca --start m.npz --out m2.npz":             "pca does not support initial factors",
		"fit photos --rank 2 --batch 0 --out m2.npz":                     "--batch: 0 samples per batch; expected 1 or more",
		"fit photos --rank 2 --batch 9 --method gnmf --out m2.npz":       "--batch: gnmf needs all samples in memory",
		"fit photos --rank auto --batch 9 --out m2.npz":                  "--rank auto needs all samples in memory: set a rank, or remove --batch",
		"fit photos --rank 2 --solver nope --out m2.npz":                 `unknown solver "nope"`,
		"fit x.csv --start nan.npz --out m2.npz":                         `the array "coefficients", row 3, column 1: value NaN; expected 0 or more`,
		"fit x.csv --start other.npz --out m2.npz":                       "none of the arrays basis, coefficients, weights",
		"fit x.csv --start ranks.npz --out m2.npz":                       `the array "coefficients" has rank 2, but "basis" has rank 1`,
		"fit x.csv --start two.npz --out m2.npz":                         `the array "coefficients" is 2×2; expected 3×2`,
		"fit x.csv --start basis.npz --out m2.npz":                       "the initial basis vectors are 3×2; expected 2×2",
		"fit x.csv --start there.npz --out m2.npz":                       "there.npz",
		"fit x.csv --start x.csv --out x.csv.npz --trace x.csv --rank 2": "the input x.csv would be replaced",
		"fit x.csv --rank 2 --out m2.npz --trace m2.npz":                 "--out and --trace are both m2.npz",
		"apply m.npz generated":                                          "--out is missing",
		"apply m.npz generated --out c.txt":                              "c.txt",
		"apply m.npz photos --out c.npz":                                 "the samples of photos are image files",
		"apply m.npz x.csv --out c.npz":                                  "vectors of 2 values, but",
		"apply groups photos --out c.npz":                                "the model has no basis vectors; use partwise assign",
		"apply m.npz generated --out m.npz --force":                      "the input m.npz would be replaced",
		"assign m.npz generated":                                         "the model has no groups",
	} {
		if code, _, stderr := partwise(strings.Fields(line)...); code == exitDone || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("partwise %s: exit code %d, said %q, want %q", line, code, stderr, want)
		}
	}
	if read(t, "there.npz") != "mine" {
		t.Error("a refusal changed a file")
	}
	for _, file := range []string{"m2.npz", "c.npz"} {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("a rejected command created %s", file)
		}
	}
	if _, _, stderr := partwise("fit", "photos", "--rank", "2", "--iterations", "2", "--out", "m2.npz"); !strings.Contains(stderr, "skipped 1 of 73 files: 1 ") {
		t.Errorf("said %q", stderr)
	}
}

// TestFeatures checks that every format holds the features of an experiment, and that saved words give equal histograms.
func TestFeatures(t *testing.T) {
	workplace(t)
	const sift = "sift={step: 4, bins: 2},words=9,grid=2x2"
	var first *datasets.Set
	for _, file := range []string{"f.npz", "f.mat", "f.csv"} {
		out := must(t, "features", "photos", "--pattern", "{class}-*", "--features", sift, "--words", "words-"+file[2:]+".npz", "--out", file)
		if !strings.Contains(out, "36 features") || !strings.Contains(out, "are in "+file) {
			t.Errorf("said %q", out)
		}
		set, err := datasets.Open(t.Context(), file, datasets.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = set
		}
		if !mat.Equal(set.Vectors, first.Vectors) || len(set.Classes) != len(first.Classes) || set.Names[0] != first.Names[0] {
			t.Errorf("%s differs from f.npz", file)
		}
	}
	must(t, "features", "photos", "--features", "sift={step: 4, bins: 2},words={from: words-npz.npz},grid=2x2", "--no-cache", "--out", "again.npz")
	again, err := datasets.Open(t.Context(), "again.npz", datasets.OpenOptions{})
	if err != nil || !mat.Equal(again.Vectors, first.Vectors) {
		t.Errorf("saved words make other histograms: %v", err)
	}
	if out := must(t, "cluster", "photos", "-k", "2", "--features", sift); !strings.Contains(out, "in 2 groups") {
		t.Errorf("said %q", out)
	}

	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"features", "photos"}, "--out is missing", exitUsage},
		{[]string{"features", "photos", "--out", "f.txt"}, "f.txt", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--words", "w.npz"}, "--words", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words=0"}, "whole number", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words=9", "--cache", "c", "--no-cache"}, "no-cache", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words={from: missing.npz}"}, "missing.npz", exitFailed},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words=100000"}, "100000", exitFailed},
	} {
		var stdout, stderr shared
		if code := run(c.args, &stdout, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit code %d, said %q; want code %d and a line with %q", c.args, code, stderr.String(), c.code, c.want)
		}
	}

	// A photograph smaller than a patch is named, or skipped.
	if err := os.WriteFile(filepath.Join("photos", "tiny.pgm"), []byte("P5 3 3 255\nabcabcabc"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr shared
	if code := run([]string{"features", "photos", "--features", sift, "--strict", "--out", "new.npz"}, &stdout, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "tiny.pgm: no descriptors: the image has 3×3 pixels") {
		t.Errorf("exit code %d, said %q", code, stderr.String())
	}
	stderr.Reset()
	if code := run([]string{"features", "photos", "--features", sift, "--out", "new.npz"}, &stdout, &stderr); code != exitDone || !strings.Contains(stderr.String(), "skipped 1 of 73 files: 1 without features; see new.npz.skipped.csv") {
		t.Errorf("exit code %d, said %q", code, stderr.String())
	}
}

// TestFeaturesTogether: joined features list the columns of each feature, and are equal with the scales that cluster
// saves.
func TestFeaturesTogether(t *testing.T) {
	workplace(t)
	const sift, colour = "sift={step: 4, bins: 2},words=9,grid=2x2,normalise=l1", "colour,grid=2x2,normalise=l1,weight=0.5"
	if out := must(t, "features", "photos", "--features", sift+"+"+colour, "--words", "w.npz", "--out", "f.csv"); !strings.Contains(out, "324 features") || !strings.Contains(out, ", of weight 0.5.") {
		t.Errorf("said %q", out)
	}
	text := read(t, "f.csv")
	heading, _, _ := strings.Cut(text, "\n")
	if columns := strings.Split(heading, ","); columns[2] != "sift1" || columns[37] != "sift36" || columns[38] != "colour1" || columns[len(columns)-1] != "colour288" {
		t.Errorf("the columns are %s", heading)
	}
	must(t, "cluster", "photos", "-k", "2", "--features", sift+"+"+colour)
	lines := strings.Split(strings.TrimSpace(read(t, filepath.Join("results", "photos-groups", "features.csv"))), "\n")
	if len(lines) != 3 || lines[0] != "feature,columns,scale" || !strings.HasPrefix(lines[1], "sift,36,") || !strings.HasPrefix(lines[2], "colour,288,") {
		t.Fatalf("the scales are %q", lines)
	}
	again := strings.Replace(sift, "9", "{from: w.npz}", 1) + ",scale=" + strings.Split(lines[1], ",")[2] + "+" + strings.Replace(colour, "weight=0.5", "scale="+strings.Split(lines[2], ",")[2], 1)
	must(t, "features", "photos", "--features", again, "--out", "again.csv")
	if read(t, "again.csv") != text {
		t.Error("with the same words and scales there are other features")
	}
	must(t, "cluster", "photos", "-k", "2", "--features", "hog")
	if _, err := os.Stat(filepath.Join("results", "photos-groups", "features.csv")); !os.IsNotExist(err) {
		t.Errorf("the scales of other features are left: %v", err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"features", "photos", "--features", "hog+colour", "--words", "v.npz", "--out", "new.npz"}, "--words needs"},
		{[]string{"cluster", "photos", "-k", "2", "--features", "hog+sift+sift"}, "only one of the joined features can be visual words; use several patch sizes (bins: [4, 8]) or grids (grid: 1x1+2x2)"},
		{[]string{"cluster", "photos", "-k", "2", "--batch", "10", "--features", "hog+colour"}, "features: joined features are not supported in batches; use one, such as pixels=32"},
		{[]string{"cluster", "photos", "-k", "2", "--method", "ntf", "--features", "pixels+pixels"}, "needs images"},
	} {
		if code, _, stderr := partwise(c.args...); code == exitDone || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, said %q, want a line with %q", c.args, code, stderr, c.want)
		}
	}
}

// cancelling cancels a context when a message about skipped files is written, after the features are computed.
type cancelling struct{ context.CancelFunc }

func (c cancelling) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("skipped")) {
		c.CancelFunc()
	}
	return len(p), nil
}

// TestFeaturesStopped checks that an interrupted features command reports the number of cached images.
func TestFeaturesStopped(t *testing.T) {
	workplace(t)
	write(t, "photos/bad.png", "of which a note tells before the file is written")
	ctx, cancel := context.WithCancel(t.Context())
	cmd := featuresCommand()
	cmd.SetErr(cancelling{cancel})
	cmd.SetArgs([]string{"photos", "--out", "f.npz"})
	cmd.SilenceUsage = true
	err := cmd.ExecuteContext(ctx)
	if err == nil || !strings.HasPrefix(err.Error(), "stopped while writing f.npz: no results were replaced; run the same command again to resume from the cache") {
		t.Errorf("error %v", err)
	}
}

// TestFewSmallPictures: photographs get network features even with icons among them, up to half.
func TestFewSmallPictures(t *testing.T) {
	dir := t.TempDir()
	add := func(name string, side int) string {
		path := filepath.Join(dir, name)
		var file bytes.Buffer
		if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 200, side))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	set := &datasets.Set{Files: []string{add("a.png", 64), add("b.png", 300), add("icon.png", 16), add("small.png", 63)}}
	if of := (spec.Features{Auto: true}).Resolve(set); !of.OfNetwork() {
		t.Errorf("features %v of photographs and icons", of)
	}
	set.Files = append(set.Files, add("third.png", 1))
	if of := (spec.Features{Auto: true}).Resolve(set); of.OfNetwork() {
		t.Errorf("features %v of icons and photographs", of)
	}
}
