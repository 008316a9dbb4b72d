package features

import (
	"context"
	"errors"
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// TestSamplePanics: a panic in a goroutine that makes the features of a sample is
// the error of that sample.
func TestSamplePanics(t *testing.T) {
	set := vectorSet(mat.NewDense(3, 1, []float64{1, 2, 3}), 0, 0)
	_, err := samples(t.Context(), set, Options{}, func(i int) error {
		if i == 1 {
			panic("fault")
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), set.Names[1]+": ") || !strings.Contains(err.Error(), "fault") {
		t.Errorf("got %v", err)
	}
}

// brightness is an extractor of one value, the mean grey times a weight, which is not one
// of its settings.
type brightness struct{}

var (
	brightnessWeight       = "1"
	brightnessMemory int64 = 1
)

func (brightness) Label() string { return "brightness" }

func (brightness) Rows(context.Context, *datasets.Set) (*Rows, error) {
	weight, err := strconv.ParseFloat(brightnessWeight, 64)
	return &Rows{
		Height: 8, Width: 8, Channels: 1, Columns: 1, Memory: brightnessMemory, Digest: brightnessWeight,
		Fill: func(row []float64, img *Canvas) error {
			row[0] = weight * stat.Mean(img.Values, nil)
			return nil
		},
	}, err
}

// What rows depend on beside the settings is part of their place in the cache, and what
// filling a row takes is part of the memory budget.
func TestRowsOfAnExtractor(t *testing.T) {
	own := extractors
	t.Cleanup(func() { extractors, brightnessWeight, brightnessMemory = own, "1", 1 })
	extractors = append(Extractors(), Info{Name: "brightness", Cached: true, Zero: brightness{}})
	set := fileSet(t, grey(20, 30, func(int, int) float64 { return 0.5 }))
	kept := &memoryCache{}
	for i, weight := range []string{"1", "3", "1"} {
		brightnessWeight = weight
		want, _ := strconv.ParseFloat(weight, 64)
		out := extract(t, brightness{}, set, Options{Cache: kept, Normalise: NormNone})
		if got := out.X.At(0, 0); math.Abs(got-want/2) > 1e-4 {
			t.Errorf("run %d: weight %s gives %v", i, weight, got)
		}
	}
	if len(kept.entries) != 2 {
		t.Errorf("%d rows in the cache, want one for each weight", len(kept.entries))
	}
	budget := memory.NewContext(t.Context(), memory.New(memory.Least))
	for _, test := range []struct {
		memory int64
		fits   bool
	}{{memory.Least / 8, true}, {memory.Least, false}} {
		brightnessMemory = test.memory
		_, err := Extract(budget, set, brightness{}, Options{})
		var tooLarge *memory.LimitError
		if errors.As(err, &tooLarge) == test.fits || (err == nil) != test.fits {
			t.Errorf("with %d bytes for a row: %v", test.memory, err)
		}
	}
}
