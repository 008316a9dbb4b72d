// Package lite0 holds EfficientNet-Lite0, the built-in network of features.Network. A program that imports it
// has the network:
//
//	import _ "github.com/seed4492f2cd/partwise/features/lite0"
//
// It makes a program 7 MB larger. The weights are under Apache-2.0, copyright 2020 ML Illustrated, see NOTICE
// beside them. They were trained with the labels of ImageNet.
package lite0

import (
	_ "embed"

	"github.com/seed4492f2cd/partwise/features"
)

//go:embed lite0.onnx
var model []byte

// License is the licence of the weights, and Notice says whose they are and how they were changed.
var (
	//go:embed LICENSE
	License string
	//go:embed NOTICE
	Notice string
)

func init() { features.AddNetwork("lite0", model) }
