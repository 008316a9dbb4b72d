// Package lite0 embeds EfficientNet-Lite0, the default network of [features.Network]. Import it for its side effect:
//
//	import _ "github.com/seed4492f2cd/partwise/features/lite0"
//
// It adds 7 MB to a program. The weights were trained on ImageNet and are licensed under Apache-2.0, copyright 2020 ML
// Illustrated; see NOTICE.
package lite0

import (
	_ "embed"

	"github.com/seed4492f2cd/partwise/features"
)

//go:embed lite0.onnx
var model []byte

// License is the licence of the weights. Notice states their origin and changes.
var (
	//go:embed LICENSE
	License string
	//go:embed NOTICE
	Notice string
)

func init() { features.AddNetwork("lite0", model) }
