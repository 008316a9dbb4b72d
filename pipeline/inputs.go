package pipeline

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Inputs is what an experiment works on.
type Inputs struct {
	// Set is where the samples come from.
	Set *datasets.Set
	// Features is what was made of them, with the size that the images got.
	Features Features
	// X is n×m, a sample a row, dense or sparse. It is nil where each draw of
	// a classification has visual words of its own, see Words.
	X mat.Matrix
	// Blocks makes the rows of X when they are asked for, with PrepareOptions.InBlocks;
	// X is nil then.
	Blocks *features.Blocks
	// Vocabulary holds the visual words, where they are the same for all, and Scales by
	// what each of several features was multiplied.
	Vocabulary *vocab.Vocabulary
	Scales     []Scale
	// Height and Width are the size of the images that the rows of X hold, or
	// 0 where they are none.
	Height, Width int
	// Channels is 1 where they are grey, 3 where they are a red, a green and a
	// blue image one after the other, and 0 where they are no images.
	Channels int
	// places is the grid of places whose values a row of X holds, of the part crop of each
	// image; zero where it holds none.
	places features.Cells
	crop   features.Crop
	// Rows holds, for each row of X, which sample of Set it is.
	Rows []int
	// Skipped holds an error for each sample that was left out.
	Skipped []error

	images   *datasets.Images
	shown    *datasets.Images // what thumbnails are of
	pictures *looks           // or nil, where pictures are not looked at
	bag      *bag             // of visual words, or nil
	words    int              // the first of the columns that are visual words
	// wordWeights are the inverse document frequencies of these columns, or nil.
	wordWeights []float64
	learner     learner        // of features that are learned, else nil
	held        []func()       // shares of the memory budget
	linked      Links          // what links are of
	links       datasets.Links // by samples of the set
	looked      sync.Once
	negative    bool // whether X has negative values, when looked is done
}

// Prepare reads the data of an experiment and makes its features, as PrepareSet does.
func Prepare(ctx context.Context, e *Experiment, opt PrepareOptions) (*Inputs, error) {
	set, err := Open(ctx, e)
	if err != nil {
		return nil, err
	}
	return PrepareSet(ctx, e, set, opt)
}

// Open reads the data of an experiment, but no images.
func Open(ctx context.Context, e *Experiment) (*datasets.Set, error) {
	defer timing.Start(ctx, timing.Reading)()
	d := e.Data
	d.Pool = d.Pool || e.Split != "" && !d.NoClasses // train/Coast and test/Coast are one class
	return openData(ctx, d, e.Seed, e.Features.SkipBad)
}

// PrepareSet makes the features of a set, which need not be that of the experiment's
// data. Where these are visual words, it describes the images, and learns the words
// unless each draw has its own.
func PrepareSet(ctx context.Context, e *Experiment, set *datasets.Set, opt PrepareOptions) (*Inputs, error) {
	defer timing.Start(ctx, timing.Features)()
	f := e.Features.Resolve(set)
	for _, m := range e.Methods {
		if err := m.checkFeatures(f); err != nil {
			return nil, err
		}
	}
	progress := &reporter{to: opt.Progress}
	defer progress.end()
	in := &Inputs{Set: set, Features: f, images: set.Images()}
	in.images.UseTruncated = f.SkipBad
	if in.shown = in.images; set.Files == nil && set.Pictures != nil {
		in.shown = set.PictureFiles().Images()
	}
	store := &keeper{Cache: opt.Cache, failed: opt.CacheFailed}
	if opt.Cache == nil {
		store.Cache = (*cache.Store)(nil)
	}
	if opt.Pictures && set.Files != nil && !opt.InBlocks {
		in.pictures = &looks{images: in.images, store: store}
	}
	err := in.readLinks(ctx, e.Links)
	if err == nil {
		err = in.hold(ctx, "the vectors of "+set.Name, set.Vectors)
	}
	switch {
	case err != nil:
	case opt.InBlocks:
		err = in.prepareBlocks(ctx, progress, store)
	case f.Joined != nil || f.OfWords():
		err = in.prepareLearned(ctx, e, progress, store)
	default:
		err = in.prepare(ctx, progress, store)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// prepare makes features that are not learned.
func (in *Inputs) prepare(ctx context.Context, progress *reporter, store *keeper) error {
	f := &in.Features
	m, err := f.extract(ctx, in.Set, features.Options{
		SkipBad: f.SkipBad, Images: in.images, Cache: store, Observer: in.pictures.observer(), Progress: progress.of("reading"),
	})
	if err != nil {
		return err
	}
	if f.keepsShape() {
		f.Extractor = features.Pixels{Size: features.Size{Height: m.Height, Width: m.Width}, Colour: m.Channels == 3}
	}
	in.X, in.Rows, in.Skipped = m.X, m.Rows, m.Skipped
	in.Height, in.Width, in.Channels = m.Height, m.Width, m.Channels
	in.places, in.crop = m.Places, m.Crop
	return in.hold(ctx, "the features of "+in.Set.Name, m.X)
}

// PrepareOptions say how features are made. They change no feature.
type PrepareOptions struct {
	// Cache keeps descriptors, words, histograms and rows, in this process or for the
	// next one. Without it what is needed again is made again.
	Cache Cache
	// CacheFailed, if set, is called with the first error of the cache, in a run as
	// well. Nothing more is kept then, and what is needed again is made again.
	CacheFailed func(error)
	// Pictures looks at each picture of a set of files while it is decoded, for
	// Inputs.Pictures and Inputs.Thumbnail.
	Pictures bool
	// InBlocks makes no features, but Inputs.Blocks, for Groups.Batch. Visual words, and
	// Features.SkipBad of vectors, are an error.
	InBlocks bool
	// Progress, if set, is called while features are made.
	Progress Progress
}

// Cache keeps blobs by the SHA-256 sum of what they were made from. Several
// goroutines call it at once. What it has may go at any time.
type Cache interface {
	// SizeOf returns how many bytes a blob has, and whether it is there.
	SizeOf(key [sha256.Size]byte) (int64, bool)
	// Get returns a blob, which is the caller's, and whether it is there.
	Get(key [sha256.Size]byte) ([]byte, bool)
	Put(key [sha256.Size]byte, blob []byte) error
}

// prepareLearned makes visual words, and several features together, unless each draw of a
// classification learns its own.
func (in *Inputs) prepareLearned(ctx context.Context, e *Experiment, progress *reporter, store *keeper) (err error) {
	if in.Features.Joined != nil {
		var all *joined
		if all, in.Rows, in.Skipped, err = newJoined(ctx, in, progress, store); err != nil {
			return err
		}
		in.learner = all
		in.words, in.bag = all.wordsFrom()
		if e.Task == Classification {
			in.held = append(in.held, all.release)
			return nil
		}
		defer all.release()
	} else {
		described := timing.Start(ctx, timing.Describing)
		in.bag, err = newBag(ctx, in.Set, in.images, in.Features, store, in.pictures.observer(), progress)
		described()
		if err != nil {
			return err
		}
		in.learner, in.Rows, in.Skipped = in.bag, in.bag.Rows, in.bag.Skipped
		if e.Task == Classification && in.bag.given == nil {
			return nil
		}
	}
	if in.bag != nil {
		defer timing.Start(ctx, timing.Words)()
	}
	all, err := in.learner.learn(ctx, in.Rows, len(in.Rows), rng.Seed(e.Seed, "words"))
	if err != nil {
		return err
	}
	in.X, in.Vocabulary, in.Scales, in.learner = all.x, all.vocabulary, all.scales, nil
	in.wordWeights = all.wordWeights
	return in.hold(ctx, "the features of "+in.Set.Name, in.X)
}

// Close gives the share of the memory budget back, and closes a set whose vectors are on
// disk.
func (in *Inputs) Close() {
	in.Set.Close()
	for _, release := range in.held {
		release()
	}
	in.held = nil
}

// Image returns the image that row i of X was made of. It is an error if the
// file holds something else by now.
func (in *Inputs) Image(ctx context.Context, i int) (image.Image, error) {
	return in.images.Open(ctx, in.Rows[i])
}

// Dims returns the number of samples and of features.
func (in *Inputs) Dims() (n, m int) { return in.source().dims() }

// view is what the methods see of a draw: the features of its samples, and of those to be
// classified, which are picked when they are asked for first.
type view struct {
	x, test    func() mat.Matrix
	vocabulary *vocab.Vocabulary // nil where there are no words
	scales     []Scale           // nil where nothing is joined
	// wordWeights are those of learnt.
	wordWeights []float64
}

// picked returns rows of x.
func picked(x mat.Matrix, rows []int) func() mat.Matrix {
	return sync.OnceValue(func() mat.Matrix { return selectRows(x, rows) })
}

// image returns the size of the images that samples are to a method.
func (in *Inputs) image() factor.Image {
	if in.Height == 0 {
		return factor.Image{}
	}
	return factor.Image{Height: in.Height, Width: in.Width, Channels: in.Channels}
}

// readLinks reads the files of links, unless these are the ones that were read last.
func (in *Inputs) readLinks(ctx context.Context, l Links) (err error) {
	if in.linked == l {
		return nil
	}
	if in.links, err = readLinks(ctx, l, in.Set); err == nil {
		in.linked = l
	}
	return err
}

// linksOfRows returns links by row of X, without those of samples that were left out.
func (in *Inputs) linksOfRows() (must, cannot [][2]int) {
	if len(in.Rows) == in.Set.Len() {
		return in.links.Must, in.links.Cannot
	}
	row := slices.Repeat([]int{-1}, in.Set.Len())
	for i, r := range in.Rows {
		row[r] = i
	}
	keep := func(from [][2]int) (to [][2]int) {
		for _, p := range from {
			if a, b := row[p[0]], row[p[1]]; a >= 0 && b >= 0 {
				to = append(to, [2]int{a, b})
			}
		}
		return to
	}
	return keep(in.links.Must), keep(in.links.Cannot)
}

// Labels returns the class of each row of X, or -1.
func (in *Inputs) Labels() []int { return labelsOf(in.Set, in.Rows) }

// labelsOf returns the class of each of some samples of a set, or -1.
func labelsOf(set *datasets.Set, rows []int) []int {
	out := make([]int, len(rows))
	for i, r := range rows {
		out[i] = set.Labels[r]
	}
	return out
}

// FeaturesText says in words what the features are.
func (in *Inputs) FeaturesText() string {
	_, m := in.Dims()
	return in.Features.of(in.Set, m)
}

// ownLabels returns the class that the data itself gives each row of X, or −1,
// where other classes were told, and else nil.
func (in *Inputs) ownLabels() []int {
	if in.Set.OwnLabels == nil {
		return nil
	}
	out := make([]int, len(in.Rows))
	for i, r := range in.Rows {
		out[i] = in.Set.OwnLabels[r]
	}
	return out
}

// nameRows makes an error that speaks of one of some rows of X, nil for all, name the
// sample.
func (in *Inputs) nameRows(err error, rows []int) error {
	var bad *factor.SampleError
	if !errors.As(err, &bad) {
		return err
	}
	row := bad.Sample
	if rows != nil {
		row = rows[row]
	}
	return fmt.Errorf("%s: %s: %s", in.Set.Name, in.Set.Names[in.Rows[row]], bad.Problem)
}

// negativeAmong returns the first negative value of some rows of x, and the place of its
// row among them.
func negativeAmong(x mat.Matrix, rows []int) (at, column int, value float64, found bool) {
	if x, ok := x.(*mat.Dense); ok {
		_, m := x.Dims()
		columns := make([]int, len(rows))
		parallel.DoWork(len(rows)*m, len(rows), func(at int) {
			columns[at] = slices.IndexFunc(x.RawRowView(rows[at]), func(v float64) bool { return v < 0 })
		})
		if at := slices.IndexFunc(columns, func(j int) bool { return j >= 0 }); at >= 0 {
			return at, columns[at], x.At(rows[at], columns[at]), true
		}
		return 0, 0, 0, false
	}
	eachValue(x, rows, func(i, j int, v float64) {
		if v < 0 && !found {
			at, column, value, found = i, j, v, true
		}
	})
	return at, column, value, found
}

// allRows returns the places of all rows of x.
func allRows(x mat.Matrix) []int {
	n, _ := x.Dims()
	return allOf(n)
}

// allOf returns the numbers below n.
func allOf(n int) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	return rows
}

// eachRow calls f with rows of x: with the place of the row among rows and its values, which are
// f's until it returns, and where x is sparse with the columns of those that it stores.
func eachRow(x mat.Matrix, rows []int, f func(at int, columns []int, values []float64)) {
	_, m := x.Dims()
	var row []float64
	for at, i := range rows {
		switch x := x.(type) {
		case *sparse.CSR:
			columns, values := x.Row(i)
			f(at, columns, values)
		case *mat.Dense:
			f(at, nil, x.RawRowView(i))
		default:
			if row == nil {
				row = make([]float64, m)
			}
			f(at, nil, vectorfile.Row(row, i, x))
		}
	}
}

// eachValue calls f with the values of rows of x, row by row, but for zeros that a sparse
// one does not store: with the place of the row among rows, the column and the value.
func eachValue(x mat.Matrix, rows []int, f func(at, column int, v float64)) {
	eachRow(x, rows, func(at int, columns []int, values []float64) {
		for j, v := range values {
			if columns != nil {
				j = columns[j]
			}
			f(at, j, v)
		}
	})
}

// digestRows writes the values of some rows of x, with their columns where it is sparse.
// The identities of logged trials hold a digest of it, so its form stays.
func digestRows(w io.Writer, x mat.Matrix, rows []int) {
	var buf []byte
	eachRow(x, rows, func(_ int, columns []int, values []float64) {
		buf = buf[:0]
		for j, v := range values {
			if columns != nil {
				buf = binary.LittleEndian.AppendUint64(buf, uint64(columns[j]))
			}
			buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(v))
		}
		w.Write(buf)
	})
}

// fingerprint tells inputs apart by their values and classes.
func (in *Inputs) fingerprint() string {
	h := sha256.New()
	var buf [8]byte
	put := func(x uint64) {
		binary.LittleEndian.PutUint64(buf[:], x)
		h.Write(buf[:])
	}
	n, m := in.Dims()
	put(uint64(n))
	put(uint64(m))
	in.source().fingerprint(h)
	for _, c := range in.Labels() {
		put(uint64(c))
	}
	for _, c := range in.Set.Classes {
		fmt.Fprintf(h, "%q", c)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// parts digests which samples are of the test part.
func (in *Inputs) parts() string {
	h := sha256.New()
	for _, row := range in.Rows {
		fmt.Fprint(h, in.Set.Test[row])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// population digests the names and classes of the samples, on which depends what is
// drawn of them.
func (in *Inputs) population() string {
	h := sha256.New()
	labels := in.Labels()
	for i, row := range in.Rows {
		fmt.Fprintf(h, "%q %d\n", in.Set.Names[row], labels[i])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// selectRows returns some rows of x.
func selectRows(x mat.Matrix, rows []int) mat.Matrix {
	if s, ok := x.(*sparse.CSR); ok {
		return s.SelectRows(rows)
	}
	if len(rows) == 0 {
		return &mat.Dense{}
	}
	_, m := x.Dims()
	out := mat.NewDense(len(rows), m, nil)
	for to, from := range rows {
		vectorfile.Row(out.RawRowView(to), from, x)
	}
	return out
}

// openData returns the set, or the part of it that is asked for.
func openData(ctx context.Context, d Data, seed uint64, skipBad bool) (*datasets.Set, error) {
	opt := d.OpenOptions
	opt.SkipBad = skipBad
	set, err := datasets.Open(ctx, d.Set, opt)
	if err != nil {
		return nil, err
	}
	if d.Labelled && len(set.Classes) > 0 {
		set = set.Labelled()
	}
	if d.Largest > len(set.Classes) {
		return nil, fmt.Errorf("largest: %d classes are asked for, and %s has %d", d.Largest, set.Name, len(set.Classes))
	}
	if d.Largest > 0 {
		set = set.Largest(d.Largest)
	}
	if d.Samples == 0 {
		return set, nil
	}
	if d.Samples > set.Len() {
		return nil, fmt.Errorf("samples: %d are asked for, and %s has %d", d.Samples, set.Name, set.Len())
	}
	rows := rng.New(seed, "samples").Perm(set.Len())[:d.Samples]
	slices.Sort(rows)
	return set.Subset(rows), nil
}

// checkBatch reports what of the features cannot be made of a few samples at a time.
func checkBatch(f Features) error {
	switch {
	case f.Joined != nil:
		return errors.New("features: several together are scaled by all samples, and not in blocks: say pixels=32, for example")
	case f.OfWords():
		return errors.New("features: visual words are learned of all images, and not in blocks: say pixels=32, for example")
	}
	return nil
}

// prepareBlocks gets ready to make features in blocks.
func (in *Inputs) prepareBlocks(ctx context.Context, progress *reporter, store *keeper) error {
	f := &in.Features
	if err := checkBatch(*f); err != nil {
		return err
	}
	crop, err := f.Crop.crop()
	if err != nil {
		return err
	}
	in.Blocks, err = features.InBlocks(ctx, in.Set, f.extractor().(features.RowExtractor), features.Options{
		Crop: crop, Power: f.Power, Normalise: f.Normalise, SkipBad: f.SkipBad, Images: in.images, Cache: store, Progress: progress.of("reading"),
	})
	if err != nil {
		return err
	}
	in.Height, in.Width, in.Channels = in.Blocks.Height, in.Blocks.Width, in.Blocks.Channels
	in.Rows, in.Skipped = in.Blocks.Rows, in.Blocks.Skipped
	if f.keepsShape() {
		f.Extractor = features.Pixels{Size: features.Size{Height: in.Height, Width: in.Width}, Colour: in.Channels == 3}
	}
	return nil
}

// readLinks reads the links of the files, by samples of the set.
func readLinks(ctx context.Context, l Links, set *datasets.Set) (all datasets.Links, err error) {
	for _, source := range []struct {
		file string
		read func(context.Context, string) (*datasets.Links, error)
	}{{l.File, set.ReadLinks}, {l.Feedback, set.ReadFeedback}} {
		if source.file == "" {
			continue
		}
		links, err := source.read(ctx, source.file)
		if err != nil {
			return all, err
		}
		all.Must, all.Cannot = append(all.Must, links.Must...), append(all.Cannot, links.Cannot...)
	}
	return all, nil
}

// checkRankSigns reports values by which no rank is chosen.
func (in *Inputs) checkRankSigns() error {
	if in.HasNegative() {
		return fmt.Errorf("the rank is chosen by NMF, which needs values of 0 or more, and %s has others: say it with a number", in.Set.Name)
	}
	return nil
}

// WithMemory returns a context that limits the memory of what is done with it to
// about limit bytes, at least 64 MiB: images wait for their share, fewer trials
// run at once, and what cannot fit is refused before it begins, by an error with
// the number. Without it the limit is half of the memory that the process may use.
func WithMemory(ctx context.Context, limit int64) context.Context {
	return memory.NewContext(ctx, memory.New(limit))
}

// bytesOf returns how many bytes a matrix holds.
func bytesOf(x mat.Matrix) int64 {
	if x == nil {
		return 0
	}
	n, m := x.Dims()
	switch x := x.(type) {
	case *sparse.CSR:
		return 16*int64(x.NNZ()) + 8*int64(n)
	case *vectorfile.Bytes:
		return int64(n) * int64(m)
	case *vectorfile.Stored:
		return 0
	}
	return 8 * int64(n) * int64(m)
}

// sized says of a matrix what it is and how large.
func sized(what string, n, m int) string { return fmt.Sprintf("%s, %d×%d", what, n, m) }

// hold takes the share of the memory budget for a matrix until the inputs are
// closed.
func (in *Inputs) hold(ctx context.Context, what string, x mat.Matrix) error {
	if x == nil {
		return nil
	}
	n, m := x.Dims()
	release, err := memory.FromContext(ctx).Keep(bytesOf(x), sized(what, n, m))
	if err != nil {
		return err
	}
	in.held = append(in.held, release)
	return nil
}

// HasNegative tells whether X has negative values. It looks once.
func (in *Inputs) HasNegative() bool {
	in.looked.Do(func() { _, _, _, in.negative = in.source().firstNegative() })
	return in.negative
}
