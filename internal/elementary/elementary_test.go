package elementary_test

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/seed4492f2cd/partwise/internal/elementary"
)

// functions are all functions of one argument, with the ones of package math and the allowed difference in units of
// the last place.
var functions = []struct {
	name      string
	got, want func(float64) float64
	units     float64
}{
	{"Exp", elementary.Exp, math.Exp, 2},
	{"Expm1", elementary.Expm1, math.Expm1, 4},
	{"Log", elementary.Log, math.Log, 2},
	{"Log1p", elementary.Log1p, math.Log1p, 4},
	{"Log2", elementary.Log2, math.Log2, 1e12}, // which cancels near 1
	{"Tanh", elementary.Tanh, math.Tanh, 6},
	{"Erf", elementary.Erf, math.Erf, 32},
}

// operators are all functions of two arguments.
var operators = []struct {
	name      string
	got, want func(x, y float64) float64
	units     float64
}{
	{"Hypot", elementary.Hypot, math.Hypot, 3},
	{"Pow", elementary.Pow, math.Pow, 2000}, // both multiply many roundings where the exponent is large
}

// numbers returns special values, values of any size, and values near 1.
func numbers() []float64 {
	x := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, 3, -3, 1 << 53, 1<<53 + 2, 0x1p-1074, -0x1p-1074, 0x1p-1022, 0x1p-1030,
		math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 708.5, 709.79, -745.1, -745.2, -708.5, math.Sqrt2 / 2}
	src := rand.New(rand.NewPCG(1, 1))
	for range 4000 {
		u := src.Float64() - 0.5
		x = append(x, u, 40*u, 1+float64(1e-6*u), 1e-9*u, 1400*u, math.Float64frombits(src.Uint64()))
	}
	return x
}

func near(got, want, units float64) bool {
	if got != got || want != want || math.IsInf(want, 0) || math.IsInf(got, 0) {
		return got == want || got != got && want != want
	}
	return math.Abs(got-want) <= max(units*0x1p-52*math.Abs(want), 0x1p-1022) && math.Signbit(got) == math.Signbit(want)
}

// TestLikeMath compares with package math: special values are equal, and others differ by few units of the last place.
func TestLikeMath(t *testing.T) {
	x := numbers()
	for _, f := range functions {
		for _, x := range x {
			if x > 0 && x < 0x1p-1022 && strings.HasPrefix(f.name, "Log") {
				continue // some assembly of math.Log is wrong there
			}
			if got, want := f.got(x), f.want(x); !near(got, want, f.units) {
				t.Errorf("%s(%v) = %v, want %v", f.name, x, got, want)
				break
			}
		}
	}
	for _, f := range operators {
		for i, x1 := range x {
			if x1 != 0 && math.Abs(x1) < 0x1p-1022 {
				continue // some assembly of math.Log is wrong there
			}
			for _, y := range append(x[:26:26], x[len(x)-1-i]) {
				if got, want := f.got(x1, y), f.want(x1, y); !near(got, want, f.units) {
					t.Errorf("%s(%v, %v) = %v, want %v", f.name, x1, y, got, want)
				}
			}
		}
	}
	for _, x := range []float64{-6, -1, 0, 0.3, 1.99, 2.01, 3, 5, 10, 26} {
		if got, want := elementary.Erfc(x), math.Erfc(x); !near(got, want, 3000) {
			t.Errorf("Erfc(%v) = %v, want %v", x, got, want)
		}
	}
	for _, a := range []float64{0.5, 1, 2, 7.5, 40} {
		for _, b := range []float64{0.5, 1, 3, 20} {
			for x := 0.0; x <= 1; x += 1.0 / 64 {
				if got, want := elementary.Beta(a, b, x), mathext.RegIncBeta(a, b, x); !(math.Abs(got-want) <= 1e-13) {
					t.Errorf("Beta(%v, %v, %v) = %v, want %v", a, b, x, got, want)
				}
			}
		}
	}
}

// TestError compares Exp and Log with exact values.
func TestError(t *testing.T) {
	src := rand.New(rand.NewPCG(2, 2))
	for range 2000 {
		x := -745 + 1454.78*src.Float64()
		if e := unitsOff(elementary.Exp(x), exp(x)); e > 1.001 {
			t.Errorf("Exp(%v) is off by %v units", x, e)
		}
		x = elementary.Exp(x)
		// log x = y + log(x·e⁻ʸ), and the last term is about x·e⁻ʸ − 1.
		y := elementary.Log(x)
		rest := new(big.Float).Mul(big.NewFloat(x), exp(-y))
		rest.Sub(rest, big.NewFloat(1))
		if e := unitsOff(y, rest.Add(rest, big.NewFloat(y))); e > 1 {
			t.Errorf("Log(%v) is off by %v units", x, e)
		}
	}
}

// exp returns eˣ to some 200 bits: the series of x/2¹², squared 12 times.
func exp(x float64) *big.Float {
	part := new(big.Float).SetPrec(256).SetFloat64(x / (1 << 12))
	sum, term := new(big.Float).SetPrec(256).SetInt64(1), new(big.Float).SetPrec(256).SetInt64(1)
	for n := range int64(40) {
		term.Mul(term, part)
		term.Quo(term, new(big.Float).SetInt64(n+1))
		sum.Add(sum, term)
	}
	for range 12 {
		sum.Mul(sum, sum)
	}
	return sum
}

func unitsOff(got float64, want *big.Float) float64 {
	off := new(big.Float).Sub(want, big.NewFloat(got))
	f, _ := off.Float64()
	return math.Abs(f) / (math.Nextafter(math.Abs(got), math.Inf(1)) - math.Abs(got))
}

// digests are of the functions' values for all numbers.
var digests = map[string]string{
	"Beta":  "501f3fde",
	"Erf":   "6b0c5a08",
	"Erfc":  "1fbf4207",
	"Exp":   "9cf847de",
	"Expm1": "afabfda3",
	"Hypot": "266178ce",
	"Log":   "18583184",
	"Log1p": "df07903b",
	"Log2":  "db54a1dd",
	"Pow":   "f55b2a25",
	"Tanh":  "6075b813",
}

// TestSameBytes checks that every processor computes these digests.
func TestSameBytes(t *testing.T) {
	x := numbers()
	digest := func(values func(yield func(float64))) string {
		h := sha256.New()
		values(func(v float64) {
			if v != v {
				v = math.NaN() // of one bit pattern
			}
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		})
		return fmt.Sprintf("%.4x", h.Sum(nil))
	}
	got := map[string]string{}
	for _, f := range functions {
		got[f.name] = digest(func(yield func(float64)) {
			for _, x := range x {
				yield(f.got(x))
			}
		})
	}
	for _, f := range operators {
		got[f.name] = digest(func(yield func(float64)) {
			for i, v := range x {
				yield(f.got(v, x[len(x)-1-i]))
				yield(f.got(math.Abs(v), x[i/2]))
			}
		})
	}
	got["Erfc"] = digest(func(yield func(float64)) {
		for _, x := range x {
			yield(elementary.Erfc(x))
		}
	})
	got["Beta"] = digest(func(yield func(float64)) {
		for i := range 500 {
			yield(elementary.Beta(0.5+float64(i%20), 0.5+float64(i/20), float64(i%37)/37))
		}
	})
	if !maps.Equal(got, digests) {
		t.Errorf("the digests are %v, want %v", got, digests)
	}
}

func BenchmarkExp(b *testing.B) {
	for name, f := range map[string]func(float64) float64{"ours": elementary.Exp, "math": math.Exp} {
		b.Run(name, func(b *testing.B) {
			x := 0.0
			for b.Loop() {
				x = f(x - 0.7)
			}
		})
	}
}

func BenchmarkLog(b *testing.B) {
	for name, f := range map[string]func(float64) float64{"ours": elementary.Log, "math": math.Log} {
		b.Run(name, func(b *testing.B) {
			x := 1.5
			for b.Loop() {
				x = 2 + f(x)
			}
		})
	}
}
