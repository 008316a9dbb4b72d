package network

import (
	"errors"
	"fmt"
)

// axis is how windows lie along rows or columns.
type axis struct {
	in, out                int
	taps, stride, dilation int
	before                 int // zeros in front
	after                  int
}

// at returns the place that a tap of a window is at, or false where that is padding.
func (a axis) at(window, tap int) (place int, ok bool) {
	place = window*a.stride - a.before + tap*a.dilation
	return place, place >= 0 && place < a.in
}

// pair returns an attribute of two numbers, from least on.
func (n *node) pair(name string, otherwise, least int) (out [2]int, err error) {
	a := n.attributes[name]
	if a == nil || len(a.ints) == 0 {
		return [2]int{otherwise, otherwise}, nil
	}
	if len(a.ints) != 2 || min(a.ints[0], a.ints[1]) < least || max(a.ints[0], a.ints[1]) > 1<<12 {
		return out, fmt.Errorf("%s %v: want two numbers from %d to %d", name, a.ints, least, 1<<12)
	}
	return [2]int(a.ints), nil
}

// windows returns how the windows of a convolution or a pooling lie on a map.
func (n *node) windows(height, width int, kernel [2]int) (axes [2]axis, err error) {
	strides, err := n.pair("strides", 1, 1)
	if err != nil {
		return axes, err
	}
	dilations, err := n.pair("dilations", 1, 1)
	if err != nil {
		return axes, err
	}
	var pads [4]int
	if a := n.attributes["pads"]; a != nil && len(a.ints) > 0 {
		if len(a.ints) != 4 || min(a.ints[0], a.ints[1], a.ints[2], a.ints[3]) < 0 || max(a.ints[0], a.ints[1], a.ints[2], a.ints[3]) > 1<<12 {
			return axes, fmt.Errorf("pads %v: want four numbers from 0 to %d", a.ints, 1<<12)
		}
		pads = [4]int(a.ints)
	}
	auto := "NOTSET"
	if a := n.attributes["auto_pad"]; a != nil && a.text != "" {
		auto = a.text
	}
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
			return axes, fmt.Errorf("auto_pad %q is not there", auto)
		}
		free := in + a.before + a.after - covered
		if free < 0 {
			return axes, errors.New("windows are larger than the map")
		}
		a.out = free/a.stride + 1
		if ceil := n.attributes["ceil_mode"]; ceil != nil && len(ceil.ints) > 0 && ceil.ints[0] != 0 && auto == "NOTSET" {
			a.out = (free+a.stride-1)/a.stride + 1
			if (a.out-1)*a.stride >= in+a.before { // it would begin behind the map
				a.out--
			}
		}
		axes[i] = a
	}
	return axes, nil
}

// kernel returns the sides of the windows of a pooling.
func (n *node) kernel() ([2]int, error) {
	if n.attributes["kernel_shape"] == nil {
		return [2]int{}, errors.New("no kernel_shape")
	}
	return n.pair("kernel_shape", 1, 1)
}
