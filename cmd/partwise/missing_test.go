package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
)

// vectorsOf returns the vectors of a file.
func vectorsOf(t *testing.T, file string) mat.Matrix {
	t.Helper()
	c, err := vectorfile.Open(t.Context(), file, vectorfile.Options{Missing: true})
	if err != nil {
		t.Fatal(err)
	}
	return c.Vectors
}

// TestImpute: observed values stay, and all formats and the factors agree on the missing ones.
func TestImpute(t *testing.T) {
	workplace(t)
	said := must(t, "impute", "ratings.csv", "--rank", "2", "--seed", "3", "--out", "filled.csv")
	if want := "6 of 20 values were missing; nmf of rank 2 filled them in: filled.csv.\n"; said != want {
		t.Errorf("printed %q, want %q", said, want)
	}
	must(t, "impute", "ratings.csv", "--rank", "2", "--seed", "3", "--out", "filled.npz")
	said = must(t, "fit", "ratings.csv", "--missing", "nan", "--rank", "2", "--seed", "3", "--out", "factors.npz")
	if !strings.Contains(said, "error ‖X − V·Uᵀ‖/‖X‖ is") {
		t.Errorf("fit printed %q", said)
	}
	must(t, "apply", "factors.npz", "ratings.csv", "--missing", "nan", "--out", "codes.npz")
	before, after, packed := vectorsOf(t, "ratings.csv"), vectorsOf(t, "filled.csv"), vectorsOf(t, "filled.npz")
	for i := range 5 {
		for j := range 4 {
			was, is := before.At(i, j), after.At(i, j)
			if is != packed.At(i, j) || !math.IsNaN(was) && was != is || math.IsNaN(is) {
				t.Errorf("row %d, column %d: %v became %v in CSV, %v in NumPy", i+1, j+1, was, is, packed.At(i, j))
			}
		}
	}
	// A file of weights says the same as empty cells.
	zeros := "name,a,b,c,d\n"
	weights := zeros
	for i := range 5 {
		for _, text := range []*string{&zeros, &weights} {
			*text += fmt.Sprintf("u%d", i+1)
		}
		for j := range 4 {
			v, w := before.At(i, j), 1
			if math.IsNaN(v) {
				v, w = 9, 0
			}
			zeros, weights = zeros+fmt.Sprintf(",%v", v), weights+fmt.Sprintf(",%d", w)
		}
		zeros, weights = zeros+"\n", weights+"\n"
	}
	write(t, "zeros.csv", zeros)
	write(t, "weights.csv", weights)
	must(t, "impute", "zeros.csv", "--weights", "weights.csv", "--rank", "2", "--seed", "3", "--out", "same.csv")
	if read(t, "same.csv") != read(t, "filled.csv") {
		t.Errorf("by weights:\n%s\nby empty cells:\n%s", read(t, "same.csv"), read(t, "filled.csv"))
	}
}

// TestMissingRefused: every part that does not support missing values says so before work starts.
func TestMissingRefused(t *testing.T) {
	workplace(t)
	write(t, "whole.csv", "a,b\n1,2\n3,4\n2,1\n")
	write(t, "row.csv", "a,b\n1,2\n,\n2,1\n")
	write(t, "column.csv", "a,b\n1,\n2,\n2,\n")
	write(t, "wide.csv", "a,b,c\n1,2,3\n1,2,3\n1,2,3\n")
	write(t, "negative.csv", "a,b\n1,2\n1,-2\n1,2\n")
	write(t, "labelled.csv", "a,b,c,class\n1,,2,x\n3,4,,x\n,2,1,y\n1,1,,y\n")
	experiment := "data: {set: labelled.csv, missing: nan}\nclasses: [2]\nrepeats: 1\nrank: %s\nmethods: [%s]\nfeatures: {pixels: 32, normalise: %s}\n"
	write(t, "scaled.yaml", fmt.Sprintf(experiment, "2", "nmf", "l2"))
	write(t, "kmeans.yaml", fmt.Sprintf(experiment, "2", "nmf, kmeans", "none"))
	write(t, "fast.yaml", fmt.Sprintf(experiment, "2", "{name: parts, penalty: l1, unit-norm: true, solver: fast}", "none"))
	write(t, "whiten.yaml", strings.Replace(fmt.Sprintf(experiment, "2", "kmeans", "none"), "none}", "none, whiten: 0.1}", 1))
	write(t, "joined.yaml", strings.Replace(fmt.Sprintf(experiment, "2", "nmf", "none"), "{pixels: 32, normalise: none}", "[{pixels: 32, normalise: none}, {pixels: 32, normalise: none}]", 1))
	for args, want := range map[string]string{
		"fit ratings.csv --rank 2 --out x.npz":                               "ratings.csv: line 2: column 4 (c): \"\" is not a finite number; set missing to nan if the value is missing",
		"fit ratings.csv --missing nan --method cf --rank 2 --out x.npz":     "cf: basis concept supports no missing values",
		"fit ratings.csv --missing nan --method pca --rank 2 --out x.npz":    "pca: the method supports no missing values",
		"fit ratings.csv --missing nan --method ss-nmf --rank 2 --out x.npz": "ss-nmf: the method supports no missing values",
		"cluster ratings.csv -k 2 --missing nan --method kmeans --out x.npz": "kmeans: missing values and weights need a factorisation",
		"fit ratings.csv --missing zero --rank 2 --out x.npz":                "expected nan",
		"fit photos --missing nan --rank 2 --out x.npz":                      "photos: missing values and weights need vectors",
		"fit whole.csv --weights wide.csv --rank 2 --out x.npz":              "wide.csv: the weights are 3×3; expected 3×2, as the vectors, or 3×1",
		"fit whole.csv --weights negative.csv --rank 2 --out x.npz":          "whole: whole.csv row 2: column 2: weight -2; expected 0",
		"fit whole.csv --batch 2 --weights wide.csv --rank 2 --out x.npz":    "weights are not supported in batches",
		"impute whole.csv --rank 2 --out x.npz":                              "whole has no missing values",
		"impute row.csv --rank 1 --out x.npz":                                "row: row.csv row 2: all values are missing",
		"impute column.csv --rank 1 --out x.npz":                             "column 2: all values are missing",
		"impute ratings.csv --rank 1 --out x.txt":                            "x.txt",
		"run scaled.yaml": "set normalise to none",
		"run kmeans.yaml": "kmeans: missing values and weights need a factorisation",
		"run fast.yaml":   "the solver fast does not support missing values",
		"run joined.yaml": "not supported with joined features and visual words",
		"run whiten.yaml": "whitened or propagated",
	} {
		code, _, stderr := partwise(strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("partwise %s: exit code %d, %q; want %q", args, code, stderr, want)
		}
		if _, err := os.Stat("x.npz"); err == nil {
			t.Fatalf("partwise %s left a file", args)
		}
	}
}

// TestMissingExperiment runs experiments on vectors with missing values and weights. The methods of a draw of two classes
// see the weights of its samples: results change with them.
func TestMissingExperiment(t *testing.T) {
	workplace(t)
	text, weights := "class,a,b,c,d\n", "w\n"
	for i := range 24 {
		text += fmt.Sprintf("c%d", i%3)
		for j := range 4 {
			if v := fmt.Sprintf(",%d.%d", 1+(j+i%3)%3*2, (i*j)%10); (i+j)%4 > 0 {
				text += v
			} else {
				text += ","
			}
		}
		text += "\n"
		weights += fmt.Sprintf("%d\n", 1+i%5)
	}
	write(t, "holes.csv", text)
	write(t, "weights.csv", weights)
	for name, settings := range map[string]string{
		"holes":    "{set: holes.csv, missing: nan}\nclasses: [2]\nlabels: 30%\nmethods: [nmf, {name: nmf-kl, solver: fast}, cnmf, {name: gnmf, lambda: 1}]\n",
		"weights":  "{set: holes.csv, missing: nan, weights: weights.csv}\nclasses: [2]\nlabels: 30%\nmethods: [nmf]\n",
		"classify": "{set: holes.csv, missing: nan}\ntask: classify\ntrain: 4\ntest: rest\nmethods: [nmf, nmf-kl]\n",
		"auto":     "{set: holes.csv, missing: nan}\ncluster: {k: auto}\nrank: auto\nmethods: [{name: nmf, tune: {iterations: [5, 50], by: held-out}}]\n",
	} {
		if name != "auto" {
			settings += "rank: 3\n"
		}
		write(t, name+".yaml", "name: "+name+"\ndata: "+settings+"features: {pixels: 32, normalise: none}\nrepeats: 1\n")
		if _, out, stderr := partwise("run", name+".yaml"); !strings.Contains(out, " trials finished") {
			t.Errorf("%s printed\n%s%s", name, out, stderr)
		}
	}
	objective := func(name string) string {
		_, after, _ := strings.Cut(read(t, "results", name, "results.jsonl"), `"curve":`)
		return after[:min(len(after), 60)]
	}
	if objective("holes") == objective("weights") || objective("holes") == "" {
		t.Errorf("weights do not change the objective %s", objective("holes"))
	}
}

// TestMissingCluster: with a fifth of the values missing, cluster finds three clear classes, their number and the rank, and
// its model assigns samples with missing values. Draws hold missing values and weights.
func TestMissingCluster(t *testing.T) {
	workplace(t)
	text, weights, r := "name,class", "w\n", rand.New(rand.NewPCG(1, 1))
	for j := range 24 {
		text += fmt.Sprintf(",x%d", j+1)
	}
	for i := range 60 {
		text += fmt.Sprintf("\ns%d,c%d", i, i%3)
		for j := range 24 {
			switch v := math.Abs(r.NormFloat64()) / 5; {
			case r.Float64() < 0.2:
				text += ","
			case j/8 == i%3:
				text += fmt.Sprintf(",%.2f", v+3)
			default:
				text += fmt.Sprintf(",%.2f", v)
			}
		}
		weights += fmt.Sprintln(1 + i%2)
	}
	write(t, "holes.csv", text+"\n")
	write(t, "weights.csv", weights)
	out := must(t, "cluster", "holes.csv", "--missing", "nan", "-k", "auto", "--rank", "auto", "--weights", "weights.csv", "--min-size", "3", "--out", "groups")
	for _, want := range []string{"rank 3, chosen from 2 to 12", "3 groups (chosen from 2–20", "groups of 20, 20, 20", "AC  100.0 %"} {
		if !strings.Contains(out, want) {
			t.Errorf("cluster printed %q, want %q", out, want)
		}
	}
	m, _ := readModel(t.Context(), "groups")
	if m.Groups.Opened.Missing != "nan" || m.Groups.Opened.Weights != "weights.csv" { // for partwise explore
		t.Errorf("the model opens the data by %+v", m.Groups.Opened)
	}
	must(t, "assign", "groups", "holes.csv", "--missing", "nan", "--out", "assigned.csv")
	if found := read(t, "assigned.csv"); strings.Count(found, ",2,") != 20 {
		t.Errorf("assigned\n%s", found)
	}
	write(t, "draws.yaml", "{name: x, data: {set: holes.csv, missing: nan, weights: weights.csv}, features: {pixels: 32, normalise: none}, classes: [3], repeats: 1, methods: [nmf]}")
	must(t, "draws", "draws.yaml", "--out", "draws")
	variables, err := vectorfile.Variables(t.Context(), "draws/k3-draw001.npz")
	if err != nil {
		t.Fatal(err)
	}
	sum, missing := 0.0, false
	for _, v := range variables {
		switch v.Name {
		case "weights":
			sum = mat.Sum(v.Value)
		case "fea":
			missing = math.IsNaN(mat.Sum(v.Value))
		}
	}
	if sum != 90 || !missing {
		t.Errorf("a draw has weights of sum %v, and missing values: %v", sum, missing)
	}
}

// TestMask: pixels are missing where the mask is white, in commands and experiments, from a folder of pictures with other
// extensions and from one picture.
func TestMask(t *testing.T) {
	workplace(t)
	pgm := func(at func(r, c int) int) string {
		text := "P2\n8 8\n255\n"
		for i := range 64 {
			text += fmt.Sprintln(at(i/8, i%8))
		}
		return text
	}
	grey := func(i, r, c int) int { return 10 + (i%3+1)*((r+i%3)%4)*(c+2) }
	os.MkdirAll("faces", 0o777)
	os.MkdirAll("masks", 0o777)
	for i := range 12 {
		hidden := func(r, c int) bool { return r/2 == i%4 && c/3 == i/4 }
		write(t, fmt.Sprintf("masks/%d.pnm", i), pgm(func(r, c int) int {
			if hidden(r, c) {
				return 255
			}
			return 9
		}))
		write(t, fmt.Sprintf("faces/%d.pgm", i), pgm(func(r, c int) int {
			if hidden(r, c) {
				return 255 - grey(i, r, c)
			}
			return grey(i, r, c)
		}))
	}
	write(t, "masks/blank.pgm", pgm(func(r, c int) int { return 0 }))
	out := must(t, "impute", "faces", "--mask", "masks", "--features", "pixels=8", "--rank", "3", "--out", "filled.npz")
	if want := "64 of 768 values were missing; nmf of rank 3 filled them in: filled.npz.\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	filled := vectorsOf(t, "filled.npz")
	for i := range 12 {
		for j := range 64 {
			got, want := filled.At(i, j)*255, float64(grey(i, j/8, j%8))
			if math.Abs(got-want) > 12 {
				t.Errorf("image %d, row %d, column %d: %v, want %v", i, j/8, j%8, got, want)
			}
		}
	}
	write(t, "masked.yaml", "{name: masked, data: {set: faces, mask: masks, pattern: '{class}'}, features: {pixels: 4, normalise: none}, repeats: 1, rank: 2, methods: [nmf]}")
	_ = os.Remove("masks/3.pnm")
	for args, want := range map[string]string{
		"impute faces --mask masks --rank 2 --out x.npz": "mask masks: no picture 3 with any extension, the mask of 3.pgm",
		"run masked.yaml": "mask masks: no picture 3",
		"impute faces --mask none --rank 2 --out x.npz":                               "mask: no known set, file or folder is called \"none\"",
		"impute faces --mask masks/5.pnm --rank 2 --out x.npz":                        "all values are missing",
		"impute faces --mask masks/blank.pgm --features hog --rank 2 --out x.npz":     "the masks of faces need the pixels of images",
		"fit faces --mask masks/blank.pgm --features pixels=8 --rank 2 --out x.npz":   "the masks of faces need the pixels of images",
		"fit faces --mask masks/blank.pgm --batch 4 --rank 2 --out x.npz":             "weights and masks in batches",
		"fit faces --mask masks/blank.pgm --weights ratings.csv --rank 2 --out x.npz": "missing values and weights need vectors",
	} {
		code, _, stderr := partwise(strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("partwise %s: exit code %d, %q; want %q", args, code, stderr, want)
		}
	}
	must(t, "impute", "faces", "--mask", "masks/blank.pgm", "--features", "pixels=8", "--rank", "2", "--out", "whole.npz")
}

// TestRefusedEarly: settings that no trial can use are errors before work starts.
func TestRefusedEarly(t *testing.T) {
	workplace(t)
	write(t, "labelled.csv", "a,b,c,class\n1,2,3,x\n3,4,1,x\n2,2,1,y\n1,1,4,y\n")
	write(t, "fixed.csv", "1,2,3\n")
	experiment := "{name: x, data: labelled.csv, features: {pixels: 32, normalise: none}, classes: [2], labels: 1, repeats: 1, rank: %s, methods: [%s]}"
	write(t, "tri.yaml", fmt.Sprintf(experiment, "2", "{name: tri-nmf, feature-rank: 4}"))
	write(t, "white.yaml", fmt.Sprintf(experiment, "2", "{name: eccf, whitening: 0}"))
	write(t, "fixed.yaml", fmt.Sprintf(experiment, "auto", "{name: nmf, fixed-basis: fixed.csv}"))
	for args, want := range map[string]string{
		"run tri.yaml":   "tri-nmf: feature-rank 4: expected 1 to the number of features, 3",
		"run white.yaml": "eccf: whitening: expected a number from 1e-100",
		"run fixed.yaml": "rank auto ignores fixed basis vectors: set a rank, or remove fixed-basis",
		"cluster labelled.csv -k 2 --rank auto --method nmf,fixed-basis=fixed.csv --out x": "rank auto ignores fixed basis vectors",
	} {
		code, stdout, stderr := partwise(strings.Fields(args)...)
		if code == 0 || !strings.Contains(stderr, want) || strings.Contains(stdout+stderr, "repeat 1") {
			t.Errorf("partwise %s: exit code %d, %q; want %q", args, code, stderr, want)
		}
	}
	// A method that gives samples only labelled classes takes their number.
	write(t, "labels.csv", "file,class\nlabelled.csv row 1,x\nlabelled.csv row 3,y\n")
	for _, method := range []string{"self-training", "logistic", "eccf", "nmf,cluster=harmonic"} {
		if out := must(t, "cluster", "labelled.csv", "--labels", "labels.csv", "--method", method, "--rank", "2", "--out", "groups"); !strings.Contains(out, "in 2 groups of") {
			t.Errorf("%s printed %q", method, out)
		}
	}
}
