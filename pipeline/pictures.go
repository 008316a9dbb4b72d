package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"slices"
	"sync"
	"time"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/elementary"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/pictures"
)

// ThumbnailSide is the longer side of a thumbnail, in pixels, at most.
const ThumbnailSide = pictures.ThumbnailSide

// looks looks at the pictures of a set of files, once at each.
type looks struct {
	images *datasets.Images
	store  *keeper

	mu sync.Mutex
	of map[int]*pictures.Look // by sample
}

func newLooks(images *datasets.Images, store *keeper) *looks {
	return &looks{images: images, store: store, of: map[int]*pictures.Look{}}
}

// observer returns what looks at pictures while they are decoded, nil where nothing does.
func (l *looks) observer() *features.Observer {
	if l == nil {
		return nil
	}
	return &features.Observer{Least: pictures.Least, Memory: pictures.Memory, See: func(i int, img image.Image, whole image.Point) error {
		l.mu.Lock()
		_, seen := l.of[i]
		l.mu.Unlock()
		if seen {
			return nil
		}
		_, err := l.see(i, img, whole)
		return err
	}}
}

// see looks at the decoded picture of a sample, as pictures.New does, and keeps the look and the
// thumbnail, which it returns.
func (l *looks) see(i int, img image.Image, whole image.Point) (thumbnail []byte, err error) {
	key, err := l.key(i)
	if err != nil {
		return nil, err
	}
	look, thumbnail, err := pictures.New(img, whole)
	if err != nil {
		return nil, err
	}
	blob, err := look.AppendBinary(nil)
	if err != nil {
		return nil, err
	}
	if l.images.Truncated(i) == "" { // it is to be noticed the next time
		l.store.Put(key, append(blob, thumbnail...))
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.of[i] = look
	return thumbnail, nil
}

func (l *looks) key(i int) (cache.Key, error) {
	content, err := contentOf(l.images, i)
	return cache.NewKey("look", pictures.Version, content[:]), err
}

// contentOf returns the sum of the content that sample i had when it was first read.
func contentOf(images *datasets.Images, i int) ([sha256.Size]byte, error) {
	if sum, ok := images.Noted(i); ok {
		return sum, nil
	}
	return images.Sum(i)
}

// with returns the look of a sample and its thumbnail, a JPEG file, of the cache or made of
// the picture.
func (l *looks) with(ctx context.Context, i int) (look *pictures.Look, thumbnail []byte, err error) {
	key, err := l.key(i)
	if err != nil {
		return nil, nil, err
	}
	if blob, ok := l.store.Get(key); ok {
		look = &pictures.Look{}
		if thumbnail, err = look.Cut(blob); err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.of[i] = look
			return look, thumbnail, nil
		}
	}
	err = l.images.With(ctx, i, imagefile.Use{Least: pictures.Least, Memory: pictures.Memory, Do: func(img image.Image, whole image.Point) error {
		thumbnail, err = l.see(i, img, whole)
		return err
	}})
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[i], thumbnail, err
}

// look returns the look of a sample.
func (l *looks) look(ctx context.Context, i int) (*pictures.Look, error) {
	l.mu.Lock()
	look := l.of[i]
	l.mu.Unlock()
	if look != nil {
		return look, nil
	}
	look, _, err := l.with(ctx, i)
	return look, err
}

// thumbnail returns the thumbnail of a sample.
func (l *looks) thumbnail(ctx context.Context, i int) (image.Image, error) {
	_, file, err := l.with(ctx, i)
	if err != nil {
		return nil, err
	}
	return jpeg.Decode(bytes.NewReader(file))
}

// Thumbnail returns a small picture of what row i of X was made of: upright, in colour
// or a *image.Gray, laid over white, its longer side of at most ThumbnailSide pixels. Pictures that are
// smaller are not enlarged. Where pictures are looked at (PrepareOptions.Pictures) it comes
// from the cache, and is the same whether it does or not. Several goroutines may call it at
// once. Errors are those of Image.
func (in *Inputs) Thumbnail(ctx context.Context, i int) (small image.Image, err error) {
	if in.pictures != nil {
		return in.pictures.thumbnail(ctx, in.Rows[i])
	}
	need := func(width, height int) int64 {
		return features.ThumbnailMemory(image.Pt(width, height), ThumbnailSide)
	}
	err = in.shown.With(ctx, in.Rows[i], imagefile.Use{Least: pictures.Least, Memory: need, Do: func(img image.Image, _ image.Point) error {
		if grey := features.GreyThumbnail(img, ThumbnailSide); grey != nil {
			small = grey
		} else {
			small = features.Thumbnail(img, ThumbnailSide)
		}
		return nil
	}})
	return small, err
}

// Pictures is what is told of the rows of the inputs as pictures, one by one.
type Pictures struct {
	// CopyOf holds for each row the original of the stack of copies that it is in, itself where
	// it has no copy, and Near whether it is a near duplicate of that and no exact copy. The
	// original is the picture of most pixels; of these that of the largest file, the oldest,
	// and that of the shortest name.
	CopyOf []int
	Near   []bool
	// Outlier holds for each row the probability that it is an outlier, 0 for most.
	Outlier []float64
	// Sharpness holds how sharp each picture is, −1 where that cannot be told.
	Sharpness []float64
	// Remark holds "", pictures.Blank or pictures.Blurred.
	Remark []string
}

// candidates is how many pictures that look like it each is held against, by its features
// and by its rough picture.
const candidates = 8

// Pictures finds copies, outliers, and blurred and blank pictures among the inputs, nil
// where these are not files or pictures were not looked at. Files of one content are exact
// copies; see [pictures.Copies], [pictures.Outliers] and [pictures.Remarks] for the rest.
// It calls progress, which may be nil, with "looking at pictures", of the inputs,
// "finding what looks alike" and "comparing pictures", of pairs.
func (in *Inputs) Pictures(ctx context.Context, progress Progress) (*Pictures, error) {
	if in.pictures == nil || in.X == nil {
		return nil, nil
	}
	owner := &reporter{to: progress}
	defer owner.end()
	n := len(in.Rows)
	all, errs := make([]*pictures.Look, n), make([]error, n)
	same, first := make([]int, n), map[[sha256.Size]byte]int{}
	tell := owner.of("looking at pictures")
	var mu sync.Mutex
	done := 0
	if err := parallel.Blocks(ctx, 0, n, 1, func(_, i, _ int) {
		all[i], errs[i] = in.pictures.look(ctx, in.Rows[i])
		mu.Lock()
		defer mu.Unlock()
		done++
		tell(done, n)
	}); err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := cmp.Or(errs...); err != nil {
		return nil, err
	}
	order := in.byOriginality(all)
	for _, i := range order {
		sum, err := contentOf(in.images, in.Rows[i])
		if err != nil {
			return nil, err
		}
		if _, ok := first[sum]; !ok {
			first[sum] = i
		}
		same[i] = first[sum]
	}
	distinct := slices.DeleteFunc(allRows(in.X), func(i int) bool { return same[i] != i })
	owner.tell("finding what looks alike", 0, -1)
	byFeatures, distances, err := nearestOf(ctx, selectRows(in.X, distinct), 2*pictures.OutlierNeighbours)
	if err != nil {
		return nil, in.nameRows(err, distinct)
	}
	near := make([][]int, n)
	for at, i := range distinct {
		for _, j := range byFeatures[at][:min(candidates, len(byFeatures[at]))] {
			near[i] = append(near[i], distinct[j])
		}
	}
	if err := byRoughPictures(ctx, all, distinct, near); err != nil {
		return nil, err
	}
	p := &Pictures{Remark: pictures.Remarks(all), Sharpness: make([]float64, n), Outlier: make([]float64, n)}
	for i, l := range all {
		p.Sharpness[i] = l.Sharpness
	}
	p.CopyOf, p.Near, err = pictures.Copies(ctx, pictures.Source{
		Looks: all, Order: order, Same: same, Near: near,
		Thumbnail: func(ctx context.Context, i int) (image.Image, error) { return in.pictures.thumbnail(ctx, in.Rows[i]) },
		Equal:     in.equal, Progress: owner.of("comparing pictures"),
	})
	if err != nil {
		return nil, err
	}
	// Neighbours without the copies: they are no evidence that a picture is usual.
	var firsts []int // of stacks, as places among distinct
	place := make([]int, len(distinct))
	for at, i := range distinct {
		if place[at] = len(firsts); p.CopyOf[i] == i {
			firsts = append(firsts, at)
		}
	}
	others, lengths := make([][]int, len(firsts)), make([][]float64, len(firsts))
	for f, at := range firsts {
		for q, j := range byFeatures[at] {
			if p.CopyOf[distinct[j]] == distinct[j] {
				others[f], lengths[f] = append(others[f], place[j]), append(lengths[f], distances[at][q])
			}
		}
	}
	for f, value := range pictures.Outliers(others, lengths) {
		p.Outlier[distinct[firsts[f]]] = value
	}
	for i, of := range p.CopyOf {
		p.Outlier[i] = p.Outlier[of]
	}
	return p, nil
}

// byOriginality returns the rows in the order in which they are originals of copies.
func (in *Inputs) byOriginality(all []*pictures.Look) []int {
	bytes, changed := make([]int64, len(all)), make([]time.Time, len(all))
	for i, row := range in.Rows {
		if info, err := os.Stat(in.Set.Files[row]); err == nil {
			bytes[i], changed[i] = info.Size(), info.ModTime()
		}
	}
	order := allOf(len(all))
	slices.SortFunc(order, func(i, j int) int {
		a, b := in.Set.Names[in.Rows[i]], in.Set.Names[in.Rows[j]]
		return cmp.Or(
			cmp.Compare(all[j].Width*all[j].Height, all[i].Width*all[i].Height), cmp.Compare(bytes[j], bytes[i]),
			changed[i].Compare(changed[j]), cmp.Compare(len(a), len(b)), i-j)
	})
	return order
}

// nearestOf returns the rows nearest to each of x, made unit length, and how far they are.
func nearestOf(ctx context.Context, x mat.Matrix, p int) (rows [][]int, distances [][]float64, err error) {
	if n, _ := x.Dims(); n < 2 {
		return make([][]int, n), make([][]float64, n), nil
	}
	switch dense := x.(type) {
	case *mat.Dense:
		x = unitRows(dense)
	case *sparse.CSR:
		clone := dense.Clone()
		n, _ := clone.Dims()
		for i := range n {
			_, values := clone.Row(i)
			if length := elementary.Norm(values); length > 0 {
				floats.Scale(1/length, values)
			}
		}
		x = clone
	}
	return factor.Nearest(ctx, x, p)
}

// byRoughPictures adds to near the pictures whose rough pictures are most like each of some.
func byRoughPictures(ctx context.Context, all []*pictures.Look, some []int, near [][]int) error {
	var rows []int
	var values []float64
	for _, i := range some {
		if row := all[i].Rough(); slices.ContainsFunc(row, func(v float64) bool { return v != 0 }) {
			rows, values = append(rows, i), append(values, row...)
		}
	}
	if len(rows) < 2 {
		return nil
	}
	found, _, err := factor.Nearest(ctx, mat.NewDense(len(rows), len(values)/len(rows), values), candidates)
	for at, i := range rows {
		for _, j := range found[at] {
			near[i] = append(near[i], rows[j])
		}
	}
	return err
}

// equal tells whether the pictures of two rows have the same pixels.
func (in *Inputs) equal(ctx context.Context, i, j int) (bool, error) {
	var sums [2][sha256.Size]byte
	for at, row := range []int{i, j} {
		if err := in.images.With(ctx, in.Rows[row], imagefile.Use{Do: func(img image.Image, _ image.Point) error {
			sums[at] = pixelSum(img)
			return nil
		}}); err != nil {
			return false, err
		}
	}
	return sums[0] == sums[1], nil
}

// pixelSum returns the SHA-256 sum of an image's size and pixels, of 16 bits a channel.
func pixelSum(img image.Image) [sha256.Size]byte {
	h := sha256.New()
	b := img.Bounds()
	fmt.Fprintln(h, b.Dx(), b.Dy())
	row := make([]byte, 0, 8*b.Dx())
	for y := b.Min.Y; y < b.Max.Y; y++ {
		row = row[:0]
		for x := b.Min.X; x < b.Max.X; x++ {
			for _, v := range rgba(img, x, y) {
				row = binary.LittleEndian.AppendUint16(row, v)
			}
		}
		h.Write(row)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// rgba returns the values of a pixel.
func rgba(img image.Image, x, y int) [4]uint16 {
	if fast, ok := img.(image.RGBA64Image); ok {
		c := fast.RGBA64At(x, y)
		return [4]uint16{c.R, c.G, c.B, c.A}
	}
	r, g, b, a := img.At(x, y).RGBA()
	return [4]uint16{uint16(r), uint16(g), uint16(b), uint16(a)}
}
