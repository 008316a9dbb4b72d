package simd

func windowTile() (windows, columns int) {
	switch {
	case wide:
		return 8, TileColumns32()
	case fast:
		return 4, TileColumns32()
	}
	return 0, 0
}

// register returns how many numbers a register holds.
func register() int {
	if wide {
		return 16
	}
	return 8
}

// WindowColumns returns how many columns weights of so many have for [Windows].
func WindowColumns(columns int) int {
	r := register()
	return (columns + r - 1) / r * r
}

// lanes are the masks of a register's first numbers: those of n begin n before the middle.
var lanes = [32]int32{-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1}

// mask returns the mask of the numbers in the last of the registers that n take.
func mask(n int) *int32 { return &lanes[16-((n-1)%register()+1)] }

func windowsTile(c *float32, stride, columns int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, windows int) {
	f := windowsAVX2
	if wide {
		f = windowsAVX512
	}
	f[(columns-1)/register()](c, stride, x, at, taps, depth, w, bias, bounds, mask(columns), windows)
}

// windowsAVX2 and windowsAVX512 compute up to a tile of windows, with as many registers for
// a row of numbers as their place says, from 1. Mask is that of the last one's numbers.
var (
	windowsAVX2   = [3]func(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int){windows1AVX2, windows2AVX2, windows3AVX2}
	windowsAVX512 = [3]func(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int){windows1AVX512, windows2AVX512, windows3AVX512}
)

//go:noescape
func windows1AVX2(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)

//go:noescape
func windows2AVX2(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)

//go:noescape
func windows3AVX2(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)

//go:noescape
func windows1AVX512(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)

//go:noescape
func windows2AVX512(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)

//go:noescape
func windows3AVX512(c *float32, stride int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, mask *int32, windows int)
