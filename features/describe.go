package features

import (
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/memory"
)

// ErrNoDescriptors is the error of an image without descriptors, whose histogram of words would be zero.
var ErrNoDescriptors = errors.New("no descriptors")

// Described are the descriptors of the images of a set, in the cache or made again when they are asked for. Of
// [Made] it has Rows, the samples that have descriptors, and Skipped.
type Described struct {
	source
	by      DescriptorExtractor
	keys    []cache.Key
	lengths []int
}

// Describe finds which samples of a set have descriptors. Without SkipBad the first that has none is an error.
// Descriptors are of whole images: there is no Crop, and Normalise is for rows.
func Describe(ctx context.Context, set *datasets.Set, by DescriptorExtractor, opt Options) (*Described, error) {
	info := InfoOf(by)
	switch err := by.Check(); {
	case err != nil:
		return nil, fmt.Errorf("features: %w", err)
	case opt.Crop != nil:
		return nil, fmt.Errorf("features: crop does not go with %s, which %s", info.Name, info.Images)
	case set.Files == nil && set.Height == 0:
		return nil, fmt.Errorf("%s holds no images, and %s describes images", set.Name, info.Name)
	}
	if opt.Images == nil {
		opt.Images = set.Images()
	}
	n := set.Len()
	d := &Described{source: source{set: set, opt: opt}, by: by, keys: make([]cache.Key, n), lengths: make([]int, n)}
	bad, settings := make([]error, n), settingsOf(by)
	d.opt.Progress = nil
	if err := d.usable(ctx, bad, func(i int) error {
		content, err := opt.Images.Sum(i)
		d.keys[i] = cache.NewKey("descriptors", CacheVersion, settings, content[:])
		return err
	}); err != nil {
		return nil, err
	}
	// That all of these images can be used is cached too.
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
		if err := d.usable(ctx, bad, func(i int) error {
			return d.with(ctx, i, func(found *Descriptors) error {
				if d.lengths[i] = found.Len(); d.lengths[i] > 0 {
					return nil
				}
				return fmt.Errorf("%s: %w: the image has %d×%d pixels, and %s", set.Names[i], ErrNoDescriptors, found.Width, found.Height, by.WhyNone())
			})
		}); err != nil {
			return nil, err
		}
	}
	err := d.list(set, bad)
	if err == nil && len(d.Skipped) == 0 && opt.Cache != nil {
		opt.Cache.Put(all, nil)
	}
	return d, err
}

func (d *Described) Len(i int) int { return d.lengths[i] }

// Key is the SHA-256 sum of what descriptors are made of.
type Key = cache.Key

// Keys returns the cache's keys of the descriptors of samples.
func (d *Described) Keys(samples []int) []Key {
	keys := make([]Key, len(samples))
	for at, i := range samples {
		keys[at] = d.keys[i]
	}
	return keys
}

// Each calls use with the descriptors of samples and their places among them, several at once. It returns the
// first error in the samples' order; a changed image is an error.
func (d *Described) Each(ctx context.Context, samples []int, progress func(done, total int), use func(at int, found *Descriptors) error) error {
	return each(ctx, d.set, samples, d.opt.Workers, progress, func(at, i int) error {
		return d.with(ctx, i, func(found *Descriptors) error { return use(at, found) })
	})
}

// with calls use with the descriptors of a sample, while it holds a share of the memory budget of the context.
func (d *Described) with(ctx context.Context, i int, use func(*Descriptors) error) error {
	if d.opt.Cache != nil {
		found, release, err := d.cached(ctx, i)
		if err != nil {
			return err
		}
		if found != nil {
			defer release()
			return use(found)
		}
	}
	return d.opt.Observer.with(ctx, d.opt.Images, i, imagefile.Use{Memory: d.by.Memory, Do: func(img image.Image, _ image.Point) error {
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

// cached returns the descriptors of a sample that the cache has and the memory budget has room for, or nil.
func (d *Described) cached(ctx context.Context, i int) (found *Descriptors, release func(), err error) {
	budget := memory.FromContext(ctx)
	size, ok := d.opt.Cache.SizeOf(d.keys[i])
	size += size / 8 // some of what is read is copied
	if !ok || budget.Check(size, "") != nil {
		return nil, nil, nil
	}
	if release, err = budget.Acquire(ctx, size, d.set.Names[i]); err != nil {
		return nil, nil, err
	}
	found = &Descriptors{}
	if blob, ok := d.opt.Cache.Get(d.keys[i]); ok && found.UnmarshalBinary(blob) == nil && (found.Dim == d.by.Dim() || found.Len() == 0) {
		return found, release, nil
	}
	release()
	return nil, nil, nil
}
