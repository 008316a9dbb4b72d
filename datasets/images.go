package datasets

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image"
	"io"
	"math"
	"os"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
)

// Images opens the images of a set. It decodes files, or turns vectors into grey images, with black and white at the
// values of ValueRange. It remembers the SHA-256 sum of each file at the first read; a later change of the file is an
// error that wraps ErrChanged. It is safe for concurrent use.
type Images struct {
	set          *Set
	black, white float64

	// UseTruncated accepts truncated JPEG files with at least half of their rows.
	UseTruncated bool

	// Known, if set, returns the SHA-256 sum of a file that has not changed since it was last read, for Sum.
	Known func(i int) (sum [sha256.Size]byte, ok bool)

	sums, truncated sync.Map // by sample: SHA-256 sums, and what Truncated returns
}

// Images returns an opener of the set's images. It computes the range of vectors once.
func (s *Set) Images() *Images {
	im := &Images{set: s, white: 1}
	if s.Files == nil && s.Height > 0 && s.Width > 0 {
		im.black, im.white = s.ValueRange()
	}
	return im
}

// Image returns sample i as an image. Use Images to open many.
func (s *Set) Image(i int) (image.Image, error) { return s.Images().Open(context.Background(), i) }

// Range returns the values of black and white (see ValueRange), 0 and 1 for files.
func (im *Images) Range() (black, white float64) { return im.black, im.white }

// Open returns the image of sample i. It waits for memory in the budget of the context, which counts the image until Open
// returns; With counts it for all of its use. Vectors that are not images, and values that are not finite, are errors.
func (im *Images) Open(ctx context.Context, i int) (img image.Image, err error) {
	err = im.With(ctx, i, imagefile.Use{Do: func(decoded image.Image, _ image.Point) error {
		img = decoded
		return nil
	}})
	return img, err
}

// With passes the image of sample i to the uses in order, and reads its file once. Meanwhile it reserves memory in the
// budget of the context for the file, for decoding and for the uses. It returns the errors of Open and the first error
// of a use, a *memory.LimitError if the budget is too small, and an *imagefile.Error if the file is unusable.
func (im *Images) With(ctx context.Context, i int, uses ...imagefile.Use) (err error) {
	defer guard.Catch(&err)
	if im.set.Files == nil {
		im.withVector(ctx, i, uses)
		return nil
	}
	// The memory for decoding is known once the file is read. If it is not available, the content is dropped meanwhile.
	budget, path := limits.FromContext(ctx), im.set.Files[i]
	r, release := im.read(ctx, i, 0)
	defer func() { release() }()
	need := r.Memory(uses)
	guard.Check(budget.Check(r.Length()+need, fmt.Sprintf("image %s of %d×%d pixels", path, r.Header.Width, r.Header.Height)))
	if releaseMore, ok := budget.TryAcquire(need); ok {
		defer releaseMore()
	} else {
		r = nil
		release()
		release = func() {}
		r, release = im.read(ctx, i, need)
	}
	if r.Truncated != "" {
		im.truncated.Store(i, r.Truncated)
	}
	for _, u := range uses {
		img, whole, err := r.Image(u.Least)
		guard.Check(imagefile.FileError(path, err))
		guard.Check(u.Do(img, whole))
	}
	return nil
}

// withVector is With for vectors. It calls guard.Fail.
func (im *Images) withVector(ctx context.Context, i int, uses []imagefile.Use) {
	size := image.Pt(im.set.Width, im.set.Height)
	more := int64(0)
	for _, u := range uses {
		more = max(more, u.MemoryOf(size))
	}
	defer guard.Must(limits.FromContext(ctx).Acquire(ctx, 2*int64(size.X)*int64(size.Y)+more, im.set.Names[i]))()
	img := im.vectorImage(i)
	for _, u := range uses {
		guard.Check(u.Do(img, size))
	}
}

// Truncated says how much of a truncated file was used, once it is decoded, else "".
func (im *Images) Truncated(i int) string {
	said, _ := im.truncated.Load(i)
	text, _ := said.(string)
	return text
}

// read reads the file of sample i and its header, with memory for its content and more bytes. It calls guard.Fail.
func (im *Images) read(ctx context.Context, i int, more int64) (r *imagefile.Reading, release func()) {
	path := im.set.Files[i]
	f, err := os.Open(path)
	guard.Check(imagefile.OpenError(err))
	defer f.Close()
	info, err := f.Stat()
	guard.Check(imagefile.OpenError(err))
	size := info.Size()
	guard.Check(imagefile.CheckLength(path, size))
	release = guard.Must(limits.FromContext(ctx).Acquire(ctx, size+more, "image "+path))
	defer func() {
		if r == nil {
			release()
		}
	}()
	content := make([]byte, size+1)
	n, err := io.ReadFull(f, content)
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		guard.Check(imagefile.OpenError(err))
	}
	if int64(n) != size {
		guard.Check(changedError(path))
	}
	guard.Check(im.checkSum(i, sha256.Sum256(content[:n])))
	r, err = imagefile.NewReading(content[:n], im.UseTruncated)
	guard.Check(imagefile.FileError(path, err))
	return r, release
}

// Sum returns the SHA-256 sum of the file of sample i, or of the size, range and values of its vector.
func (im *Images) Sum(i int) (sum [sha256.Size]byte, err error) {
	if im.set.Files == nil {
		h := sha256.New()
		row, err := im.set.vectorRow(i)
		values := append([]float64{float64(im.set.Height), float64(im.set.Width), im.black, im.white}, row...)
		_ = binary.Write(h, binary.LittleEndian, values) // a hash accepts all
		return [sha256.Size]byte(h.Sum(nil)), err
	}
	if im.Known != nil {
		if sum, ok := im.Known(i); ok {
			return sum, im.checkSum(i, sum)
		}
	}
	sum, _, err = atomicfile.Sum(context.Background(), im.set.Files[i])
	if err != nil {
		return sum, imagefile.OpenError(err)
	}
	return sum, im.checkSum(i, sum)
}

// Noted returns the SHA-256 sum of a file that was read before, without another read.
func (im *Images) Noted(i int) (sum [sha256.Size]byte, ok bool) {
	noted, _ := im.sums.Load(i)
	sum, ok = noted.([sha256.Size]byte)
	return sum, ok
}

// checkSum remembers the sum of the file of sample i, or compares it with the remembered one.
func (im *Images) checkSum(i int, sum [sha256.Size]byte) error {
	if before, known := im.sums.LoadOrStore(i, sum); known && before != sum {
		return changedError(im.set.Files[i])
	}
	return nil
}

// ErrChanged is wrapped by the error of a file that changed between two reads.
var ErrChanged = vectorfile.ErrChanged

func changedError(path string) error { return fmt.Errorf("image %s: %w", path, ErrChanged) }

// vectorImage returns vector i as an image. It calls guard.Fail.
func (im *Images) vectorImage(i int) image.Image {
	s := im.set
	guard.FailIf(s.Height < 1 || s.Width < 1, "%s: the vectors of the set %s are not images", s.Names[i], s.Name)
	row := guard.Must(s.vectorRow(i))
	img := image.NewGray16(image.Rect(0, 0, s.Width, s.Height))
	for j, v := range row {
		if s.Missing && math.IsNaN(v) {
			v = im.black
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			guard.Fail("%s: column %d: value %v is not finite", s.Names[i], j+1, v)
		}
		binary.BigEndian.PutUint16(img.Pix[2*j:], uint16(float64(0xffff*min(max((v-im.black)/(im.white-im.black), 0), 1))+0.5))
	}
	return img
}

// ValueRange returns the values of black and white in a set of vectors: 0 and 1 if all values lie between them, else 0
// and 255 if all lie between these, else the range of the values, extended to include 0.
func (s *Set) ValueRange() (black, white float64) {
	least, greatest := math.Inf(1), math.Inf(-1)
	n, m := s.Vectors.Dims()
	switch x := s.Vectors.(type) {
	case *vectorfile.Bytes:
		if slices.ContainsFunc(x.Values(), func(v uint8) bool { return v > 1 }) {
			return 0, 255
		}
	case *vectorfile.Stored:
		least, greatest = x.Range()
		n = 0
	}
	row := make([]float64, m)
	for i := range n {
		for _, v := range matrix.Row(row, i, s.Vectors) {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				least, greatest = min(least, v), max(greatest, v)
			}
		}
	}
	switch {
	case least >= 0 && greatest <= 1:
		return 0, 1
	case least >= 0 && greatest <= 255:
		return 0, 255
	}
	return min(least, 0), max(greatest, 0)
}

// vectorRow returns row i of the vectors, which may be on disk.
func (s *Set) vectorRow(i int) ([]float64, error) {
	stored, ok := s.Vectors.(*vectorfile.Stored)
	if !ok {
		return matrix.Row(nil, i, s.Vectors), nil
	}
	_, cols := stored.Dims()
	x := mat.NewDense(1, cols, nil)
	err := stored.Read(context.Background(), i, x)
	return x.RawRowView(0), err
}

// Close closes the files of vectors that are on disk.
func (s *Set) Close() error { return s.Content().Close() }
