package input

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"image"
	imagedraw "image/draw"
	"image/jpeg"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
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
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/pictures"
)

// looks holds a description of each image of a set of files.
type looks struct {
	images   *datasets.Images
	store    features.Cache
	bySample sync.Map // a *pictures.Look by sample

	files   []fs.FileInfo // by sample, nil for a missing file
	sumsKey cache.Key
	stamps  []stamp
	known   map[stamp]stamp // the sum of a file by its stamp
}

// stamp is a digest of a file's name, size and times, zero if it may change with equal times; or a SHA-256 sum of a file.
type stamp = [sha256.Size]byte

// settled is the age of a file after which further changes have other times: some file systems count in steps of two
// seconds.
var settled = 3 * time.Second

// readSums sets images.Known to the sums that writeSums cached for the same data, so that Sum does not read unchanged files.
func (l *looks) readSums(set *datasets.Set, data string) {
	dir, _ := filepath.Abs(data) // fails only without a working folder
	l.sumsKey, l.known = cache.NewKey("sums", dir), map[stamp]stamp{}
	l.files, l.stamps = make([]fs.FileInfo, set.Len()), make([]stamp, set.Len())
	blob, _ := l.store.Get(l.sumsKey)
	for pair := range slices.Chunk(blob, 2*sha256.Size) {
		l.known[stamp(pair)] = stamp(pair[sha256.Size:])
	}
	now := time.Now()
	for i, file := range set.Files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		l.files[i] = info
		if changed, ok := statusChange(info); ok && now.Sub(changed) > settled {
			l.stamps[i] = cache.NewKey(set.Names[i], info.Size(), info.ModTime().UnixNano(), changed.UnixNano())
		}
	}
	l.images.Known = func(i int) (sum stamp, ok bool) {
		sum, ok = l.known[l.stamps[i]]
		return sum, ok
	}
}

// statusChange returns the last change of a file's content or status, which programs cannot set, if the system has it.
func statusChange(info fs.FileInfo) (at time.Time, ok bool) {
	stat := reflect.Indirect(reflect.ValueOf(info.Sys()))
	for _, name := range []string{"Ctim", "Ctimespec"} { // of Linux, and of macOS and BSD
		if stat.Kind() == reflect.Struct && stat.FieldByName(name).IsValid() {
			return time.Unix(stat.FieldByName(name).Addr().Interface().(interface{ Unix() (int64, int64) }).Unix()), true
		}
	}
	return at, false
}

// writeSums caches the sums of all files whose content is known.
func (l *looks) writeSums() {
	var blob []byte
	changed := false
	for i, s := range l.stamps {
		if sum, ok := l.images.Noted(i); ok && s != (stamp{}) {
			blob = append(append(blob, s[:]...), sum[:]...)
			changed = changed || l.known[s] != sum
		}
	}
	if changed {
		l.store.Put(l.sumsKey, blob)
	}
}

// observer returns an observer of decoded images, nil without looks.
func (l *looks) observer() func(i int) imagefile.Use {
	if l == nil {
		return nil
	}
	return func(i int) imagefile.Use {
		return imagefile.Use{Least: pictures.Least, Memory: pictures.Memory, Do: func(img image.Image, whole image.Point) error {
			if _, seen := l.bySample.Load(i); seen {
				return nil
			}
			_, _, err := l.cacheLook(i, img, whole)
			return err
		}}
	}
}

// cacheLook caches and returns the look and the thumbnail of a sample's decoded image: see pictures.New.
func (l *looks) cacheLook(i int, img image.Image, whole image.Point) (look *pictures.Look, thumbnail []byte, err error) {
	defer guard.Catch(&err)
	key := l.cacheKey(i)
	look, thumbnail, err = pictures.New(img, whole)
	guard.Check(err)
	blob := guard.Must(look.AppendBinary(nil))
	if l.images.Truncated(i) == "" { // a cached look would hide the truncation from the next run
		l.store.Put(key, append(blob, thumbnail...))
	}
	l.bySample.Store(i, look)
	return look, thumbnail, nil
}

// cacheKey calls guard.Fail.
func (l *looks) cacheKey(i int) cache.Key {
	content := guard.Must(ContentOf(l.images, i))
	return cache.NewKey("look", pictures.Version, content[:])
}

// ContentOf returns the SHA-256 sum of sample i as it was first read.
func ContentOf(images *datasets.Images, i int) ([sha256.Size]byte, error) {
	if sum, ok := images.Noted(i); ok {
		return sum, nil
	}
	return images.Sum(i)
}

// lookOf returns the look of a sample and its thumbnail, a JPEG file, from the cache or from the image.
func (l *looks) lookOf(ctx context.Context, i int) (look *pictures.Look, thumbnail []byte, err error) {
	defer guard.Catch(&err)
	if blob, ok := l.store.Get(l.cacheKey(i)); ok {
		look = &pictures.Look{}
		if thumbnail, err = look.Cut(blob); err == nil {
			l.bySample.Store(i, look)
			return look, thumbnail, nil
		}
	}
	err = l.images.With(ctx, i, imagefile.Use{Least: pictures.Least, Memory: pictures.Memory, Do: func(img image.Image, whole image.Point) error {
		look, thumbnail, err = l.cacheLook(i, img, whole)
		return err
	}})
	return look, thumbnail, err
}

func (l *looks) thumbnail(ctx context.Context, i int) (image.Image, error) {
	_, file, err := l.lookOf(ctx, i)
	if err != nil {
		return nil, err
	}
	return jpeg.Decode(bytes.NewReader(file))
}

// Thumbnail returns a small version of the image of row i: upright, in colour or a *image.Gray, over white, with a
// longer side of at most pictures.ThumbnailSide pixels. It never enlarges. The result is read-only.
func (in *Inputs) Thumbnail(ctx context.Context, i int) (small image.Image, err error) {
	if in.pictures != nil {
		return in.pictures.thumbnail(ctx, in.Rows[i])
	}
	need := func(width, height int) int64 {
		return features.ThumbnailMemory(image.Pt(width, height), pictures.ThumbnailSide)
	}
	err = in.thumbnailImages.With(ctx, in.Rows[i], imagefile.Use{Least: pictures.Least, Memory: need, Do: func(img image.Image, _ image.Point) error {
		if grey := features.GreyThumbnail(img, pictures.ThumbnailSide); grey != nil {
			small = grey
		} else {
			small = features.Thumbnail(img, pictures.ThumbnailSide)
		}
		return nil
	}})
	return small, err
}

// Pictures describes the images of the inputs. Each slice has one value for each row.
type Pictures struct {
	// CopyOf holds for each row the original of its stack of copies, or the row itself. Near is true for near
	// duplicates and false for exact copies, and Burst for other shots of a burst. To choose the
	// original, images of a camera come first and screenshots of others last; then the most pixels, the largest file, the
	// oldest and the shortest name decide.
	CopyOf    []int
	Near      []bool
	Burst     []bool
	Outlier   []float64           // the probability that the row is an outlier, 0 for most
	Sharpness []float64           // −1 if unknown
	Remark    []string            // "", pictures.Blank or pictures.Blurred
	Size      []image.Point       // in pixels
	Bytes     []int64             // the sizes of the files
	Capture   []imagefile.Capture // what the files tell about their capture
}

// Days returns the number of each row's day of capture, from 0, in order of time. Photos without a time have the last number.
func (p *Pictures) Days() []int {
	day := func(c imagefile.Capture) string {
		return map[bool]string{false: c.Taken.Format(time.DateOnly)}[c.Taken.IsZero()]
	}
	all := lists.Map(p.Capture, day)
	days := slices.Clone(all)
	// The empty text of an unknown day comes last.
	slices.SortFunc(days, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	days = slices.Compact(days)
	return lists.Map(all, func(d string) int { return slices.Index(days, d) })
}

// SeparateCopies splits stacks of copies, so that none has both photos of one of the pairs of names.
func (in *Inputs) SeparateCopies(p *Pictures, pairs [][2]string) {
	stacks := map[int][]int{} // by original, which comes first
	for i, of := range p.CopyOf {
		if of == i {
			stacks[i] = slices.Insert(stacks[i], 0, i)
		} else {
			stacks[of] = append(stacks[of], i)
		}
	}
	for _, stack := range stacks {
		parts := pictures.Separate(stack, pairs, func(i int) string { return in.Set.Names[in.Rows[i]] })
		for _, part := range parts[1:] {
			for _, i := range part {
				p.CopyOf[i], p.Near[i] = part[0], true
			}
			p.Near[part[0]], p.Burst[part[0]] = false, false
		}
	}
}

// candidates is the number of similar images, by features and by rough picture, with which each image is compared.
const candidates = 8

// Pictures finds copies, outliers, and blurred and blank images. It returns nil unless the samples are files and
// PrepareOptions.Pictures was set. Files with equal content are exact copies; for the rest see [pictures.Copies],
// [pictures.Outliers] and [pictures.Remarks]. It calls progress, which may be nil, with "examining images", "finding
// similar images" and "comparing images".
//
// The cache keeps the result for the same files and features.
func (in *Inputs) Pictures(ctx context.Context, progress Progress) (p *Pictures, err error) {
	defer guard.Catch(&err)
	if in.pictures == nil || in.extracted == nil {
		return nil, nil
	}
	key := in.picturesKey()
	in.pictures.writeSums()
	p = &Pictures{}
	if blob, ok := in.store.Get(key); ok && json.Unmarshal(blob, p) == nil && len(p.CopyOf) == len(in.Rows) {
		return p, ctx.Err()
	}
	p = in.findPictures(ctx, progress)
	if blob, err := json.Marshal(p); err == nil && !slices.ContainsFunc(in.Rows, func(i int) bool { return in.Images.Truncated(i) != "" }) {
		in.store.Put(key, blob)
	}
	return p, nil
}

// picturesKey calls guard.Fail.
func (in *Inputs) picturesKey() cache.Key {
	h := sha256.New()
	for _, row := range in.Rows {
		sum := guard.Must(ContentOf(in.Images, row))
		h.Write(sum[:])
		fmt.Fprintln(h, len(in.Set.Names[row]))
		if info := in.pictures.files[row]; info != nil {
			fmt.Fprintln(h, info.ModTime().UnixNano())
		}
	}
	matrix.WriteRows(h, in.extracted, matrix.AllRows(in.extracted))
	return cache.NewKey("pictures", pictures.Version, h.Sum(nil))
}

// findPictures calls guard.Fail.
func (in *Inputs) findPictures(ctx context.Context, progress Progress) *Pictures {
	owner := &Reporter{To: progress}
	defer owner.End()
	n := len(in.Rows)
	all, looks := make([]Examined, n), make([]*pictures.Look, n)
	guard.Check(parallel.Each(ctx, 0, n, owner.Of("examining images"), func(i int) (err error) {
		if look, ok := in.pictures.bySample.Load(in.Rows[i]); ok {
			looks[i] = look.(*pictures.Look)
		} else if looks[i], _, err = in.pictures.lookOf(ctx, in.Rows[i]); err != nil {
			return err
		}
		all[i], err = in.pictures.examined(in.Set, in.Rows[i], looks[i])
		return err
	}))
	p, from := Originals(all)
	distinct := slices.DeleteFunc(matrix.AllRows(in.extracted), func(i int) bool { return from.Same[i] != i })
	owner.Report("finding similar images", 0, -1)
	byFeatures, distances, err := nearestOf(ctx, matrix.SelectRows(in.extracted, distinct), 2*pictures.OutlierNeighbours)
	guard.Check(in.NameRows(err, distinct))
	from.Looks, from.Near, from.Progress = looks, make([][]int, n), owner.Of("comparing images")
	for at, i := range distinct {
		from.Near[i] = matrix.Take(distinct, byFeatures[at][:min(candidates, len(byFeatures[at]))])
	}
	guard.Check(byRoughPictures(ctx, looks, distinct, from.Near))
	from.Thumbnail = func(ctx context.Context, i int) (image.Image, error) { return in.pictures.thumbnail(ctx, in.Rows[i]) }
	from.Equal = func(ctx context.Context, i, j int) (bool, error) {
		return samePixels(ctx, in.Images, in.Rows[i], in.Rows[j])
	}
	p.SetStacks(guard.Must(pictures.Copies(ctx, from)))
	p.Outlier = outliers(p.CopyOf, distinct, byFeatures, distances)
	return p
}

// outliers returns the outlier probability of each row from the neighbours of the distinct rows. Copies do not count as
// neighbours, because they are no evidence that an image is usual.
func outliers(copyOf, distinct []int, neighbours [][]int, distances [][]float64) []float64 {
	var firsts []int // of the stacks, as indices of distinct
	place := make([]int, len(distinct))
	for at, i := range distinct {
		if place[at] = len(firsts); copyOf[i] == i {
			firsts = append(firsts, at)
		}
	}
	others, lengths := make([][]int, len(firsts)), make([][]float64, len(firsts))
	for f, at := range firsts {
		for q, j := range neighbours[at] {
			if copyOf[distinct[j]] == distinct[j] {
				others[f], lengths[f] = append(others[f], place[j]), append(lengths[f], distances[at][q])
			}
		}
	}
	out := make([]float64, len(copyOf))
	for f, value := range pictures.Outliers(others, lengths) {
		out[distinct[firsts[f]]] = value
	}
	for i, of := range copyOf {
		out[i] = out[of]
	}
	return out
}

// nearestOf returns the p rows nearest to each row of x, scaled to unit length, and their distances.
func nearestOf(ctx context.Context, x mat.Matrix, p int) (rows [][]int, distances [][]float64, err error) {
	if n, _ := x.Dims(); n < 2 {
		return make([][]int, n), make([][]float64, n), nil
	}
	switch dense := x.(type) {
	case *mat.Dense:
		x = matrix.UnitRows(dense)
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

// byRoughPictures adds to near the images whose rough pictures are most similar, for each row in some.
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

// samePixels reports whether two images have equal size and pixels, at 16 bits a channel.
func samePixels(ctx context.Context, images *datasets.Images, i, j int) (bool, error) {
	var sums [2][sha256.Size]byte
	for at, sample := range []int{i, j} {
		if err := images.With(ctx, sample, imagefile.Use{Do: func(img image.Image, _ image.Point) error {
			h, b := sha256.New(), img.Bounds()
			fmt.Fprintln(h, b.Dx(), b.Dy())
			pixels := image.NewRGBA64(image.Rect(0, 0, b.Dx(), 1))
			for y := b.Min.Y; y < b.Max.Y; y++ {
				imagedraw.Draw(pixels, pixels.Bounds(), img, image.Pt(b.Min.X, y), imagedraw.Src)
				h.Write(pixels.Pix)
			}
			sums[at] = [sha256.Size]byte(h.Sum(nil))
			return nil
		}}); err != nil {
			return false, err
		}
	}
	return sums[0] == sums[1], nil
}
