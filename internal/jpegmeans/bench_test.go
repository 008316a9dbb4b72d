package jpegmeans

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// photograph returns samples that vary at all scales, as those of photographs do, with some edges.
func photograph(rng *rand.Rand, width, height int) func(component, x, y int) float64 {
	const octaves = 10
	var grids [3][octaves][]float64
	for i := range grids {
		for o := range grids[i] {
			grids[i][o] = make([]float64, (width>>o+2)*(height>>o+2))
			for j := range grids[i][o] {
				grids[i][o][j] = rng.NormFloat64()
			}
		}
	}
	return func(component, x, y int) float64 {
		first := 0
		if component > 0 {
			first, x, y = 3, 2*x, 2*y // of 2×2 pixels, and smooth
		}
		x, y = min(x, width-1), min(y, height-1)
		v := 128.0
		if (x/611+y/437)%2 == 1 {
			v -= 50
		}
		for o := first; o < octaves; o++ {
			grid, across := grids[component][o], width>>o+2
			at, fx, fy := (y>>o)*across+x>>o, float64(x&(1<<o-1))/float64(int(1)<<o), float64(y&(1<<o-1))/float64(int(1)<<o)
			upper, lower := grid[at]*(1-fx)+grid[at+1]*fx, grid[at+across]*(1-fx)+grid[at+across+1]*fx
			v += 2.2 * math.Pow(1.45, float64(o)) * (upper*(1-fy) + lower*fy)
		}
		return v
	}
}

// Decoding a photograph of 12 million pixels, 4:2:0, to means, and by turns the whole of it with
// image/jpeg: the medians of the times that each takes, and what they allocate, as ratios.
func BenchmarkDecode(b *testing.B) {
	const width, height = 4000, 3000
	rng := rand.New(rand.NewPCG(1, 1))
	w := written{width: width, height: height, sampling: [][2]int{{2, 2}, {1, 1}, {1, 1}}, sample: photograph(rng, width, height)}
	for k := range blockSize {
		w.quant = append(w.quant, byte(2+k/4))
	}
	for _, kind := range []struct {
		name   string
		marker byte
		scans  []writtenScan
	}{{"baseline", startOfFrame, []writtenScan{sequentialScan(0, 1, 2)}}, {"progressive", startOfProgressive, progressiveScans(3)}} {
		w.marker, w.scans = kind.marker, kind.scans
		content := w.file(rng)
		for _, times := range []int{2, 4, 8} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, times), func(b *testing.B) {
				var wholes, means []float64
				for b.Loop() {
					start := time.Now()
					if _, err := jpeg.Decode(bytes.NewReader(content)); err != nil {
						b.Fatal(err)
					}
					between := time.Now()
					if _, err := Parse(content).Decode(times); err != nil {
						b.Fatal(err)
					}
					wholes, means = append(wholes, between.Sub(start).Seconds()), append(means, time.Since(between).Seconds())
				}
				median := func(x []float64) float64 { slices.Sort(x); return x[len(x)/2] }
				b.ReportMetric(1000*median(wholes), "whole-ms")
				b.ReportMetric(1000*median(means), "means-ms")
				b.ReportMetric(median(means)/median(wholes), "means/whole")
				whole := testkit.Allocated(func() { jpeg.Decode(bytes.NewReader(content)) })
				b.ReportMetric(float64(testkit.Allocated(func() { Parse(content).Decode(times) }))/float64(whole), "bytes/whole")
				b.ReportMetric(8*float64(len(content))/width/height, "bits/pixel")
			})
		}
	}
}
