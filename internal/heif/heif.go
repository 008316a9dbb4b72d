// Package heif decodes HEIC and AVIF images. The decoders are libheif with libde265, and libavif with libaom, compiled to
// WebAssembly by github.com/gen2brain/heic v0.4.5 and github.com/gen2brain/avif v0.4.4 and run by wazero. These modules
// themselves would load libraries of the system, so that results would depend on it, and do not limit memory.
//
// A decoder runs in a memory of its own, so a flaw in it cannot change the memory of the program.
package heif

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"slices"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

// Codec holds the compiled decoders, and the licences of the decoders and of their bindings.
//
//go:embed codec
var Codec embed.FS

// Memory returns the most bytes that Decode allocates, beside the file, for an image of a size in a file of a length.
func Memory(width, height int, length int64) int64 {
	return heapBytes(width, height, length) + 8*int64(width)*int64(height)
}

// heapBytes limits the memory of a decoder.
func heapBytes(width, height int, length int64) int64 {
	const tables, pixel = 32 << 20, 32
	return min(tables+2*length+pixel*int64(width+64)*int64(height+64), 4<<30)
}

// compiled is a program for this processor.
type compiled struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
}

// compile returns a function that compiles a program when it is first called.
func compile(program string) func() (*compiled, error) {
	return sync.OnceValues(func() (*compiled, error) {
		var c *compiled
		return c, guard.Try(func() {
			packed := guard.Must(gzip.NewReader(guard.Must(Codec.Open("codec/" + program + ".wasm.gz"))))
			code, ctx := guard.Must(io.ReadAll(packed)), context.Background()
			c = &compiled{runtime: wazero.NewRuntime(ctx)}
			guard.Must(wasi_snapshot_preview1.Instantiate(ctx, c.runtime))
			c.module = guard.Must(c.runtime.CompileModule(ctx, code))
		})
	})
}

var heic, avif = compile("heif"), compile("avif")

// heap is the memory of one decoder. It cannot grow beyond its capacity.
type heap []byte

func (h heap) Reallocate(size uint64) []byte {
	if size > uint64(cap(h)) {
		return nil
	}
	return h[:size]
}

func (h heap) Free() {}

// call is a running decoder for a file. Its methods call guard.Fail.
type call struct {
	ctx    context.Context
	module api.Module
	// args are the arguments of its function: the content and its length, whether only the numbers are wanted, for AVIF
	// the index of an image, and the addresses of the numbers.
	args    []uint64
	numbers uint64 // address of five 32-bit numbers, the first two of which are width and height
}

var errDecode = errors.New("the image data is damaged or truncated")

// run starts a decoder and calls do with the numbers of the image. index is an argument of one of the decoders.
func run(get func() (*compiled, error), index []uint64, content []byte, h Header, do func(r *call, n []int) image.Image) image.Image {
	c := guard.Must(get())
	most := heapBytes(h.Width, h.Height, int64(len(content)))
	ctx := experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory {
		return make(heap, 0, most)
	}))
	module := guard.Must(c.runtime.InstantiateModule(ctx, c.module, wazero.NewModuleConfig().WithName("")))
	defer module.Close(ctx)
	r := &call{ctx: ctx, module: module}
	file := r.call("malloc", uint64(len(content)))
	r.numbers = r.call("malloc", 4*4+8)
	if !module.Memory().Write(uint32(file), content) {
		guard.Check(errDecode)
	}
	// libavif does not turn images, and libheif fails at some that are mirrored too. Neither may.
	for at := h.start; at < h.end; at++ {
		if box := string(content[at:min(at+8, h.end)]); box == "\x00\x00\x00\x09irot" || box == "\x00\x00\x00\x09imir" {
			module.Memory().Write(uint32(file+uint64(at)+4), []byte("irot\x00")) // by 0°
		}
	}
	r.args = slices.Concat([]uint64{file, uint64(len(content)), 1}, index)
	for i := range uint64(5) {
		r.args = append(r.args, r.numbers+4*i)
	}
	r.call("decode", append(r.args, 0)...)
	text, n := r.read(r.numbers, 5*4), make([]int, 5)
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint32(text[4*i:]))
	}
	guard.Check(h.check(n[0], n[1]))
	return do(r, n)
}

// call calls an exported function. A flaw of the decoder ends it with an error.
func (r *call) call(name string, args ...uint64) uint64 {
	result, err := r.module.ExportedFunction(name).Call(r.ctx, args...)
	if err != nil || result[0] == 0 {
		guard.Check(errDecode)
	}
	return result[0]
}

// read returns n bytes at an address, until the next call.
func (r *call) read(at uint64, n int) []byte {
	text, ok := r.module.Memory().Read(uint32(at), uint32(n))
	if !ok {
		guard.Check(errDecode)
	}
	return text
}

// pixels decodes the image to n bytes.
func (r *call) pixels(n int) []byte {
	out := r.call("malloc", uint64(n))
	r.args[2] = 0
	r.call("decode", append(r.args, out)...)
	return bytes.Clone(r.read(out, n))
}

// Decode decodes the primary image of a file. The orientation, as in EXIF, turns it upright.
func Decode(content []byte) (img image.Image, orientation int, err error) {
	h, err := ReadHeader(bytes.NewReader(content))
	if err != nil {
		return nil, 0, err
	}
	err = guard.Try(func() {
		if isAVIF(content) {
			img = run(avif, []uint64{0}, content, h, decodeAVIF)
		} else {
			img = run(heic, nil, content, h, decodeHEIC)
		}
	})
	return img, h.turn, err
}

// isAVIF reports whether one of the brands of a file is of AVIF. Others may be general.
func isAVIF(content []byte) bool {
	r := reader{data: content}
	_, brands, _ := r.box()
	for ; len(brands.data) >= 4; brands.take(4) {
		if brand := string(brands.data[:4]); brand == "avif" || brand == "avis" {
			return true
		}
	}
	return false
}

// check returns an error unless an image that is not turned yet has at most the size of the header.
func (h Header) check(width, height int) error {
	if h.turn >= 5 {
		width, height = height, width
	}
	if width < 1 || height < 1 || width > h.Width || height > h.Height {
		return fmt.Errorf("%d×%d pixels, but the header declares %d×%d", width, height, h.Width, h.Height)
	}
	return nil
}

func decodeHEIC(r *call, n []int) image.Image {
	width, height, colours, chroma, premultiplied := n[0], n[1], n[2], n[3], n[4] == 1
	align := func(n int) int { return (n + 15) &^ 15 } // of rows
	const yCbCr, rgb, grey = 0, 1, 2
	box := image.Rect(0, 0, width, height)
	stride, half, halfRows := align(width), 0, 0
	ratio := image.YCbCrSubsampleRatio420
	switch {
	case colours == rgb:
		stride = align(4 * width)
	case colours == grey:
	case colours == yCbCr && chroma >= 1 && chroma <= 3:
		ratio = [...]image.YCbCrSubsampleRatio{1: ratio, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio444}[chroma]
		half, halfRows = align((width+1)/2), height
		if chroma == 1 {
			halfRows = (height + 1) / 2
		}
		if chroma == 3 {
			half = stride
		}
	default:
		guard.Fail("colours of the unknown form %d, %d", colours, chroma)
	}
	first, second := stride*height, half*halfRows
	pix := r.pixels(first + 2*second)
	switch {
	case colours == grey:
		return &image.Gray{Pix: pix, Stride: stride, Rect: box}
	case colours == rgb && premultiplied:
		return &image.RGBA{Pix: pix, Stride: stride, Rect: box}
	case colours == rgb:
		return &image.NRGBA{Pix: pix, Stride: stride, Rect: box}
	}
	return &image.YCbCr{Y: pix[:first], Cb: pix[first : first+second], Cr: pix[first+second:], YStride: stride, CStride: half,
		SubsampleRatio: ratio, Rect: box}
}

// decodeAVIF decodes the first image of a sequence.
func decodeAVIF(r *call, n []int) image.Image {
	width, height, bytes := n[0], n[1], 4
	if n[2] > 8 {
		bytes = 8
	}
	const unset = "unset..." // the decoder writes a time there, unless the image is damaged
	r.module.Memory().WriteString(uint32(r.numbers+16), unset)
	pix := r.pixels(width * height * bytes)
	if string(r.read(r.numbers+16, len(unset))) == unset {
		guard.Check(errDecode)
	}
	if bytes == 4 {
		return &image.RGBA{Pix: pix, Stride: 4 * width, Rect: image.Rect(0, 0, width, height)}
	}
	for i := 0; i < len(pix); i += 2 {
		pix[i], pix[i+1] = pix[i+1], pix[i]
	}
	return &image.RGBA64{Pix: pix, Stride: 8 * width, Rect: image.Rect(0, 0, width, height)}
}
