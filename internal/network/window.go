package network

import (
	"cmp"
	"slices"
)

// axis is how windows lie along rows or columns.
type axis struct {
	in, out                int
	taps, stride, dilation int
	before                 int // zeros in front
	after                  int
}

// place returns the place that a tap of a window is at, or false where that is padding.
func (a axis) place(window, tap int) (place int, ok bool) {
	place = window*a.stride - a.before + tap*a.dilation
	return place, place >= 0 && place < a.in
}

// pair returns an attribute of two numbers, from least on.
func (n *node) pair(name string, otherwise, least int) [2]int {
	of := n.attribute(name).ints
	if len(of) == 0 {
		return [2]int{otherwise, otherwise}
	}
	if len(of) != 2 || slices.Min(of) < least || slices.Max(of) > 1<<12 {
		fail("%s %v: want two numbers from %d to %d", name, of, least, 1<<12)
	}
	return [2]int(of)
}

// windows returns how the windows of a convolution or a pooling lie on a map.
func (n *node) windows(height, width int, kernel [2]int) (axes [2]axis) {
	strides := n.pair("strides", 1, 1)
	dilations := n.pair("dilations", 1, 1)
	var pads [4]int
	if of := n.attribute("pads").ints; len(of) > 0 {
		if len(of) != 4 || slices.Min(of) < 0 || slices.Max(of) > 1<<12 {
			fail("pads %v: want four numbers from 0 to %d", of, 1<<12)
		}
		pads = [4]int(of)
	}
	auto := cmp.Or(n.attribute("auto_pad").text, "NOTSET")
	for i, in := range []int{height, width} {
		a := axis{in: in, taps: kernel[i], stride: strides[i], dilation: dilations[i]}
		covered := (a.taps-1)*a.dilation + 1
		switch auto {
		case "NOTSET":
			a.before, a.after = pads[i], pads[i+2]
		case "VALID":
		case "SAME_UPPER", "SAME_LOWER":
			a.out = (in + a.stride - 1) / a.stride
			pad := max((a.out-1)*a.stride+covered-in, 0)
			if a.before = pad / 2; auto == "SAME_LOWER" {
				a.before = pad - pad/2
			}
			a.after = pad - a.before
		default:
			fail("auto_pad %q is not there", auto)
		}
		free := in + a.before + a.after - covered
		if free < 0 {
			fail("windows are larger than the map")
		}
		a.out = free/a.stride + 1
		if n.int("ceil_mode", 0) != 0 && auto == "NOTSET" {
			a.out = (free+a.stride-1)/a.stride + 1
			if (a.out-1)*a.stride >= in+a.before { // it would begin behind the map
				a.out--
			}
		}
		axes[i] = a
	}
	return axes
}

// kernel returns the sides of the windows of a pooling.
func (n *node) kernel() [2]int {
	if n.attributes["kernel_shape"] == nil {
		fail("no kernel_shape")
	}
	return n.pair("kernel_shape", 1, 1)
}
