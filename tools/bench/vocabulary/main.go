// Command vocabulary compares the learning of visual words with
// scikit-learn's: on the same descriptors, in turn, with several seeds.
//
//	go run ./bench/vocabulary
//
// The descriptors are dense SIFT of the set scenes13 where it is found (see
// the environment variable PARTWISE_DATA), and else of generated images. It
// needs a Python with scikit-learn.
package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sync/errgroup"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/tools/bench/internal/row"
	"github.com/seed4492f2cd/partwise/vocab"
)

//go:embed scikit.py
var script string

func main() {
	var c comparison
	pflag.IntVar(&c.descriptors, "descriptors", 100_000, "number of descriptors")
	pflag.IntVar(&c.words, "words", 200, "number of words")
	pflag.IntVar(&c.seeds, "seeds", 5, "number of seeds")
	pflag.StringVar(&c.python, "python", "python3", "the Python that has scikit-learn")
	pflag.BoolVar(&c.asJSON, "json", false, "print rows for bench/main.go")
	pflag.Parse()
	c.seeds = max(c.seeds, 1)
	if err := c.run(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "vocabulary:", err)
		os.Exit(1)
	}
}

type comparison struct {
	descriptors, words, seeds int
	python                    string
	asJSON                    bool
	version                   string // of scikit-learn

	dir    string
	sample []uint8
	dim    int
}

func (c *comparison) run(ctx context.Context) (err error) {
	if c.dir, err = os.MkdirTemp("", "vocabulary"); err != nil {
		return err
	}
	defer os.RemoveAll(c.dir)
	name, err := c.describe(ctx)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.file("descriptors"), c.sample, 0o600); err != nil {
		return err
	}
	problem := fmt.Sprintf("%d words from %d descriptors of %s", c.words, len(c.sample)/c.dim, name)
	if !c.asJSON {
		fmt.Printf("%s, %d processors\n", problem, runtime.GOMAXPROCS(0))
	}
	for _, m := range []vocab.Method{vocab.MethodLloyd, vocab.MethodMiniBatch} {
		var ours, theirs results
		for seed := range c.seeds {
			if err := c.ours(ctx, m, seed, &ours); err != nil {
				return err
			}
			if err := c.theirs(ctx, m, seed, &theirs); err != nil {
				return err
			}
		}
		ratio := mean(ours.objectives) / mean(theirs.objectives)
		if c.asJSON {
			r := row.Row{
				Problem: problem + ", " + m.String(), Beside: "scikit-learn " + c.version, Theirs: theirs.seconds, Ours: ours.seconds,
				Note: fmt.Sprintf("objective %+.2f %%", 100*(ratio-1)),
			}
			if err := r.Write(os.Stdout); err != nil {
				return err
			}
			continue
		}
		fmt.Printf("%v\n", m)
		ours.print("partwise")
		theirs.print("scikit-learn")
		fmt.Printf("  ratio         %7.3f  %.5f\n", median(ours.seconds)/median(theirs.seconds), ratio)
	}
	if c.asJSON {
		return nil
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	fmt.Printf("memory, images to words: at most %d MB\n", m.Sys>>20)
	return nil
}

func (c *comparison) file(name string) string { return filepath.Join(c.dir, name) }

// describe draws the descriptors, and returns the name of the set.
func (c *comparison) describe(ctx context.Context) (string, error) {
	var sift features.DenseSIFT
	set, err := datasets.Open(ctx, "scenes13", datasets.OpenOptions{})
	if errors.Is(err, fs.ErrNotExist) {
		set, err = datasets.Generated(1), nil
		sift.Step = 1 // the images are small
	}
	if err != nil {
		return "", err
	}
	sampler := vocab.Sampler{Total: c.descriptors, Seed: 1}
	images := set.Images()
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, name := range set.Names {
		group.Go(func() error {
			img, err := images.Open(ctx, i)
			if err != nil {
				return err
			}
			d, err := sift.Extract(img)
			if err != nil {
				return err
			}
			return sampler.Add(name, d)
		})
	}
	err = group.Wait()
	c.sample, c.dim = sampler.Sample()
	return set.Name, err
}

// results are those of one program, by seed.
type results struct{ seconds, iterations, objectives []float64 }

func (r *results) print(name string) {
	fmt.Printf("  %-13s %6.2f s  objective %.1f, from %.1f to %.1f; %.0f iterations; from %.2f to %.2f s\n",
		name, median(r.seconds), mean(r.objectives), slices.Min(r.objectives), slices.Max(r.objectives),
		median(r.iterations), slices.Min(r.seconds), slices.Max(r.seconds))
}

func (c *comparison) ours(ctx context.Context, m vocab.Method, seed int, r *results) error {
	iterations := 0
	start := time.Now()
	v, err := vocab.Training{Words: c.words, Method: m, Seed: uint64(seed), Progress: func(int, int) { iterations++ }}.Train(ctx, c.sample, c.dim)
	if err != nil {
		return err
	}
	return c.add(r, v, time.Since(start).Seconds(), float64(iterations))
}

func (c *comparison) theirs(ctx context.Context, m vocab.Method, seed int, r *results) error {
	out := c.file("words.npz")
	python := exec.CommandContext(ctx, c.python, "-", c.file("descriptors"), strconv.Itoa(c.dim), strconv.Itoa(c.words), strconv.Itoa(seed), m.String(), out)
	python.Stdin = strings.NewReader(script)
	python.Stderr = os.Stderr
	printed, err := python.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", c.python, err)
	}
	var seconds, iterations float64
	if _, err := fmt.Fscan(bytes.NewReader(printed), &seconds, &iterations, &c.version); err != nil {
		return fmt.Errorf("%s printed %q: %w", c.python, printed, err)
	}
	file, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	v, err := vocab.Load(context.Background(), bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return err
	}
	return c.add(r, v, seconds, iterations)
}

// add adds the result of a training. The objective is the mean squared distance
// of all descriptors to their nearest words.
func (c *comparison) add(r *results, v *vocab.Vocabulary, seconds, iterations float64) error {
	a, err := vocab.NewAssigner(context.Background(), v, vocab.Assignment{Checks: v.Len()})
	if err != nil {
		return err
	}
	n := len(c.sample) / c.dim
	d := &features.Descriptors{Vectors: c.sample, Dim: c.dim, X: make([]float32, n)}
	var assigned vocab.Assigned
	if err := a.Assign(&assigned, d); err != nil {
		return err
	}
	var sum float64
	for i, word := range assigned.Words {
		row := v.Words.RawRowView(int(word))
		for f, x := range d.Vector(i) {
			sum += (float64(x) - row[f]) * (float64(x) - row[f])
		}
	}
	r.seconds = append(r.seconds, seconds)
	r.iterations = append(r.iterations, iterations)
	r.objectives = append(r.objectives, sum/float64(n))
	return nil
}

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return (v[len(v)/2] + v[(len(v)-1)/2]) / 2
}

func mean(v []float64) float64 {
	var sum float64
	for _, x := range v {
		sum += x
	}
	return sum / float64(len(v))
}
