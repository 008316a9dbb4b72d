// Command sift does one stage of compare.py and prints how many seconds that
// took:
//
//	sift dense|histogram LIST WORDS OUT
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/vocab"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sift:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 4 {
		return errors.New("want a stage and three files: dense|histogram LIST WORDS OUT")
	}
	list, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	files := strings.Split(string(list), "\n")
	if args[0] == "dense" {
		return dense(files)
	}
	return histograms(files, args[2], args[3])
}

// timed does work for 0 to n-1 on all cores and prints how long it took. It
// warms up before.
func timed(n int, work func(i int) error) error {
	do := func(n int) error {
		var group errgroup.Group
		group.SetLimit(runtime.GOMAXPROCS(0))
		for i := range n {
			group.Go(func() error { return work(i) })
		}
		return group.Wait()
	}
	if err := do(min(n, 32)); err != nil {
		return err
	}
	begin := time.Now()
	if err := do(n); err != nil {
		return err
	}
	fmt.Println(time.Since(begin).Seconds())
	return nil
}

func dense(files []string) error {
	images := make([]image.Image, len(files))
	for i, file := range files {
		img, err := imagefile.Decode(file)
		if err != nil {
			return err
		}
		images[i] = img
	}
	return timed(len(images), func(i int) error {
		_, err := features.DenseSIFT{}.Extract(images[i])
		return err
	})
}

func histograms(files []string, words, out string) error {
	v, err := readWords(words)
	if err != nil {
		return err
	}
	assigner, err := vocab.NewAssigner(context.Background(), v, vocab.Assignment{})
	if err != nil {
		return err
	}
	grid := vocab.Grid{{Rows: 4, Columns: 4}}
	found := make([]vocab.Histogram, len(files))
	if err := timed(len(files), func(i int) error {
		img, err := imagefile.Decode(files[i])
		if err != nil {
			return err
		}
		d, err := features.DenseSIFT{}.Extract(img)
		if err != nil {
			return err
		}
		var assigned vocab.Assigned
		if err := assigner.Assign(&assigned, d); err != nil {
			return err
		}
		found[i], err = grid.Count(v.Len(), d, &assigned)
		return err
	}); err != nil {
		return err
	}
	counts := make([]float32, len(files)*grid.Len()*v.Len())
	for i, h := range found {
		row := counts[i*grid.Len()*v.Len():]
		for at, j := range h.Columns {
			row[j] = float32(h.Values[at])
		}
	}
	bytes, err := binary.Append(nil, binary.LittleEndian, counts)
	if err != nil {
		return err
	}
	return os.WriteFile(out, bytes, 0o600)
}

func readWords(path string) (*vocab.Vocabulary, error) {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	values := make([]float64, len(bytes)/4)
	for i := range values {
		values[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(bytes[4*i:])))
	}
	return &vocab.Vocabulary{Words: mat.NewDense(len(values)/128, 128, values)}, nil
}
