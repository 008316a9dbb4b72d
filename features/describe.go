package features

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// ErrNoDescriptors is wrapped by the error for an image without descriptors, whose histogram of words would be zero.
var ErrNoDescriptors = errors.New("no descriptors")

// Described gives access to the descriptors of the images of a data set, which are read from the cache or computed on
// demand. Its field Rows holds the samples that have descriptors, and Skipped the errors of the others.
type Described struct {
	source
	by      DescriptorExtractor
	keys    []cache.Key
	lengths []int
}

// Describe computes the descriptors of all samples of a set once, to find the samples that have any. Without SkipBad the
// first sample without descriptors is an error. opt.Crop must be nil; Power and Normalise are ignored.
func Describe(ctx context.Context, set *datasets.Set, by DescriptorExtractor, opt Options) (_ *Described, err error) {
	defer guard.Catch(&err)
	info := InfoOf(by)
	guard.Check(guard.Wrap(by.Check(), "features"))
	guard.FailIf(opt.Crop != nil, "features: crop is not compatible with %s, which %s", info.Name, info.Images)
	guard.FailIf(set.Files == nil && set.Height == 0, "%s has no images, but %s needs images", set.Name, info.Name)
	if opt.Images == nil {
		opt.Images = set.Images()
	}
	n := set.Len()
	d := &Described{source: source{set: set, opt: opt}, by: by, keys: make([]cache.Key, n), lengths: make([]int, n)}
	bad, settings := make([]error, n), settingsOf(by)
	d.opt.Progress = nil
	guard.Check(d.eachUsable(ctx, bad, func(i int) error {
		content, err := opt.Images.Sum(i)
		d.keys[i] = cache.NewKey("descriptors", CacheVersion, settings, content[:])
		return err
	}))
	// The cache also records that all of these images are usable.
	all, usable := cache.NewKey("usable", d.keys), false
	if opt.Cache != nil {
		_, usable = opt.Cache.Get(all)
	}
	for i := 0; usable && i < n; i++ {
		var size int64
		size, usable = opt.Cache.SizeOf(d.keys[i])
		d.lengths[i] = int(size-binaryHead) / (by.Dim() + binaryPlace)
	}
	d.opt.Progress = opt.Progress
	if !usable {
		guard.Check(d.eachUsable(ctx, bad, func(i int) error {
			return d.withDescriptors(ctx, i, func(found *Descriptors) error {
				if d.lengths[i] = found.Len(); d.lengths[i] > 0 {
					return nil
				}
				return fmt.Errorf("%s: %w: the image has %d×%d pixels: %s", set.Names[i], ErrNoDescriptors, found.Width, found.Height, by.WhyNone())
			})
		}))
	}
	guard.Check(d.list(set, bad))
	if len(d.Skipped) == 0 && opt.Cache != nil {
		opt.Cache.Put(all, nil)
	}
	return d, nil
}

// Len returns the number of descriptors of sample i.
func (d *Described) Len(i int) int { return d.lengths[i] }

// Key is the SHA-256 sum of the image and settings that descriptors depend on.
type Key = cache.Key

// Keys returns the cache keys of the descriptors of the given samples.
func (d *Described) Keys(samples []int) []Key {
	return matrix.Take(d.keys, samples)
}

// Each calls use with the descriptors of each of the samples and its index at in samples, concurrently. It returns the
// first error in the order of samples. A file that has changed since Describe is an error.
func (d *Described) Each(ctx context.Context, samples []int, progress func(done, total int), use func(at int, found *Descriptors) error) error {
	return eachSample(ctx, d.set, samples, d.opt.Workers, progress, func(at, i int) error {
		return d.withDescriptors(ctx, i, func(found *Descriptors) error { return use(at, found) })
	})
}

// withDescriptors calls use with the descriptors of a sample, while it holds their size of the memory budget of ctx.
func (d *Described) withDescriptors(ctx context.Context, i int, use func(*Descriptors) error) (err error) {
	defer guard.Catch(&err)
	if d.opt.Cache != nil {
		if found, release := d.cached(ctx, i); found != nil {
			defer release()
			return use(found)
		}
	}
	return d.opt.withImage(ctx, i, imagefile.Use{Memory: d.by.Memory, Do: func(img image.Image, _ image.Point) error {
		found, err := d.by.Extract(img)
		if err != nil {
			return fmt.Errorf("%s: %w", d.set.Names[i], err)
		}
		if d.opt.Cache != nil && d.opt.Images.Truncated(i) == "" {
			blob, err := found.AppendBinary(nil)
			if err != nil {
				return err
			}
			d.opt.Cache.Put(d.keys[i], blob)
		}
		return use(found)
	}})
}

// cached returns the descriptors of a sample, or nil if they are not cached or exceed the memory budget. It calls guard.Fail.
func (d *Described) cached(ctx context.Context, i int) (found *Descriptors, release func()) {
	budget := memory.FromContext(ctx)
	size, ok := d.opt.Cache.SizeOf(d.keys[i])
	size += size / 8 // positions and scales are copied
	if !ok || budget.Check(size, "") != nil {
		return nil, nil
	}
	release, found = guard.Must(budget.Acquire(ctx, size, d.set.Names[i])), &Descriptors{}
	if blob, ok := d.opt.Cache.Get(d.keys[i]); ok && found.UnmarshalBinary(blob) == nil && (found.Dim == d.by.Dim() || found.Len() == 0) {
		return found, release
	}
	release()
	return nil, nil
}

// Descriptors holds the p local descriptors of one image.
type Descriptors struct {
	Vectors []uint8 // p×Dim, row after row
	Dim     int     // the length of a descriptor, 128 for SIFT
	// X and Y are the centres of the p patches in pixels, x to the right and y down; (0, 0) is the centre of the
	// upper left pixel. Scale is the side of a bin in pixels; a SIFT patch has 4×4 bins. The patch of a key point is
	// rotated and may extend beyond the image.
	X, Y, Scale   []float32
	Width, Height int // size of the image in pixels
}

// Len returns the number of descriptors.
func (d *Descriptors) Len() int { return len(d.X) }

// Vector returns a view of descriptor i.
func (d *Descriptors) Vector(i int) []uint8 {
	return d.Vectors[i*d.Dim : (i+1)*d.Dim : (i+1)*d.Dim]
}

// enlarge converts positions and scales in a reduced image to the original, sx times as wide and sy times as high.
func (d *Descriptors) enlarge(sx, sy float64) {
	for i := range d.X {
		d.X[i] = float32((float64(d.X[i])+0.5)*sx - 0.5)
		d.Y[i] = float32((float64(d.Y[i])+0.5)*sy - 0.5)
		d.Scale[i] = float32(float64(d.Scale[i]) * math.Sqrt(sx*sy))
	}
}

// binaryHead is the length of the header of encoded descriptors: p, Dim, Width and Height, four bytes each.
const binaryHead = 16

// binaryPlace is the encoded length of a descriptor's X, Y and Scale.
const binaryPlace = 12

// AppendBinary implements [encoding.BinaryAppender]. Numbers are little-endian.
func (d *Descriptors) AppendBinary(b []byte) ([]byte, error) {
	if n := max(d.Len(), d.Dim, d.Width, d.Height); n > math.MaxInt32 {
		return b, fmt.Errorf("descriptors: %d values are too many to write", n)
	}
	var err error
	for _, part := range []any{[]uint32{uint32(d.Len()), uint32(d.Dim), uint32(d.Width), uint32(d.Height)}, d.Vectors, d.X, d.Y, d.Scale} {
		if b, err = binary.Append(b, binary.LittleEndian, part); err != nil {
			return b, err
		}
	}
	return b, nil
}

// UnmarshalBinary decodes the result of AppendBinary. Vectors shares the memory of b; the rest takes at most 2·len(b)
// bytes.
func (d *Descriptors) UnmarshalBinary(b []byte) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(len(b) < binaryHead, "descriptors: %d bytes are too few; expected %d or more", len(b), binaryHead)
	n := func(at int) int { return int(binary.LittleEndian.Uint32(b[at:])) }
	p, dim := n(0), n(4)
	guard.FailIf(p > len(b) || p > 0 && dim > len(b) || len(b) != binaryHead+p*(dim+binaryPlace),
		"descriptors: %d bytes do not contain %d descriptors of length %d", len(b), p, dim)
	guard.FailIf(p > 0 && (n(8) == 0 || n(12) == 0), "descriptors: the image has %d×%d pixels; expected 1×1 or more", n(8), n(12))
	*d = Descriptors{Dim: dim, Width: n(8), Height: n(12), Vectors: b[binaryHead:][: p*dim : p*dim]}
	b = b[binaryHead+p*dim:]
	for _, list := range []*[]float32{&d.X, &d.Y, &d.Scale} {
		*list = make([]float32, p)
		if _, err := binary.Decode(b, binary.LittleEndian, *list); err != nil {
			return fmt.Errorf("descriptors: %w", err)
		}
		for i, v := range *list {
			if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
				return fmt.Errorf("descriptors: position %d is %v; expected a finite number", i, v)
			}
		}
		b = b[4*p:]
	}
	return nil
}
