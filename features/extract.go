package features

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"math"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Options say how the images of a set are worked on, whatever is made of them. The
// zero value takes whole images, normalises rows to unit length and stops at the
// first that cannot be used.
type Options struct {
	// Crop picks the part of each image that is taken, nil for the whole, or for what the
	// extractor takes by itself.
	Crop Crop
	// Power is the exponent of the values, before they are normalised: above 0 and up to
	// 1, or 0 for 1. Values below 0 have none.
	Power float64
	// Normalise is how rows are.
	Normalise Norm
	// SkipBad leaves out the samples that cannot be used instead of stopping.
	SkipBad bool
	// Workers is how many images are in work at once, or 0 for one for each
	// processor. The result does not depend on it.
	Workers int
	// Images opens the set's images; nil stands for those of the set.
	Images *datasets.Images
	// Cache, if set, keeps what is made of images, under their content and all
	// settings that it depends on.
	Cache Cache
	// Observer, if set, sees each image that is decoded.
	Observer *Observer
	// Progress, if set, is called with how many images are done. Calls do not
	// overlap.
	Progress func(done, total int)
}

// Observer sees images before something is made of them, while their files are in memory. What the
// cache has is not decoded, and not seen.
type Observer struct {
	// Least is the height and width that images have to keep, 0 for whole ones, and Memory
	// returns how many bytes See takes, at most, for one of width×height pixels, beside those of the
	// image; see [imagefile.Use].
	Least  int
	Memory func(width, height int) int64
	// See is given the image of sample i, and the size of the whole one. Several goroutines call it
	// at once. Its error stops the work.
	See func(i int, img image.Image, whole image.Point) error
}

// with gives the image of sample i to the use, when the observer has seen it, as
// [datasets.Images.With] does.
func (o *Observer) with(ctx context.Context, images *datasets.Images, i int, use imagefile.Use) error {
	if o == nil {
		return images.With(ctx, i, use)
	}
	see := func(img image.Image, whole image.Point) error { return o.See(i, img, whole) }
	return images.With(ctx, i, imagefile.Use{Least: o.Least, Memory: o.Memory, Do: see}, use)
}

// Cache keeps what was made of images. What it has lost is made again.
type Cache interface {
	// Get returns the blob of a key, and SizeOf its length, if it is there.
	Get(key [sha256.Size]byte) (blob []byte, ok bool)
	SizeOf(key [sha256.Size]byte) (size int64, ok bool)
	// Put keeps a blob if it can.
	Put(key [sha256.Size]byte, blob []byte)
}

// CacheVersion is part of all keys. It changes with what is kept for the same
// settings.
const CacheVersion = "1"

// settingsOf digests an extractor's settings.
func settingsOf(e Extractor) string { return fmt.Sprintf("%T%+[1]v", e) }

// Extract returns the rows that an extractor makes of the samples of a set, n×m.
// Vectors that hold images are images to it. With an extractor whose rows are images,
// vectors that need no cropping or resizing are taken as they are, sparse ones too, and
// so are vectors that hold no images.
//
// Without SkipBad the first sample that cannot be used stops the work with an
// error that names it.
func Extract(ctx context.Context, set *datasets.Set, by RowExtractor, opt Options) (*Matrix, error) {
	s, err := sourceOf(ctx, set, by, opt)
	if err != nil {
		return nil, err
	}
	var out *Matrix
	if s.fill == nil {
		out, err = vectors(ctx, set, opt)
	} else {
		out, err = dense(ctx, set, opt, s.columns, func(i int, row []float64) error { return s.fill(ctx, i, row) })
	}
	if err != nil {
		return nil, err
	}
	out.Height, out.Width, out.Channels = s.height, s.width, s.channels
	out.Places, out.Crop = s.places, s.crop
	return out, nil
}

// source is what rows are made of.
type source struct {
	columns int
	// fill makes the row of a sample, which is zero before and not normalised. It is nil
	// where rows are the set's vectors as they are.
	fill func(ctx context.Context, i int, row []float64) error
	// height, width and channels are those of the images that rows are, or 0.
	height, width, channels int
	// places and crop are those of Matrix.
	places Cells
	crop   Crop
}

// sourceOf returns what the extractor's rows of the set are made of.
func sourceOf(ctx context.Context, set *datasets.Set, by RowExtractor, opt Options) (*source, error) {
	if !(opt.Power >= 0 && opt.Power <= 1) {
		return nil, fmt.Errorf("features: a power of %v: want above 0 and up to 1", opt.Power)
	}
	rows, err := by.Rows(ctx, set)
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	info := InfoOf(by)
	if opt.Crop == (Whole{}) && rows.Crop == nil {
		opt.Crop = nil
	}
	s, isImage := &source{}, rows.Fill == nil
	switch {
	case set.Files == nil && isImage && opt.Crop == nil && rows.Height == set.Height && rows.Width == set.Width:
		_, s.columns = set.Vectors.Dims()
	case set.Files == nil && set.Height == 0:
		return nil, fmt.Errorf("features: the vectors of the set %s are no images, and %s %s", set.Name, info.Name, info.Images)
	case set.Files == nil && info.Colour:
		return nil, fmt.Errorf("features: the images of the set %s are grey, and %s %s", set.Name, info.Name, info.Images)
	default:
		if opt.Crop = cmp.Or(opt.Crop, rows.Crop, Crop(Whole{})); rows.Places != (Cells{}) {
			s.places, s.crop = rows.Places, opt.Crop
		}
		s.columns, s.fill = rows.filler(set, by, opt)
	}
	if isImage && rows.Height > 0 {
		s.height, s.width, s.channels = rows.Height, rows.Width, rows.Channels
	}
	return s, nil
}

// filler returns the length of rows and what makes one of an image.
func (r *Rows) filler(set *datasets.Set, by RowExtractor, opt Options) (columns int, fill func(ctx context.Context, i int, row []float64) error) {
	images := opt.Images
	if images == nil {
		images = set.Images()
	}
	crop := opt.Crop
	columns = r.Columns
	need := func(w, h int) int64 {
		return resizing(w, h, r.Height, r.Width, r.Channels) + r.Memory + 8*int64(r.Channels*r.Height*r.Width)
	}
	if r.Fill == nil {
		columns = r.Channels * r.Height * r.Width
	}
	black, white := images.Range()
	kept := opt.Cache != nil && InfoOf(by).Cached
	return columns, func(ctx context.Context, i int, row []float64) error {
		var key cache.Key
		if kept {
			content, err := images.Sum(i)
			if err != nil {
				return err
			}
			key = cache.NewKey("row", CacheVersion, reducedVersion, settingsOf(by), r.Digest, crop.digest(set.Names[i]), content[:])
			if readRow(row, opt.Cache, key) {
				return nil
			}
		}
		use := imagefile.Use{Least: r.least(crop), Memory: need, Do: func(img image.Image, _ image.Point) error {
			if err := r.make(row, img, crop, set.Names[i]); err != nil {
				return fmt.Errorf("%s: %w", set.Names[i], err)
			}
			return nil
		}}
		if err := opt.Observer.with(ctx, images, i, use); err != nil {
			return err
		}
		if r.Fill == nil {
			for j, v := range row {
				row[j] = black + (white-black)*v
			}
		}
		if kept && images.Truncated(i) == "" { // it is to be noticed the next time
			opt.Cache.Put(key, appendRow(nil, row))
		}
		return nil
	}
}

// reducedVersion is part of the keys of rows: it changes with what reduced images hold.
const reducedVersion = "reduced 3"

// leastReduced is the least height and width to which images are reduced before they are
// resized.
const leastReduced = 480

// least returns the height and width that an image has to keep for what is made of it: twice those that it is
// brought to, and 480 pixels. A larger one comes reduced, so that most of its pixels need not be
// decoded, or are not read one by one. Where parts are given in pixels the image comes whole.
func (r *Rows) least(crop Crop) int {
	switch crop.(type) {
	case Whole, Square:
		return max(leastReduced, 2*r.Height, 2*r.Width)
	}
	return 0
}

// make makes the row of an image.
func (r *Rows) make(row []float64, img image.Image, crop Crop, sample string) error {
	if r.Channels == 3 {
		img = opaque(img)
	} else {
		img = imagefile.Gray(img)
	}
	if r.Fill == nil {
		return crop.resample(&Canvas{r.Height, r.Width, r.Channels, row}, img, sample)
	}
	canvas := newCanvas(r.Height, r.Width, r.Channels)
	if err := crop.resample(canvas, img, sample); err != nil {
		return err
	}
	return r.Fill(row, canvas)
}

// readRow reads a row from the cache, if it has one that can be.
func readRow(row []float64, from Cache, key cache.Key) bool {
	blob, ok := from.Get(key)
	if !ok || len(blob) != 8*len(row) {
		return false
	}
	for j := range row {
		row[j] = math.Float64frombits(binary.LittleEndian.Uint64(blob[8*j:]))
	}
	return true
}

func appendRow(blob []byte, row []float64) []byte {
	for _, v := range row {
		blob = binary.LittleEndian.AppendUint64(blob, math.Float64bits(v))
	}
	return blob
}

// vectors returns the set's vectors as they are, normalised. Sparse vectors stay
// sparse.
func vectors(ctx context.Context, set *datasets.Set, opt Options) (*Matrix, error) {
	x, ok := set.Vectors.(*sparse.CSR)
	if !ok {
		_, m := set.Vectors.Dims()
		return dense(ctx, set, opt, m, func(i int, row []float64) error {
			vectorfile.Row(row, i, set.Vectors)
			return nil
		})
	}
	if opt.Normalise != NormNone || opt.Power != 0 {
		n, m := x.Dims()
		release, err := memory.FromContext(ctx).Keep(16*int64(x.NNZ()), fmt.Sprintf("the features of %s, %d×%d", set.Name, n, m))
		if err != nil {
			return nil, err
		}
		defer release()
		x = x.Clone()
	}
	out, err := samples(ctx, set, opt, func(i int) error {
		columns, values := x.Row(i)
		return opt.normalise(set, i, values, columns)
	})
	if err != nil {
		return nil, err
	}
	if len(out.Skipped) > 0 {
		x = x.SelectRows(out.Rows)
	}
	out.X = x
	return out, nil
}

// dense returns the matrix of the rows that fill writes, normalised.
func dense(ctx context.Context, set *datasets.Set, opt Options, m int, fill func(i int, row []float64) error) (*Matrix, error) {
	n := set.Len()
	if n > math.MaxInt/8/max(m, 1) {
		return nil, fmt.Errorf("features: %d samples of %d values are more than can be counted", n, m)
	}
	release, err := memory.FromContext(ctx).Keep(8*int64(n)*int64(m), fmt.Sprintf("the features of %s, %d×%d", set.Name, n, m))
	if err != nil {
		return nil, err
	}
	defer release()
	x := make([]float64, n*m)
	out, err := samples(ctx, set, opt, func(i int) error {
		row := x[i*m : (i+1)*m]
		if err := fill(i, row); err != nil {
			return err
		}
		return opt.normalise(set, i, row, nil)
	})
	if err != nil {
		return nil, err
	}
	for at, i := range out.Rows {
		if at != i { // a sample was left out before
			copy(x[at*m:(at+1)*m], x[i*m:(i+1)*m])
		}
	}
	out.X = mat.NewDense(len(out.Rows), m, x[:len(out.Rows)*m])
	return out, nil
}

func (o Options) normalise(set *datasets.Set, i int, values []float64, columns []int) error {
	err := raise(values, o.Power, columns)
	if err == nil {
		err = o.Normalise.apply(values, columns)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", set.Names[i], err)
	}
	return nil
}

// samples calls f for each sample of the set, several at once, and returns a matrix
// with Rows and Skipped.
func samples(ctx context.Context, set *datasets.Set, opt Options, f func(i int) error) (*Matrix, error) {
	bad := make([]error, set.Len())
	if err := usable(ctx, set, opt, bad, f); err != nil {
		return nil, err
	}
	out := &Matrix{}
	var err error
	out.Rows, out.Skipped, err = listed(set, bad)
	return out, err
}

// usable calls f for each sample of the set that bad has no error of, and where
// samples may be left out puts in bad what is wrong with those that cannot be used.
func usable(ctx context.Context, set *datasets.Set, opt Options, bad []error, f func(i int) error) error {
	all := make([]int, set.Len())
	for i := range all {
		all[i] = i
	}
	return each(ctx, set, all, opt.Workers, opt.Progress, func(_, i int) error {
		if bad[i] != nil {
			return nil
		}
		err := named(set, i, func() error { return f(i) })
		isBad, failure := BadSample(err)
		if isBad && opt.SkipBad {
			bad[i] = err
			return nil
		}
		return failure
	})
}

// listed returns the samples that can be used, and an error for each other one.
func listed(set *datasets.Set, bad []error) (rows []int, skipped []error, err error) {
	var kinds []datasets.BadFile
	for i, err := range bad {
		if err == nil {
			rows = append(rows, i)
		} else {
			skipped = append(skipped, err)
			kinds = append(kinds, datasets.BadFile{Kind: imagefile.KindOf(err)})
		}
	}
	switch {
	case len(bad) == 0:
		return nil, nil, fmt.Errorf("features: the set %s has no samples", set.Name)
	case len(rows) == 0:
		return nil, nil, fmt.Errorf("features: none of the %d samples of %s can be used (%s); the first: %w", len(bad), set.Name, datasets.CountKinds(kinds), skipped[0])
	}
	return rows, skipped, nil
}

// each calls f for some samples of a set, several at once, with the place of each
// among them. They begin in their order, those that have begun are finished, and
// after an error no other begins. It returns the cause of the context's end, or the
// first error in the samples' order.
func each(ctx context.Context, set *datasets.Set, samples []int, workers int, progress func(done, total int), f func(at, i int) error) error {
	errs := make([]error, len(samples))
	var mu sync.Mutex
	done := 0
	var stop atomic.Int64 // behind this place no sample begins
	stop.Store(int64(len(samples)))
	fault := parallel.Blocks(ctx, workers, len(samples), 1, func(_, at, _ int) {
		if int64(at) > stop.Load() {
			return
		}
		i := samples[at]
		if errs[at] = named(set, i, func() error { return f(at, i) }); errs[at] != nil {
			stop.Store(int64(at))
		}
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(done, len(samples))
		}
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return fault
}

// named calls f; a panic is an error that names the sample.
func named(set *datasets.Set, i int, f func() error) error {
	err := guard.Call(f)
	var fault *guard.PanicError
	if errors.As(err, &fault) {
		return fmt.Errorf("%s: %w", set.Names[i], err)
	}
	return err
}
