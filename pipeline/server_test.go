package pipeline_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// inMemory returns images of 16×16 pixels with stripes in two directions.
func inMemory(n int) *datasets.Set {
	const side = 16
	x := mat.NewDense(2*n, side*side, nil)
	set := &datasets.Set{Name: "stripes", Classes: []string{"across", "down"}, Height: side, Width: side, Vectors: x}
	random := rng.New(1, "pictures")
	for i := range 2 * n {
		for p := range side * side {
			at := [2]int{p / side, p % side}
			x.Set(i, p, float64(at[i/n]/4%2)*100+50*random.Float64())
		}
		set.Labels = append(set.Labels, i/n)
		set.Names = append(set.Names, fmt.Sprint("picture ", i))
	}
	return set
}

// TestServer: an experiment on data in memory runs in an HTTP handler that streams its progress. Closing the request
// ends it. Nothing is written to disk.
func TestServer(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	for _, name := range []string{"TMPDIR", "TMP", "HOME", "XDG_CACHE_HOME", "PARTWISE_CACHE"} {
		t.Setenv(name, here)
	}
	type result struct {
		records []record.Record
		trials  int
		err     error
	}
	ended := make(chan result, 1)
	run := func(ctx context.Context, w http.ResponseWriter, repeats int) (r result) {
		progress := func(what string, done, total int) {
			fmt.Fprintf(w, "%s %d of %d\n", what, done, total)
			w.(http.Flusher).Flush()
		}
		e := &spec.Experiment{
			Name: "served", Data: spec.Data{Set: "in memory"}, Repeats: repeats,
			Methods: spec.Methods{{Name: "nmf", Iterations: 20}, {Name: "kmeans"}},
		}
		in, err := input.PrepareSet(ctx, e, inMemory(20), input.PrepareOptions{Progress: progress})
		if err != nil {
			return result{err: err}
		}
		defer in.Close()
		plan, err := pipeline.NewPlan(ctx, e, in)
		if err != nil {
			return result{err: err}
		}
		r.trials = plan.Len()
		r.records, r.err = plan.Run(ctx, nil, pipeline.RunOptions{Progress: progress})
		return r
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repeats := 3
		if r.URL.Path == "/long" {
			repeats = 3000
		}
		ended <- run(r.Context(), w, repeats)
	}))
	defer server.Close()

	get := func(path string, read func(line string) (more bool)) result {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := server.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
			if !read(lines.Text()) {
				cancel()
				break
			}
		}
		return <-ended
	}
	var last string
	whole := get("/", func(line string) bool { last = line; return true })
	if whole.err != nil || len(whole.records) != 6 || last != "trials 6 of 6" {
		t.Errorf("a whole run: %d records, %v, the last line %q", len(whole.records), whole.err, last)
	}
	part := get("/long", func(line string) bool { return !strings.HasPrefix(line, "trials 5 ") })
	if !errors.Is(part.err, context.Canceled) || len(part.records) < 5 || len(part.records) >= part.trials {
		t.Errorf("a run that is cancelled: %d records of %d trials, %v", len(part.records), part.trials, part.err)
	}
	if files, err := os.ReadDir(here); err != nil || len(files) > 0 {
		t.Errorf("on disk there are %v, %v", files, err)
	}
}
