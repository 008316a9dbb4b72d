package grouping

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// bars writes an IDX file of n images of 40×40 pixels, with a bright row, column or diagonal in each third of them, and
// returns its path.
func bars(t *testing.T, n int) string {
	t.Helper()
	data := []byte{0, 0, 8, 3, 0, 0, byte(n >> 8), byte(n), 0, 0, 0, 40, 0, 0, 0, 40}
	for i := range n {
		img := make([]byte, 1600)
		for j := range img {
			row, column := j/40, j%40
			if on := [3]bool{row == 7, column == 20, row == column}[3*i/n]; on {
				img[j] = byte(100 + (i*37+j)%150)
			} else {
				img[j] = byte((i*31 + j*17) % 5)
			}
		}
		data = append(data, img...)
	}
	path := filepath.Join(t.TempDir(), "images-idx3")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestBatch: groups are found in samples that exceed the memory together.
func TestBatch(t *testing.T) {
	const n = 3000
	ctx := input.WithMemory(t.Context(), 64<<20) // 24 MiB of them are available
	e := &spec.Experiment{Data: spec.Data{Set: bars(t, n)}}
	var none *memory.LimitError
	if in, err := input.Prepare(ctx, e, input.PrepareOptions{}); !errors.As(err, &none) {
		t.Fatalf("all samples in memory: %v and %v, want too little memory", in, err)
	}
	e.Data.OnDisk = true
	in, err := input.Prepare(ctx, e, input.PrepareOptions{InBlocks: true})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for _, method := range []string{"nmf", "nmf-kl", "cnmf"} {
		var epochs []int
		tied := method == "cnmf"
		if tied { // every tenth sample is labelled
			in.Set.Classes = []string{"row", "column", "diagonal"}
			for i := range in.Set.Labels {
				if in.Set.Labels[i] = -1; i%10 == 0 {
					in.Set.Labels[i] = 3 * i / n
				}
			}
		}
		g := Groups{UseLabels: tied, K: 3, Method: spec.Method{Name: method, Iterations: 2}, Batch: 90, Cluster: spec.Cluster{By: spec.KMeans}}
		found, err := g.Find(ctx, in, func(_ string, done, total int) { epochs = append(epochs, done, total) })
		if err != nil {
			t.Fatal(err)
		}
		for i, group := range found.Groups {
			if group != found.Groups[i/1000*1000] || i%1000 == 0 && i > 0 && group == found.Groups[i-1] {
				t.Fatalf("%s: sample %d is in group %d", method, i, group)
			}
		}
		if v := found.Result.Coefficients; tied && !mat.Equal(v.RowView(10), v.RowView(990)) {
			t.Error("labelled samples of a class have other coefficients")
		}
		if found.Result.Iterations() != 2 || len(epochs) < 4 || epochs[len(epochs)-1] != 2 {
			t.Errorf("%s: %d epochs, reported as %v", method, found.Result.Iterations(), epochs)
		}
	}
	if img, err := in.Images.Open(ctx, in.Rows[n-1]); err != nil || img.Bounds().Dx() != 40 {
		t.Errorf("the last image: %v", err)
	}
	if _, err := (Groups{K: 3, Method: spec.Method{Name: "nmf"}}).Find(ctx, in, nil); err == nil {
		t.Error("a grouping of all at once of inputs in blocks")
	}
}

// TestBatchRefuses: methods and features without a form for blocks are refused by name.
func TestBatchRefuses(t *testing.T) {
	for want, c := range map[string]struct {
		method   spec.Method
		batch    int
		features spec.Features
	}{
		"gnmf needs all samples in memory; batches are supported by nmf, nmf-kl, cnmf and cnmf-kl only":   {spec.Method{Name: "gnmf"}, 10, spec.Features{}},
		"kmeans needs all samples in memory; batches are supported by nmf, nmf-kl, cnmf and cnmf-kl only": {spec.Method{Name: "kmeans"}, 10, spec.Features{}},
		"solver mu":           {spec.Method{Name: "nmf", Solver: "mu"}, 10, spec.Features{}},
		"init nndsvda":        {spec.Method{Name: "nmf", Init: "nndsvda"}, 10, spec.Features{}},
		"0 samples per batch": {spec.Method{Name: "nmf"}, 0, spec.Features{}},
		"visual words":        {spec.Method{Name: "nmf"}, 10, spec.Features{Extractor: features.DenseSIFT{}}},
	} {
		err := Groups{K: 2, Method: c.method, Batch: c.batch}.CheckBatch(c.features)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want %q", err, want)
		}
	}
	in, err := input.Prepare(t.Context(), &spec.Experiment{Data: spec.Data{Set: bars(t, 9)}}, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	if _, err := (Groups{K: 3, Method: spec.Method{Name: "nmf"}, Batch: 9}).Find(t.Context(), in, nil); err == nil {
		t.Error("blocks of inputs that are in memory")
	}
}
