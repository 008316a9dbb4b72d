// Package golden holds one test: the same seed gives the same bytes on every processor and on any number of cores.
package golden

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/vocab"
)

var update = flag.Bool("update", false, "write the digests")

const digests = "testdata/digests.json"

// TestDigests compares results with digests that must be the same on all processors. Run it with
// GODEBUG=cpu.avx512f=off, cpu.avx2=off or cpu.fma=off, or on another architecture built with
// -gcflags=all=-d=fmahash=qn.
func TestDigests(t *testing.T) {
	want := map[string]string{}
	if !*update {
		text, err := os.ReadFile(digests)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
	}
	cores := []int{1, 3}
	if testing.Short() { // as on an emulated processor
		cores = cores[:1]
	}
	for _, cores := range cores {
		restore := parallel.SetCores(cores)
		got := compute(t)
		restore()
		if *update && cores == 1 {
			want = got
		}
		names := slices.Sorted(maps.Keys(got))
		if all := slices.Sorted(maps.Keys(want)); !slices.Equal(names, all) && !testing.Short() {
			t.Errorf("there are digests of %v, want %v", names, all)
		}
		for _, name := range names {
			if got[name] != want[name] {
				t.Errorf("%s, %d cores: got %s, want %s", name, cores, got[name], want[name])
			}
		}
	}
	if *update {
		text, err := json.MarshalIndent(want, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(digests, append(text, '\n'), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// samples returns n images of 6×8 pixels in three classes, a third of them labelled.
func samples(n int) (x *mat.Dense, labels []int) {
	src := rand.New(rand.NewPCG(1, 2))
	const columns = 48
	x, labels = mat.NewDense(n, columns, nil), make([]int, n)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = src.Float64()
			if j%3 == i%3 {
				row[j]++
			}
		}
		if labels[i] = i % 3; i%9 > 2 {
			labels[i] = -1
		}
	}
	return x, labels
}

func compute(t *testing.T) map[string]string {
	ctx := t.Context()
	got := map[string]string{}
	digest := func(name string, values ...any) {
		sum := sha256.New()
		for _, v := range values {
			switch v := v.(type) {
			case *mat.Dense:
				if v != nil {
					binary.Write(sum, binary.LittleEndian, mat.DenseCopyOf(v).RawMatrix().Data)
				}
			case []int:
				fmt.Fprintln(sum, v)
			default:
				if err := binary.Write(sum, binary.LittleEndian, v); err != nil {
					t.Fatal(err)
				}
			}
		}
		got[name] = hex.EncodeToString(sum.Sum(nil)[:8])
	}
	x, labels := samples(90)
	for _, info := range factor.Methods() {
		method, err := info.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		method = factor.ForImages(method, factor.Image{Height: 6, Width: 8})
		for _, solver := range []string{"", "mu"} {
			options := factor.Options{Rank: 6, Iterations: 12, Seed: 3}
			if solver == "mu" {
				options.Solver = factor.Multiplicative{}
			}
			if info.Name == "cf-ogl" { // eigenvectors of all samples in each iteration
				options.Iterations = 3
			}
			r, err := method.Fit(ctx, x, factor.Known{Labels: labels}, options)
			if err != nil {
				if solver == "" {
					t.Errorf("%s: %v", info.Name, err)
				}
				continue
			}
			digest("factors of "+info.Name+" "+solver, r.Basis, r.Coefficients, r.Objective)
		}
	}
	for _, info := range cluster.Algorithms() {
		params := map[string]any{}
		if slices.ContainsFunc(info.Settings(), func(s settings.Setting) bool { return s.Name == "start" }) {
			params["start"] = "k-means++"
		}
		by, err := info.New(params)
		if err != nil {
			t.Fatal(err)
		}
		r, err := by.Cluster(ctx, x, 3, cluster.Known{Labels: labels}, 5)
		if err != nil {
			t.Fatalf("%s: %v", info.Name, err)
		}
		digest("clusters of "+info.Name, r.Labels, r.Centres, r.Objective)
	}
	src := rand.New(rand.NewPCG(3, 4))
	vectors := make([]uint8, 16*1000)
	for i := range vectors {
		vectors[i] = uint8(src.IntN(200))
	}
	for _, by := range []vocab.Training{{}, {Method: vocab.MethodMiniBatch}} {
		by.Words, by.Seed, by.MaxIterations = 30, 1, 5
		words, err := by.Train(ctx, vectors, 16)
		if err != nil {
			t.Fatal(err)
		}
		digest(fmt.Sprintf("words by %v", by.Method), words.Words)
	}
	set := &datasets.Set{Name: "images", Vectors: images(2), Height: 40, Width: 40}
	for i := range 2 {
		set.Names, set.Labels = append(set.Names, fmt.Sprint("image ", i)), append(set.Labels, -1)
	}
	extractors := map[string]features.RowExtractor{"network": features.Network{}, "hog": features.HOG{}}
	if testing.Short() {
		delete(extractors, "network")
	}
	for name, by := range extractors {
		m, err := features.Extract(ctx, set, by, features.Options{})
		if err != nil {
			t.Fatal(err)
		}
		digest("features of "+name, mat.DenseCopyOf(m.X))
	}
	digest("records of an experiment", []byte(experiment(t)))
	return got
}

func images(n int) *mat.Dense {
	src := rand.New(rand.NewPCG(5, 6))
	x := mat.NewDense(n, 40*40, nil)
	x.Apply(func(i, j int, _ float64) float64 { return float64(src.IntN(256)) / 255 }, x)
	return x
}

// experiment returns the records of an experiment, without times and the properties of the machine.
func experiment(t *testing.T) string {
	x, labels := samples(60)
	for i := range labels {
		labels[i] = i % 3
	}
	file := filepath.Join(t.TempDir(), "data.csv")
	set := &datasets.Set{Name: "data", Vectors: x, Labels: labels, Classes: []string{"a", "b", "c"}}
	for i := range labels {
		set.Names = append(set.Names, fmt.Sprint("row ", i))
	}
	if err := vectorfile.Write(t.Context(), file, set.Content()); err != nil {
		t.Fatal(err)
	}
	e, err := spec.Parse([]byte("name: golden\ndata: " + file + `
methods: [kmeans, ncut, pca, lda, {name: nmf, iterations: 60}, {name: cnmf, iterations: 60}, {name: ccf, iterations: 60}]
classes: 2..3
repeats: 2
labels: 30%
`))
	if err != nil {
		t.Fatal(err)
	}
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	plan, err := pipeline.NewPlan(t.Context(), e, in)
	if err != nil {
		t.Fatal(err)
	}
	records, err := plan.Run(t.Context(), nil, pipeline.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, line...)
	}
	return string(text)
}
