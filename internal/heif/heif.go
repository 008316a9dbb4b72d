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
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

//go:embed codec/heif.wasm.gz
var heicProgram []byte

//go:embed codec/avif.wasm.gz
var avifProgram []byte

// The licences of the decoders and of their bindings.
var (
	//go:embed codec/LICENSE.libheif
	LicenseLibheif string
	//go:embed codec/LICENSE.libde265
	LicenseLibde265 string
	//go:embed codec/LICENSE.libavif
	LicenseLibavif string
	//go:embed codec/LICENSE.aom
	LicenseAom string
	//go:embed codec/LICENSE.gen2brain
	LicenseBinding string
)

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
func compile(program []byte) func() (*compiled, error) {
	return sync.OnceValues(func() (*compiled, error) {
		packed, err := gzip.NewReader(bytes.NewReader(program))
		if err != nil {
			return nil, err
		}
		code, err := io.ReadAll(packed)
		if err != nil {
			return nil, err
		}
		ctx := context.Background()
		c := &compiled{runtime: wazero.NewRuntime(ctx)}
		if _, err = wasi_snapshot_preview1.Instantiate(ctx, c.runtime); err == nil {
			c.module, err = c.runtime.CompileModule(ctx, code)
		}
		return c, err
	})
}

var heic, avif = compile(heicProgram), compile(avifProgram)

// heap is the memory of one decoder. It cannot grow beyond its capacity.
type heap []byte

func (h heap) Reallocate(size uint64) []byte {
	if size > uint64(cap(h)) {
		return nil
	}
	return h[:size]
}

func (h heap) Free() {}

// call is a running decoder for a file.
type call struct {
	ctx    context.Context
	module api.Module
	file   uint64 // address of its content
	length int
}

var errDecode = errors.New("the image data is damaged or truncated")

// run starts a decoder and calls do with the content in its memory.
func run(get func() (*compiled, error), content []byte, h Header, do func(*call) (image.Image, error)) (img image.Image, err error) {
	c, err := get()
	if err != nil {
		return nil, err
	}
	most := heapBytes(h.Width, h.Height, int64(len(content)))
	ctx := experimental.WithMemoryAllocator(context.Background(), experimental.MemoryAllocatorFunc(func(uint64, uint64) experimental.LinearMemory {
		return make(heap, 0, most)
	}))
	module, err := c.runtime.InstantiateModule(ctx, c.module, wazero.NewModuleConfig().WithName(""))
	if err != nil {
		return nil, err
	}
	defer module.Close(ctx)
	r := &call{ctx: ctx, module: module, length: len(content)}
	if r.file, err = r.alloc(len(content)); err != nil {
		return nil, err
	}
	if !module.Memory().Write(uint32(r.file), content) {
		return nil, errDecode
	}
	// libavif does not turn images, and libheif fails at some that are mirrored too. Neither may.
	for at := h.start; at < h.end; at++ {
		if box := string(content[at:min(at+8, h.end)]); box == "\x00\x00\x00\x09irot" || box == "\x00\x00\x00\x09imir" {
			module.Memory().Write(uint32(r.file+uint64(at)+4), []byte("irot\x00")) // by 0°
		}
	}
	return do(r)
}

// call calls an exported function. A flaw of the decoder ends it with an error.
func (r *call) call(name string, args ...uint64) (uint64, error) {
	result, err := r.module.ExportedFunction(name).Call(r.ctx, args...)
	if err != nil || result[0] == 0 {
		return 0, errDecode
	}
	return result[0], nil
}

func (r *call) alloc(bytes int) (uint64, error) { return r.call("malloc", uint64(bytes)) }

// numbers returns n 32-bit numbers at an address.
func (r *call) numbers(at uint64, n int) ([]int, error) {
	text, ok := r.module.Memory().Read(uint32(at), uint32(4*n))
	if !ok {
		return nil, errDecode
	}
	numbers := make([]int, n)
	for i := range numbers {
		numbers[i] = int(binary.LittleEndian.Uint32(text[4*i:]))
	}
	return numbers, nil
}

// pixels returns a copy of memory.
func (r *call) pixels(at uint64, n int) ([]byte, error) {
	text, ok := r.module.Memory().Read(uint32(at), uint32(n))
	if !ok {
		return nil, errDecode
	}
	return bytes.Clone(text), nil
}

// Decode decodes the primary image of a file. The orientation, as in EXIF, turns it upright.
func Decode(content []byte) (img image.Image, orientation int, err error) {
	h, err := ReadHeader(bytes.NewReader(content))
	if err != nil {
		return nil, 0, err
	}
	if isAVIF(content) {
		img, err = decodeAVIF(content, h)
	} else {
		img, err = decodeHEIC(content, h)
	}
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

func decodeHEIC(content []byte, h Header) (image.Image, error) {
	return run(heic, content, h, func(r *call) (image.Image, error) {
		at, err := r.alloc(5 * 4)
		if err != nil {
			return nil, err
		}
		decode := func(configOnly, out uint64) error {
			_, err := r.call("decode", r.file, uint64(r.length), configOnly, at, at+4, at+8, at+12, at+16, out)
			return err
		}
		if err := decode(1, 0); err != nil {
			return nil, err
		}
		n, err := r.numbers(at, 5)
		if err != nil {
			return nil, err
		}
		width, height, colours, chroma, premultiplied := n[0], n[1], n[2], n[3], n[4] == 1
		if err := h.check(width, height); err != nil {
			return nil, err
		}
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
			return nil, fmt.Errorf("colours of the unknown form %d, %d", colours, chroma)
		}
		first, second := stride*height, half*halfRows
		out, err := r.alloc(first + 2*second)
		if err == nil {
			err = decode(0, out)
		}
		if err != nil {
			return nil, err
		}
		pix, err := r.pixels(out, first+2*second)
		switch {
		case err != nil:
			return nil, err
		case colours == grey:
			return &image.Gray{Pix: pix, Stride: stride, Rect: box}, nil
		case colours == rgb && premultiplied:
			return &image.RGBA{Pix: pix, Stride: stride, Rect: box}, nil
		case colours == rgb:
			return &image.NRGBA{Pix: pix, Stride: stride, Rect: box}, nil
		}
		return &image.YCbCr{Y: pix[:first], Cb: pix[first : first+second], Cr: pix[first+second:], YStride: stride, CStride: half,
			SubsampleRatio: ratio, Rect: box}, nil
	})
}

// decodeAVIF decodes the first image of a sequence.
func decodeAVIF(content []byte, h Header) (image.Image, error) {
	return run(avif, content, h, func(r *call) (image.Image, error) {
		at, err := r.alloc(4*4 + 8)
		if err != nil {
			return nil, err
		}
		decode := func(configOnly, out uint64) error {
			_, err := r.call("decode", r.file, uint64(r.length), configOnly, 0, at, at+4, at+8, at+12, at+16, out)
			return err
		}
		if err := decode(1, 0); err != nil {
			return nil, err
		}
		n, err := r.numbers(at, 3)
		if err != nil {
			return nil, err
		}
		width, height, bytes := n[0], n[1], 4
		if n[2] > 8 {
			bytes = 8
		}
		if err := h.check(width, height); err != nil {
			return nil, err
		}
		out, err := r.alloc(width * height * bytes)
		unset := []byte("unset...") // the decoder writes a time there, unless the image is damaged
		r.module.Memory().Write(uint32(at+16), unset)
		if err == nil {
			err = decode(0, out)
		}
		if err != nil {
			return nil, err
		}
		if time, ok := r.module.Memory().Read(uint32(at+16), 8); !ok || string(time) == string(unset) {
			return nil, errDecode
		}
		pix, err := r.pixels(out, width*height*bytes)
		if err != nil || bytes == 4 {
			return &image.RGBA{Pix: pix, Stride: 4 * width, Rect: image.Rect(0, 0, width, height)}, err
		}
		for i := 0; i < len(pix); i += 2 {
			pix[i], pix[i+1] = pix[i+1], pix[i]
		}
		return &image.RGBA64{Pix: pix, Stride: 8 * width, Rect: image.Rect(0, 0, width, height)}, nil
	})
}
