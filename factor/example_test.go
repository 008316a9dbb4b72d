package factor_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/factor"
)

// images are six images of 2×2 pixels: a bright upper row in the first three, a
// bright left column in the others.
func images() *mat.Dense {
	return mat.NewDense(6, 4, []float64{
		8, 8, 0, 0,
		4, 4, 0, 0,
		6, 6, 0, 0,
		5, 0, 5, 0,
		9, 0, 9, 0,
		7, 0, 7, 0,
	})
}

// fits returns the distance of the reconstruction from the data, relative to its norm.
func fits(x *mat.Dense, r *factor.Result) float64 {
	var rest mat.Dense
	rest.Mul(r.Coefficients, r.Basis.T())
	rest.Sub(x, &rest)
	return mat.Norm(&rest, 2) / mat.Norm(x, 2)
}

// largest returns the index of the largest coefficient of each sample.
func largest(coefficients *mat.Dense) []int {
	n, _ := coefficients.Dims()
	out := make([]int, n)
	for i := range out {
		row := coefficients.RawRowView(i)
		for j := range row {
			if row[j] > row[out[i]] {
				out[i] = j
			}
		}
	}
	return out
}

// The factorisation finds the two parts of the images, the upper row and the left column.
func ExampleNMF() {
	x := images()
	result, err := factor.NMF{}.Fit(context.Background(), x, factor.Known{}, factor.Options{Rank: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	n, k := result.Coefficients.Dims()
	m, _ := result.Basis.Dims()
	fmt.Printf("basis %d×%d, coefficients %d×%d, %d iterations\n", m, k, n, k, result.Iterations())
	fmt.Printf("off by %.2f of the data\n", fits(x, result))
	part := largest(result.Coefficients)
	fmt.Println(part[0] == part[1] && part[1] == part[2], part[3] == part[4] && part[4] == part[5], part[0] != part[3])
	// Output:
	// basis 4×2, coefficients 6×2, 200 iterations
	// off by 0.00 of the data
	// true true true
}

// Labelled samples of one class share their coefficients. Samples of unknown class have their own.
func ExampleCNMF() {
	x := images()
	known := factor.Known{Labels: []int{0, 0, -1, 1, 1, -1}}
	result, err := factor.CNMF{}.Fit(context.Background(), x, known, factor.Options{Rank: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	same := func(i, j int) bool {
		return mat.Equal(result.Coefficients.RowView(i), result.Coefficients.RowView(j))
	}
	fmt.Println("labelled alike:", same(0, 1), same(3, 4))
	fmt.Println("labelled and not:", same(0, 2), same(3, 5))
	// Output:
	// labelled alike: true true
	// labelled and not: false false
}

// The basis vectors of concept factorisation are combinations of the samples. NMF's
// factors are a good start.
func ExampleCCF() {
	x := images()
	known := factor.Known{Labels: []int{0, 0, -1, 1, 1, -1}}
	result, err := factor.CCF{}.Fit(context.Background(), x, known, factor.Options{Rank: 2, Init: factor.InitNMF, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	var combined mat.Dense
	combined.Mul(x.T(), result.Weights)
	fmt.Println("the basis is the samples, weighted:", mat.EqualApprox(&combined, result.Basis, 1e-9*mat.Norm(x, 2)))
	part := largest(result.Coefficients)
	fmt.Println(part[0] == part[1] && part[1] == part[2], part[3] == part[4] && part[4] == part[5], part[0] != part[3])
	// Output:
	// the basis is the samples, weighted: true
	// true true true
}

// A model represents new samples by the parts that it learned.
func ExampleModel() {
	result, err := factor.NMF{}.Fit(context.Background(), images(), factor.Known{}, factor.Options{Rank: 2, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	seen := largest(result.Coefficients)
	fresh := mat.NewDense(2, 4, []float64{
		3, 3, 0, 0, // the upper row alone
		5, 3, 2, 0, // three of the row and two of the column
	})
	v, err := result.Model.Transform(context.Background(), fresh)
	if err != nil {
		log.Fatal(err)
	}
	row, column := seen[0], seen[3]
	unit := v.At(0, row) / 3 // the coefficient of a row of brightness 1
	fmt.Println("the row alone:", v.At(0, column) < 0.01*v.At(0, row))
	fmt.Printf("brightness of the row in the second: %.1f\n", math.Abs(v.At(1, row)/unit))
	// Output:
	// the row alone: true
	// brightness of the row in the second: 3.0
}

// Settings in a file name a method and its parameters.
func ExampleLookup() {
	info, ok := factor.Lookup("gnmf")
	if !ok {
		log.Fatal("there is no such method")
	}
	method, err := info.New(map[string]any{"lambda": 10})
	if err != nil {
		log.Fatal(err)
	}
	result, err := method.Fit(context.Background(), images(), factor.Known{}, factor.Options{Rank: 2})
	if err != nil {
		log.Fatal(err)
	}
	n, k := result.Coefficients.Dims()
	fmt.Printf("%s: coefficients %d×%d\n", info.Name, n, k)

	_, err = info.New(map[string]any{"lamda": 10})
	fmt.Println(err)
	// Output:
	// gnmf: coefficients 6×2
	// gnmf: lamda: unknown key "lamda"; did you mean lambda?
}

// generated are 20,000 images of 2×2 pixels. Like images in a file, they do not stay in memory.
type generated struct{}

func (generated) Dims() (n, m int) { return 20000, 4 }

func (generated) Read(_ context.Context, from int, dst *mat.Dense) error {
	p, _ := dst.Dims()
	for i := range p {
		bright := float64(1 + (from+i)%9)
		dst.SetRow(i, []float64{bright, bright, 0, 0})
		if (from+i)%2 == 1 {
			dst.SetRow(i, []float64{bright, 0, bright, 0})
		}
	}
	return nil
}

// Samples that do not fit into memory are read in blocks.
func ExampleMiniBatch() {
	batch := factor.MiniBatch{Samples: 500}
	result, err := batch.Fit(context.Background(), generated{}, factor.Options{Rank: 2, Iterations: 3, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	n, k := result.Coefficients.Dims()
	part := largest(result.Coefficients)
	fmt.Printf("coefficients %d×%d, %d epochs\n", n, k, result.Iterations())
	fmt.Println(part[0] == part[2], part[1] == part[3], part[0] != part[1])
	// Output:
	// coefficients 20000×2, 3 epochs
	// true true true
}

// Held-out entries select the rank of data that is the product of two factors.
func ExampleChooseRank() {
	x := mat.NewDense(60, 40, nil)
	x.Apply(func(i, j int, _ float64) float64 {
		// Three parts of images; a sample has one or two of them.
		var sum float64
		for part := range 3 {
			if j%3 == part && (i+part)%3 != 0 {
				sum += float64(1 + (7*i+5*part)%4)
			}
		}
		return sum
	}, x)
	rank, curve, err := factor.ChooseRank(context.Background(), x, factor.RankSearch{To: 8})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("rank", rank, "of", curve.Rank)
	// Output:
	// rank 3 of [2 3 4 5 6 7 8]
}

// Missing values are NaN in a Weighted. Impute fills them in.
func ExampleImpute() {
	nan := math.NaN()
	x := &factor.Weighted{Matrix: mat.NewDense(4, 3, []float64{
		1, 2, 3,
		2, nan, 6,
		nan, 2, 3,
		3, 6, nan,
	})}
	ctx := context.Background()
	res, err := factor.NMF{}.Fit(ctx, x, factor.Known{}, factor.Options{Rank: 1})
	if err != nil {
		log.Fatal(err)
	}
	filled, err := factor.Impute(ctx, res.Model, x, res.Coefficients)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%.3f", mat.Formatted(filled))
	// Output:
	// ⎡1.000  2.000  3.000⎤
	// ⎢2.000  4.000  6.000⎥
	// ⎢1.000  2.000  3.000⎥
	// ⎣3.000  6.000  9.000⎦
}
