package vocab

import (
	"fmt"
	"testing"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

func BenchmarkTrain(b *testing.B) {
	rows := randomRows(rng.New(1, "bench"), 100_000, 128, 2000)
	for _, m := range []Method{MethodLloyd, MethodMiniBatch} {
		b.Run(m.String(), func(b *testing.B) {
			for b.Loop() {
				if _, err := (Training{Method: m}).Train(ctx, rows, 128); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// An image of 256×256 pixels has about 1000 patches.
func BenchmarkHistogram(b *testing.B) {
	const p = 1000
	random := rng.New(1, "bench")
	d := &features.Descriptors{Vectors: randomRows(random, p, 128, 500), Dim: 128, Width: 256, Height: 256}
	for range p {
		d.X, d.Y = append(d.X, 256*random.Float32()), append(d.Y, 256*random.Float32())
	}
	for _, test := range []struct {
		words int
		as    Assignment
	}{{200, Assignment{}}, {200, Assignment{Nearest: 4}}, {5000, Assignment{}}, {20_000, Assignment{}}, {100_000, Assignment{}}} {
		b.Run(fmt.Sprintf("words=%d/nearest=%d", test.words, test.as.Nearest), func(b *testing.B) {
			a := assigner(b, wordsOf(randomRows(random, test.words, 128, 5000), 128), test.as)
			var assigned Assigned
			b.ReportAllocs()
			for b.Loop() {
				if err := a.Assign(&assigned, d); err != nil {
					b.Fatal(err)
				}
				if _, err := (Grid{{Rows: 4, Columns: 4}}).Count(test.words, d, &assigned); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
