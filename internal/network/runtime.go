//go:build opencv

package network

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"

	ort "github.com/yalue/onnxruntime_go"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
)

func init() { compileOther, hint = compileByRuntime, "" }

// openRuntime loads the library of ONNX Runtime once.
var openRuntime = sync.OnceValue(func() error {
	name := "libonnxruntime.so"
	if runtime.GOOS == "darwin" {
		name = "libonnxruntime.dylib"
	}
	ort.SetSharedLibraryPath(cmp.Or(os.Getenv("PARTWISE_ONNXRUNTIME"), name))
	return ort.InitializeEnvironment(ort.WithLogLevelError())
})

// runtimeModel is a model in ONNX Runtime with one input, and a mask of tokens if it has one.
type runtimeModel struct {
	session *ort.DynamicAdvancedSession
	kind    ort.TensorElementDataType // of the inputs
	shape   ort.Shape                 // of an input
	masks   bool
	output  string
}

// compileByRuntime opens a model in ONNX Runtime, on one core. Its layers are the outputs of the model.
func compileByRuntime(model []byte, opt Options) (_ *Network, err error) {
	defer guard.Catch(&err)
	guard.Check(openRuntime())
	ins, outs, err := ort.GetInputOutputInfoWithONNXData(model)
	guard.Check(err)
	g, n, m := &graph{}, &Network{}, &runtimeModel{}
	var mask []string
	for _, in := range ins {
		if opt.Text && in.Name == "attention_mask" {
			mask = []string{in.Name}
			continue
		}
		m.kind = in.DataType
		dims := make([]int, len(in.Dimensions))
		for i, d := range in.Dimensions {
			dims[i] = int(max(d, 0))
		}
		g.inputs = append(g.inputs, input{in.Name, dims})
	}
	name, in := n.input(g, opt)
	failIf(len(outs) == 0, "no output")
	names := lists.Map(outs, func(out ort.InputOutputInfo) string { return out.Name })
	m.masks, m.output = mask != nil, cmp.Or(opt.Layer, names[0])
	options := guard.Must(ort.NewSessionOptions())
	defer options.Destroy()
	guard.Check(errors.Join(options.SetIntraOpNumThreads(1), options.SetInterOpNumThreads(1)))
	m.session, err = ort.NewDynamicAdvancedSessionWithONNXData(model, append([]string{name}, mask...), []string{m.output}, options)
	if err != nil {
		return nil, fmt.Errorf("%w; its outputs are %q", err, names)
	}
	runtime.AddCleanup(n, func(s *ort.DynamicAdvancedSession) { s.Destroy() }, m.session)
	for _, d := range in.shape {
		m.shape = append(m.shape, int64(d))
	}
	size := n.Height * n.Width * n.Channels
	// The shape of the output is known after a run.
	_, found, err := m.run(make([]float32, size))
	guard.Check(err)
	n.OutHeight, n.OutWidth, n.OutChannels = 1, 1, int(found.FlattenedSize())
	switch s := found; {
	case len(s) == 4 && s[0] == 1: // maps
		n.OutHeight, n.OutWidth, n.OutChannels = int(s[2]), int(s[3]), int(s[1])
	case len(s) == 3 && s[0] == 1: // tokens of a transformer
		n.OutWidth, n.OutChannels = int(s[1]), int(s[2])
	}
	n.in, n.out = &buffer{size: size}, &buffer{size: n.OutHeight * n.OutWidth * n.OutChannels}
	n.shared = len(model) / 4
	n.other = func(dst, image []float32) error {
		if in.last { // the model stores channels first
			image = swapped(image, n.Channels)
		}
		out, got, err := m.run(image)
		if err == nil && len(out) != len(dst) {
			err = fmt.Errorf("output of shape %v; expected %v", got, found)
		}
		if err == nil && len(found) == 4 {
			out = swapped(out, n.OutHeight*n.OutWidth)
		}
		copy(dst, out)
		return err
	}
	return n, nil
}

// swapped returns the transpose of a matrix by rows, given its number of columns.
func swapped(x []float32, columns int) []float32 {
	rows := len(x) / columns
	out := make([]float32, len(x))
	for i, v := range x {
		out[i%columns*rows+i/columns] = v
	}
	return out
}

// run returns the output for an input, and its shape.
func (m *runtimeModel) run(data []float32) (_ []float32, _ ort.Shape, err error) {
	defer guard.Catch(&err)
	given := [][]float32{data}
	if m.masks { // 1 for each token before the padding
		last := len(data)
		for last > 0 && data[last-1] == 0 {
			last--
		}
		given = append(given, append(slices.Repeat([]float32{1}, last), make([]float32, len(data)-last)...))
	}
	var tensors []ort.Value
	for _, data := range given {
		tensor := guard.Must(newTensor(m.kind, m.shape, data))
		defer tensor.Destroy()
		tensors = append(tensors, tensor)
	}
	out := []ort.Value{nil}
	guard.Check(m.session.Run(tensors, out))
	defer out[0].Destroy()
	result, ok := out[0].(*ort.Tensor[float32])
	if !ok {
		return nil, nil, fmt.Errorf("the output %q is not an array of single-precision numbers", m.output)
	}
	return append([]float32(nil), result.GetData()...), result.GetShape(), nil
}

// newTensor returns numbers as a tensor of a type.
func newTensor(kind ort.TensorElementDataType, shape ort.Shape, data []float32) (ort.Value, error) {
	switch kind {
	case ort.TensorElementDataTypeInt64:
		return wholeTensor[int64](shape, data)
	case ort.TensorElementDataTypeInt32:
		return wholeTensor[int32](shape, data)
	}
	return ort.NewTensor(shape, data)
}

func wholeTensor[T int32 | int64](shape ort.Shape, data []float32) (ort.Value, error) {
	whole := make([]T, len(data))
	for i, v := range data {
		whole[i] = T(v)
	}
	return ort.NewTensor(shape, whole)
}
