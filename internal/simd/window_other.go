//go:build !amd64

package simd

func windowTile() (windows, columns int) { return 0, 0 }

// WindowColumns returns how many columns weights of so many have for [Windows].
func WindowColumns(columns int) int { return columns }

func windowsTile(c *float32, stride, columns int, x *float32, at *int32, taps, depth int, w, bias *float32, bounds *[2]float32, windows int) {
	panic("simd: there are no windows on this processor")
}
