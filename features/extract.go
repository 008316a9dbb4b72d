package features

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
)

// Options are the settings of feature extraction that do not depend on the extractor. The zero value uses the extractor's
// default crop, normalises rows to unit length and stops at the first unusable sample.
type Options struct {
	Crop Crop // the part of each image; nil means the extractor's default, or the whole image
	// Power, in (0, 1], is the exponent applied to values before normalisation; 0 means 1. With an exponent below 1
	// values must be ≥ 0.
	Power     float64
	Normalise Norm // the norm of rows
	SkipBad   bool // skips unusable samples
	Raw       bool // neither normalises nor checks rows; all values may be zero
	// Workers is the number of images processed concurrently; 0 means the number of cores. The result does not depend
	// on it.
	Workers int
	Images  *datasets.Images // the opened images of the set; nil opens them
	// Cache, if set, stores features by the content of the images and all settings that they depend on.
	Cache Cache
	// Observer, if set, returns a use of the image of sample i before the extractor's, except for images whose features
	// are cached. An error of it stops the extraction.
	Observer func(i int) imagefile.Use
	// Progress, if set, is called with the number of processed images. Calls do not overlap.
	Progress func(done, total int)
}

// withImage passes the image of sample i to the observer and then to use.
func (o *Options) withImage(ctx context.Context, i int, use imagefile.Use) error {
	if o.Observer == nil {
		return o.Images.With(ctx, i, use)
	}
	return o.Images.With(ctx, i, o.Observer(i), use)
}

// Cache stores features by key, the SHA-256 sum of everything that they depend on. Entries that it drops are computed
// again. It is safe for concurrent use.
type Cache interface {
	// Get returns the blob of a key, which the caller may change, and SizeOf its length. ok is false if it is not cached.
	Get(key [sha256.Size]byte) (blob []byte, ok bool)
	SizeOf(key [sha256.Size]byte) (size int64, ok bool)
	// Put stores a blob if possible.
	Put(key [sha256.Size]byte, blob []byte)
}

// CacheVersion is part of all cache keys. It must change when features change for the same settings. reducedVersion is
// part of the keys of rows, and must change when the values of reduced images change.
const CacheVersion, reducedVersion = "2", "reduced 3"

func settingsOf(e Extractor) string { return fmt.Sprintf("%T%+[1]v", e) }

// Extract returns the features of the samples of a set, n×m, a sample per row. With [Pixels], vectors that need no
// crop or resizing are used unchanged and stay sparse; so are vectors that are not images. Without SkipBad the first
// unusable sample is an error that names it.
func Extract(ctx context.Context, set *datasets.Set, by RowExtractor, opt Options) (_ *Matrix, err error) {
	defer guard.Catch(&err)
	s := sourceOf(ctx, set, by, opt)
	out, bad := &Matrix{Made: s.Made}, make([]error, set.Len())
	if x, ok := set.Vectors.(*sparse.CSR); ok && s.unchanged {
		x = s.sparse(ctx, x, bad)
		guard.Check(out.list(set, bad))
		if out.X = x; len(out.Skipped) > 0 {
			out.X = x.SelectRows(out.Rows)
		}
		return out, nil
	}
	x := s.dense(ctx, bad)
	guard.Check(out.list(set, bad))
	n, m := len(out.Rows), s.columns
	for at, i := range out.Rows {
		copy(x[at*m:(at+1)*m], x[i*m:(i+1)*m])
	}
	out.X = mat.NewDense(n, m, x[:n*m])
	return out, nil
}

// sparse returns the normalised sparse vectors of the set.
func (s *source) sparse(ctx context.Context, x *sparse.CSR, bad []error) *sparse.CSR {
	if s.opt.Normalise != NormNone || s.opt.Power != 0 {
		defer s.reserve(ctx, 16*int64(x.NNZ()))()
		x = x.Clone()
	}
	guard.Check(s.eachUsable(ctx, bad, func(i int) error {
		columns, values := x.Row(i)
		return s.normalise(i, values, columns)
	}))
	return x
}

// dense returns the values of all rows, including bad ones.
func (s *source) dense(ctx context.Context, bad []error) []float64 {
	n, m := s.set.Len(), s.columns
	guard.FailIf(n > math.MaxInt/8/max(m, 1), "features: %d samples of %d values are too many", n, m)
	defer s.reserve(ctx, 8*int64(n)*int64(m))()
	x := make([]float64, n*m)
	guard.Check(s.eachUsable(ctx, bad, func(i int) error { return s.row(ctx, i, x[i*m:(i+1)*m]) }))
	return x
}

func (s *source) reserve(ctx context.Context, bytes int64) (release func()) {
	return guard.Must(memory.FromContext(ctx).Keep(bytes, fmt.Sprintf("the features of %s, %d×%d", s.set.Name, s.set.Len(), s.columns)))
}

// source computes the rows of a set. Its methods sparse, dense and reserve call guard.Fail.
type source struct {
	Made
	set       *datasets.Set
	opt       Options
	columns   int
	unchanged bool // rows are the unchanged vectors of the set
	// fill computes the row of a sample, not normalised. row must be zero.
	fill func(ctx context.Context, i int, row []float64) error
}

// sourceOf validates the options and returns the source for an extractor and a set. It calls guard.Fail.
func sourceOf(ctx context.Context, set *datasets.Set, by RowExtractor, opt Options) *source {
	guard.FailIf(!(opt.Power >= 0 && opt.Power <= 1), "features: power %v: expected above 0 and at most 1", opt.Power)
	rows, err := by.Rows(ctx, set)
	guard.Check(guard.Wrap(err, "features"))
	info := InfoOf(by)
	if opt.Crop == (Whole{}) && rows.Crop == nil {
		opt.Crop = nil
	}
	s, isImage := &source{set: set, opt: opt}, rows.Fill == nil
	switch {
	case set.Files == nil && isImage && opt.Crop == nil && rows.Height == set.Height && rows.Width == set.Width:
		s.unchanged = true
		_, s.columns = set.Vectors.Dims()
		s.fill = func(_ context.Context, i int, row []float64) error {
			matrix.Row(row, i, set.Vectors)
			return nil
		}
	case set.Files == nil && set.Height == 0:
		guard.Fail("features: the vectors of the set %s are not images, but %s %s", set.Name, info.Name, info.Images)
	case set.Files == nil && info.Colour:
		guard.Fail("features: the images of the set %s are grey, but %s %s", set.Name, info.Name, info.Images)
	default:
		if s.opt.Crop = cmp.Or(opt.Crop, rows.Crop, Crop(Whole{})); rows.Places != (Cells{}) {
			s.Places, s.Crop = rows.Places, s.opt.Crop
		}
		if s.columns = rows.Columns; isImage {
			s.columns = rows.Channels * rows.Height * rows.Width
		}
		s.fill = rows.filler(set, by, s.opt)
	}
	guard.FailIf(set.Missing && (!s.unchanged || s.opt.Normalise != NormNone || s.opt.Power != 0),
		"features: the missing values of %s need unchanged vectors: set normalise to none, without crop, power or another size", set.Name)
	if isImage && rows.Height > 0 {
		s.Height, s.Width, s.Channels = rows.Height, rows.Width, rows.Channels
	}
	return s
}

// row computes the normalised row of sample i. row must be zero.
func (s *source) row(ctx context.Context, i int, row []float64) error {
	if err := s.fill(ctx, i, row); err != nil {
		return err
	}
	return s.normalise(i, row, nil)
}

func (s *source) normalise(i int, values []float64, columns []int) error {
	if s.set.Missing || s.opt.Raw {
		return nil // missing values are refused by sourceOf unless unchanged
	}
	return guard.Wrap(s.opt.Normalise.apply(values, s.opt.Power, columns), "%s", s.set.Names[i])
}

// filler returns a function that computes the row of an image, or reads it from the cache.
func (r *Rows) filler(set *datasets.Set, by RowExtractor, opt Options) func(ctx context.Context, i int, row []float64) error {
	if opt.Images == nil {
		opt.Images = set.Images()
	}
	images := opt.Images
	use := imagefile.Use{Least: r.least(opt.Crop), Memory: func(w, h int) int64 {
		return resizing(w, h, r.Height, r.Width, r.Channels) + r.Memory + 8*int64(r.Channels*r.Height*r.Width)
	}}
	black, white := images.Range()
	cached := opt.Cache != nil && InfoOf(by).Cached
	return func(ctx context.Context, i int, row []float64) (err error) {
		defer guard.Catch(&err)
		var key cache.Key
		if cached {
			content := guard.Must(images.Sum(i))
			key = cache.NewKey("row", CacheVersion, reducedVersion, settingsOf(by), r.Digest, opt.Crop.digest(set.Names[i]), content[:])
			if blob, ok := opt.Cache.Get(key); ok && len(blob) == 8*len(row) {
				_, err := binary.Decode(blob, binary.LittleEndian, row)
				return err
			}
		}
		use := use
		use.Do = func(img image.Image, _ image.Point) error {
			return guard.Wrap(r.compute(row, img, opt.Crop, set.Names[i]), "%s", set.Names[i])
		}
		guard.Check(opt.withImage(ctx, i, use))
		if r.Fill == nil {
			for j, v := range row {
				row[j] = black + (white-black)*v
			}
		}
		if cached && images.Truncated(i) == "" { // not cached, so that the next run warns again
			opt.Cache.Put(key, guard.Must(binary.Append(nil, binary.LittleEndian, row)))
		}
		return nil
	}
}

// least returns the smallest size to which a larger image may be reduced while decoding, or 0 for no reduction, which
// crops in pixels require.
func (r *Rows) least(crop Crop) int {
	switch crop.(type) {
	case Whole, Square:
		return max(480, 2*r.Height, 2*r.Width)
	}
	return 0
}

func (r *Rows) compute(row []float64, img image.Image, crop Crop, sample string) error {
	if r.Channels == 3 {
		img = overWhite(img)
	} else {
		img = imagefile.Gray(img)
	}
	canvas := newCanvas(r.Height, r.Width, r.Channels)
	if r.Fill == nil {
		canvas.Values = row
	}
	if err := guard.Try(func() { resampleCrop(canvas, img, crop, sample) }); err != nil || r.Fill == nil {
		return guard.Wrap(err, "crop")
	}
	return r.Fill(row, canvas)
}

// Blocks computes rows of features on demand. It implements factor.Blocks.
type Blocks struct{ source }

// InBlocks prepares the rows of Extract for reading in blocks. With SkipBad it computes every row of images once, to find
// the usable ones. SkipBad with vectors is an error, and so are sparse vectors.
func InBlocks(ctx context.Context, set *datasets.Set, by RowExtractor, opt Options) (_ *Blocks, err error) {
	defer guard.Catch(&err)
	_, isSparse := set.Vectors.(*sparse.CSR)
	guard.FailIf(opt.SkipBad && set.Files == nil, "features: unusable vectors of %s cannot be skipped when they are read in batches", set.Name)
	guard.FailIf(isSparse, "features: the vectors of %s are sparse; batches need dense vectors", set.Name)
	s, bad := sourceOf(ctx, set, by, opt), make([]error, set.Len())
	if opt.SkipBad {
		guard.Check(s.eachUsable(ctx, bad, func(i int) error { return s.row(ctx, i, make([]float64, s.columns)) }))
	}
	return &Blocks{*s}, s.list(set, bad)
}

// Dims implements factor.Blocks.
func (b *Blocks) Dims() (n, m int) { return len(b.Rows), b.columns }

// Read writes rows from, …, from+p−1 to dst, p×m. The first unusable sample is an error that names it.
// It is safe for concurrent use.
func (b *Blocks) Read(ctx context.Context, from int, dst *mat.Dense) error {
	p, _ := dst.Dims()
	make := b.row
	if stored, ok := b.set.Vectors.(*vectorfile.Stored); ok && b.unchanged {
		if err := stored.Read(ctx, from, dst); err != nil {
			return err
		}
		make = func(_ context.Context, i int, row []float64) error { return b.normalise(i, row, nil) }
	} else {
		dst.Zero()
	}
	return eachSample(ctx, b.set, b.Rows[from:from+p], b.opt.Workers, nil, func(at, i int) error {
		return make(ctx, i, dst.RawRowView(at))
	})
}
