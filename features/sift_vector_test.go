package features

import "testing"

func TestSIFTVector(t *testing.T) {
	fill := func(n int, v float32) (hist [siftDim]float32) {
		for i := range n {
			hist[i] = v
		}
		return hist
	}
	for _, test := range []struct {
		name         string
		hist         [siftDim]float32
		root         bool
		first, other uint8
	}{
		{"zeros", fill(0, 0), false, 0, 0},
		{"zeros", fill(0, 0), true, 0, 0},
		{"one value", fill(1, 1e-3), false, 255, 0},
		{"one value", fill(1, 1e3), true, 255, 0},
		// 512/√100, and √(1/100) of 512.
		{"100 values", fill(100, 3), false, 51, 0},
		{"100 values", fill(100, 3), true, 51, 0},
	} {
		out := [siftDim]uint8{siftDim - 1: 9}
		hist := test.hist
		siftVector(&out, &hist, test.root)
		if out[0] != test.first || out[siftDim-1] != test.other {
			t.Errorf("%s, root %v: %d and %d, want %d and %d", test.name, test.root, out[0], out[siftDim-1], test.first, test.other)
		}
	}

	// One value of 30 and 100 of 1: the length is √1000, the first is clipped to
	// 0.2·√1000 = √40, and the length after it is √140.
	hist := fill(101, 1)
	hist[0] = 30
	var out [siftDim]uint8
	clipped := hist
	siftVector(&out, &clipped, false)
	if out[0] != 255 || out[1] != 43 { // 512·√(40/140) = 273.7, 512/√140 = 43.3
		t.Errorf("clipped: %d and %d", out[0], out[1])
	}
	// The sum is √40 + 100 = 106.3, and the parts' roots are 0.2439 and 0.0970.
	clipped = hist
	siftVector(&out, &clipped, true)
	if out[0] != 125 || out[1] != 50 {
		t.Errorf("root: %d and %d", out[0], out[1])
	}
}
