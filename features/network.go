package features

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/network"
)

// Network computes the activations of a layer of a pretrained convolutional network, averaged over positions. The zero
// value is EfficientNet-Lite0 (Tan and Le 2019), which requires an import of features/lite0. By default images are
// cropped to their centred square.
type Network struct {
	File   string    `setting:"file" default:"the built-in network" want:"an ONNX model" help:"ONNX model of a convolutional network"`
	Layer  string    `setting:"layer" default:"the last pooling, or the first output" want:"the name of a layer" help:"layer whose values are the features"`
	Places bool      `setting:"places" help:"use the values at each spatial position instead of their mean, so that parts can be shown on images"`
	Size   int       `setting:"size" default:"the model's own, or 224" range:"[1,4096]" help:"side of the square input images, in pixels"`
	Mean   []float64 `setting:"mean" range:"[-1e6,1e6]" help:"mean subtracted from pixels (0 to 255): one, or one per channel; needs file"`
	Scale  []float64 `setting:"scale" range:"(0,]" help:"divisor of the difference: one, or one per channel; needs file"`
	Order  string    `setting:"order" default:"rgb" values:"rgb,bgr" help:"order of the colour channels; needs file"`
}

// lite0 is the name of the built-in network.
const lite0 = "lite0"

var models = map[string][]byte{} // ONNX models by name

// AddNetwork registers the ONNX model of a built-in network. Package features/lite0 calls it when it is imported.
// It must be called before the first extraction.
func AddNetwork(name string, model []byte) { models[name] = model }

// Label implements [Extractor].
func (n Network) Label() string {
	out := "features of the network " + filepath.Base(cmp.Or(n.File, lite0))
	if n.Layer != "" {
		out += ", layer " + n.Layer
	}
	if n.Places {
		out += ", at each place"
	}
	if n.Size != 0 {
		out += fmt.Sprintf(", of %d×%[1]d pixels", n.Size)
	}
	return out
}

// Rows implements [RowExtractor]. A row holds the channels of the layer, averaged over positions or, with Places, at each
// position. The network may use the free memory budget of ctx.
func (n Network) Rows(ctx context.Context, _ *datasets.Set) (_ *Rows, err error) {
	defer n.nameFile(&err)
	defer guard.Catch(&err)
	model, budget := guard.Must(n.model(ctx)), memory.FromContext(ctx)
	net := guard.Must(network.Compile(model, network.Options{Height: n.Size, Width: n.Size, Layer: n.Layer, Memory: max(budget.Free(), 1)}))
	mean, scale := n.entry(net.Channels)
	// The weights count against the memory budget until net is garbage collected.
	runtime.AddCleanup(net, func(give func()) { give() }, budget.Hold(net.Shared()))
	pixels, places, channels := net.Height*net.Width, net.OutHeight*net.OutWidth, net.OutChannels
	rows := &Rows{
		Height: net.Height, Width: net.Width, Channels: net.Channels, Columns: channels, Crop: Square{},
		Memory: net.Memory() + 4*int64(pixels*net.Channels+places*channels),
		Digest: fmt.Sprintf("%x", sha256.Sum256(model)),
		Fill: func(row []float64, img *Canvas) error {
			in, out := make([]float32, pixels*net.Channels), make([]float32, places*channels)
			for c := range net.Channels {
				plane := c
				if n.Order == "bgr" {
					plane = net.Channels - 1 - c
				}
				for p, v := range img.Values[plane*pixels : (plane+1)*pixels] {
					in[p*net.Channels+c] = float32((255*v - mean[c]) / scale[c])
				}
			}
			if err := net.Run(out, in); err != nil {
				return err
			}
			for j, v := range out {
				if n.Places {
					row[j] = float64(v)
				} else {
					row[j%channels] += float64(v) / float64(places)
				}
			}
			return nil
		},
	}
	if n.Places {
		rows.Places, rows.Columns = Cells{net.OutHeight, net.OutWidth}, places*channels
	}
	return rows, nil
}

// Digest returns the SHA-256 sum of the model in hexadecimal.
func (n Network) Digest(ctx context.Context) (_ string, err error) {
	defer n.nameFile(&err)
	model, err := n.model(ctx)
	return fmt.Sprintf("%x", sha256.Sum256(model)), err
}

// nameFile prefixes an error with the network's name.
func (n Network) nameFile(err *error) {
	*err = guard.Wrap(*err, "network %s", cmp.Or(n.File, lite0))
}

// model returns the bytes of the model.
func (n Network) model(ctx context.Context) ([]byte, error) {
	switch {
	case n.File != "":
		return network.ReadFile(ctx, n.File)
	case models[lite0] == nil:
		return nil, errors.New("the built-in network is missing: import features/" + lite0)
	}
	return models[lite0], nil
}

// entry returns the mean and scale that normalise each channel of a pixel. It calls guard.Fail.
func (n Network) entry(channels int) (mean, scale []float64) {
	mean, scale = n.Mean, n.Scale
	switch {
	case n.File == "" && (mean != nil || scale != nil || n.Order != ""):
		guard.Fail("mean, scale and order need file")
	case n.File == "":
		mean, scale = []float64{127}, []float64{128}
	case mean == nil || scale == nil:
		guard.Fail("mean and scale are missing; many models use mean: [123.675, 116.28, 103.53], scale: [58.395, 57.12, 57.375]")
	}
	guard.Check(validate(n))
	guard.FailIf(channels != 1 && channels != 3, "the network needs images of %d channels; expected 1 or 3", channels)
	for _, of := range []*[]float64{&mean, &scale} {
		if len(*of) == 1 {
			*of = slices.Repeat(*of, channels)
		}
	}
	guard.FailIf(len(mean) != channels || len(scale) != channels, "mean %v and scale %v: expected one number or %d", n.Mean, n.Scale, channels)
	return mean, scale
}
