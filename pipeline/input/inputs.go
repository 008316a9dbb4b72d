// Package input opens a data set and computes the features of its samples for an experiment or a grouping. The features
// are one matrix, blocks that are computed on demand, or visual words and scales that each draw learns from its
// training samples.
package input

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/rng"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"gonum.org/v1/gonum/mat"
)

// Inputs are a data set and the features of its samples. Close releases them.
type Inputs struct {
	Set      *datasets.Set // the samples
	Features spec.Features // the settings of the features, with the size of the resized images
	// X is n×m, one sample a row, dense or sparse. It is nil if each draw of a classification learns its own features:
	// see View.
	X mat.Matrix
	// Blocks computes the rows of X on demand, with PrepareOptions.InBlocks; X is nil then.
	Blocks *features.Blocks
	// Learned holds what the features learned from all samples, if all draws share it.
	Learned
	// Made describes the rows of X: the samples, their images and the spatial grid of their features.
	features.Made
	extracted mat.Matrix // X before it is whitened or propagated
	pixels    Pixels     // of joined features

	Images          *datasets.Images // opens the images of Set
	thumbnailImages *datasets.Images // the images that thumbnails show
	pictures        *looks           // nil if pictures are not examined
	Bag             *bag             // of visual words, or nil
	Words           int              // the first column of visual words
	learner         learner          // of features that each draw learns, else nil
	releases        []func()         // reserved memory
	links           datasets.Links   // by samples of the set
	looked          sync.Once
	negative        bool // whether there are negative values; valid after looked
	store           features.Cache
	progress        *Reporter // of the call that prepares the inputs
}

// Prepare reads the data of an experiment and computes its features, as PrepareSet does.
func Prepare(ctx context.Context, e *spec.Experiment, opt PrepareOptions) (*Inputs, error) {
	set, err := Open(ctx, e)
	if err != nil {
		return nil, err
	}
	return PrepareSet(ctx, e, set, opt)
}

// Open reads the data of an experiment, or the part that its settings select, but no images.
func Open(ctx context.Context, e *spec.Experiment) (_ *datasets.Set, err error) {
	defer guard.Catch(&err)
	defer timing.Start(ctx, timing.Reading)()
	d := e.Data
	d.OpenOptions.SkipBad = e.Features.SkipBad
	d.Pool = d.Pool || e.Split != "" && !d.NoClasses // train/Coast and test/Coast are one class
	set := guard.Must(datasets.Open(ctx, d.Set, d.OpenOptions))
	if d.Labelled && len(set.Classes) > 0 {
		set = set.Labelled()
	}
	guard.FailIf(d.Largest > len(set.Classes),
		"largest: %d classes requested, but %s has %d", d.Largest, set.Name, len(set.Classes))
	if d.Largest > 0 {
		set = set.Largest(d.Largest)
	}
	if d.Samples == 0 {
		return set, nil
	}
	guard.FailIf(d.Samples > set.Len(), "samples: %d requested, but %s has %d", d.Samples, set.Name, set.Len())
	rows := rng.New(e.Seed, "samples").Perm(set.Len())[:d.Samples]
	slices.Sort(rows)
	return set.Subset(rows), nil
}

// PrepareSet computes the features of a set, which may be another set than the experiment's. For visual words it
// describes the images, and learns the words unless each draw learns its own.
func PrepareSet(ctx context.Context, e *spec.Experiment, set *datasets.Set, opt PrepareOptions) (*Inputs, error) {
	defer timing.Start(ctx, timing.Features)()
	f := e.Features.Resolve(set)
	for _, m := range e.Methods {
		if err := m.CheckFeatures(f); err != nil {
			return nil, err
		}
	}
	in := &Inputs{Set: set, Features: f, Images: set.Images(), progress: &Reporter{To: opt.Progress}}
	defer in.progress.End()
	in.Images.UseTruncated = f.SkipBad
	if in.thumbnailImages = in.Images; set.Files == nil && set.Pictures != nil {
		in.thumbnailImages = set.PictureFiles().Images()
	}
	if in.store = opt.Cache; opt.Cache == nil {
		in.store = (*cache.Store)(nil)
	}
	if opt.Pictures && set.Files != nil && set.Masks == nil && !opt.InBlocks {
		in.pictures = &looks{images: in.Images, store: in.store}
		in.pictures.readSums(set, e.Data.Set)
	}
	err := guard.Try(func() {
		in.links = guard.Must(ReadLinks(ctx, e.Links, set))
		in.reserveMatrix(ctx, "the vectors of "+set.Name, set.Vectors)
		isLearned, isWeighted := f.Joined != nil || f.OfWords(), set.Weights != nil || set.Masks != nil
		guard.FailIf(isWeighted && opt.InBlocks || (set.Missing || isWeighted) && isLearned,
			"features: %s has missing values or weights, which are not supported with joined features and visual words, and weights and masks in batches", set.Name)
		switch {
		case opt.InBlocks:
			in.prepareBlocks(ctx)
		case isLearned:
			in.prepareLearned(ctx, e)
		default:
			in.prepare(ctx)
		}
		in.propagateAll(ctx)
	})
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// propagateAll propagates all samples, unless each draw first learns other features. Experiments share the result among
// draws of all samples. It and other functions that PrepareSet calls end with guard.Fail.
func (in *Inputs) propagateAll(ctx context.Context) {
	if in.Features.Whiten > 0 {
		in.Height, in.Width, in.Channels = 0, 0, 0
	}
	if in.Features.Transductive() {
		in.Places = features.Cells{}
	}
	if in.extracted = in.X; in.X == nil || !in.Features.Transductive() {
		return
	}
	in.X = guard.Must(in.propagate(ctx, in.X, len(in.Set.Classes), &in.Learned))
	in.reserveMatrix(ctx, "the propagated features of "+in.Set.Name, in.X)
}

func (in *Inputs) options(what string) features.Options {
	return features.Options{
		SkipBad: in.Features.SkipBad, Images: in.Images, Cache: in.store, Observer: in.pictures.observer(), Progress: in.progress.Of(what),
	}
}

func (in *Inputs) prepare(ctx context.Context) {
	m := guard.Must(in.Features.Extract(ctx, in.Set, in.options("reading")))
	in.mask(ctx, m)
	m.X = in.weighted(m.X, m.Rows)
	in.X, in.Made = m.X, m.Made
	in.setShape()
	in.reserveMatrix(ctx, "the features of "+in.Set.Name, m.X)
}

// maskedShare is the share of a pixel's area that is white in the mask of a missing pixel. Grey noise stays below it.
const maskedShare = 0.1

// mask makes pixels missing where the mask of their sample is white.
func (in *Inputs) mask(ctx context.Context, m *features.Matrix) {
	f := in.Features
	if in.Set.Masks == nil {
		return
	}
	guard.FailIf(!features.InfoOf(f.ExtractorOrPixels()).KeepsShape || m.Height == 0 || f.Normalise != features.NormNone || f.Power != 0,
		"features: the masks of %s need the pixels of images: set pixels, and normalise to none", in.Set.Name)
	f.Extractor = features.Pixels{Size: features.Size{Height: m.Height, Width: m.Width}, Colour: m.Channels == 3}
	opt := features.Options{Raw: true, Progress: in.progress.Of("reading masks")}
	masks := guard.Must(f.Extract(ctx, in.Set.Masks.Subset(m.Rows), opt))
	m.X.(*mat.Dense).Apply(func(i, j int, v float64) float64 {
		if masks.X.At(i, j) > maskedShare {
			return math.NaN()
		}
		return v
	}, m.X)
	in.Set.Missing = true
}

// weighted returns the features x of some samples as a *factor.Weighted, if they have missing values or weights.
func (in *Inputs) weighted(x mat.Matrix, rows []int) mat.Matrix {
	if !in.Set.Missing && in.Set.Weights == nil {
		return x
	}
	dense, isDense := x.(*mat.Dense)
	out := &factor.Weighted{Matrix: x}
	if in.Set.Weights != nil {
		_, m := x.Dims()
		w := matrix.SelectRows(in.Set.Weights, rows)
		if _, columns := w.Dims(); columns == 1 {
			out.Samples = mat.Col(nil, 0, w)
		} else {
			guard.FailIf(columns != m, "features: %s has weights of %d values, but %d features: only unchanged vectors can have weights of values", in.Set.Name, columns, m)
			out.Entries = mat.DenseCopyOf(w)
		}
	}
	guard.FailIf(in.Features.Transductive(),
		"features: %s has missing values or weights, which cannot be whitened or propagated", in.Set.Name)
	guard.FailIf(!isDense && (in.Set.Missing || out.Entries != nil),
		"features: %s has missing values or weights of values, which sparse vectors do not support", in.Set.Name)
	if out.Entries != nil {
		out.Entries.Apply(func(i, j int, w float64) float64 {
			if w == 0 {
				dense.Set(i, j, math.NaN())
			}
			return w
		}, out.Entries)
	}
	return out
}

// IsWeighted reports whether X has missing values or weights.
func (in *Inputs) IsWeighted() bool {
	_, weighted := in.X.(*factor.Weighted)
	return weighted
}

func (in *Inputs) setShape() {
	if features.InfoOf(in.Features.ExtractorOrPixels()).KeepsShape {
		in.Features.Extractor = features.Pixels{Size: features.Size{Height: in.Height, Width: in.Width}, Colour: in.Channels == 3}
	}
}

// PrepareOptions are the options of Prepare. They do not change any feature.
type PrepareOptions struct {
	// Cache keeps descriptors, words, histograms and rows for later calls. nil computes everything again.
	Cache features.Cache
	// Pictures examines each image of a set of files while it is decoded, for Inputs.Pictures and Inputs.Thumbnail.
	Pictures bool
	// InBlocks sets Inputs.Blocks instead of X, for Groups.Batch. It is an error with visual words, and with
	// Features.SkipBad for vectors.
	InBlocks bool
	Progress Progress // Progress, if set, is called while features are computed
}

// prepareLearned computes visual words and joined features, unless each draw of a classification learns its own.
func (in *Inputs) prepareLearned(ctx context.Context, e *spec.Experiment) {
	before, eachDraw := len(in.releases), e.Task == spec.Classification
	if in.Features.Joined != nil {
		all := newJoined(ctx, in)
		in.learner = all
		columns := 0
		for _, m := range all.members {
			if m.bag != nil {
				in.Words, in.Bag = columns, m.bag
			} else if m.made.Height > 0 && in.pixels.Height == 0 {
				in.pixels = Pixels{columns, m.made.Height, m.made.Width, m.made.Channels}
			}
			columns += m.columns()
		}
	} else {
		in.Bag = guard.Must(newBag(ctx, in, in.Features))
		in.learner, in.Rows, in.Skipped = in.Bag, in.Bag.Rows, in.Bag.Skipped
		eachDraw = eachDraw && in.Bag.fixed == nil
	}
	if eachDraw {
		return
	}
	if in.Bag != nil {
		defer timing.Start(ctx, timing.Words)()
	}
	x, learned, err := in.learner.learn(ctx, in.Rows, len(in.Rows), rng.Seed(e.Seed, "words"))
	guard.Check(err)
	in.X, in.Learned, in.learner = x, learned, nil
	pieces := slices.Clone(in.releases[before:])
	in.reserveMatrix(ctx, "the features of "+in.Set.Name, in.X)
	in.releases = slices.Delete(in.releases, before, before+len(pieces))
	for _, release := range pieces {
		release()
	}
}

// Close releases the reserved memory, and closes a set whose vectors are on disk.
func (in *Inputs) Close() {
	in.Set.Close()
	for _, release := range in.releases {
		release()
	}
	in.releases = nil
}

// ImageShape returns the size of the images in the rows of X, zero if rows are not images.
func (in *Inputs) ImageShape() factor.Image {
	return factor.Image{Height: in.Height, Width: in.Width, Channels: in.Channels}
}

// Pixels are the values of a row of X that are an image: from From on, as Inputs.Height, Width and Channels describe. Its
// Height is 0 if there is none.
type Pixels struct{ From, Height, Width, Channels int }

// Pixels returns the image in the rows of X, of joined features the first one.
func (in *Inputs) Pixels() Pixels {
	if in.Height > 0 {
		return Pixels{0, in.Height, in.Width, in.Channels}
	}
	return in.pixels
}

// Of returns the images of the basis vectors u, m×k.
func (p Pixels) Of(u *mat.Dense) *mat.Dense {
	_, k := u.Dims()
	return u.Slice(p.From, p.From+p.Height*p.Width*p.Channels, 0, k).(*mat.Dense)
}

// LinksOfRows returns the links between rows of X, without links of skipped samples.
func (in *Inputs) LinksOfRows() (must, cannot [][2]int) {
	if len(in.Rows) == in.Set.Len() {
		return in.links.Must, in.links.Cannot
	}
	row := PlacesOf(in.Rows, in.Set.Len())
	return PairsAt(in.links.Must, row), PairsAt(in.links.Cannot, row)
}

// PlacesOf returns for each of n samples its index in rows, or −1.
func PlacesOf(rows []int, n int) []int {
	place := slices.Repeat([]int{-1}, n)
	for at, i := range rows {
		place[i] = at
	}
	return place
}

// PairsAt returns pairs of samples as pairs of their places, without pairs that have a place of −1.
func PairsAt(pairs [][2]int, place []int) (out [][2]int) {
	for _, p := range pairs {
		if a, b := place[p[0]], place[p[1]]; a >= 0 && b >= 0 {
			out = append(out, [2]int{a, b})
		}
	}
	return out
}

// Labels returns the class of each row of X, or −1.
func (in *Inputs) Labels() []int { return matrix.Take(in.Set.Labels, in.Rows) }

// FeaturesText describes the features in words.
func (in *Inputs) FeaturesText() string {
	_, m := in.Dims()
	return in.Features.TextOf(in.Set, m)
}

// OwnLabels returns the class of each row of X in the data itself, or −1. It is nil unless other labels replace these
// classes.
func (in *Inputs) OwnLabels() []int { return matrix.Take(in.Set.OwnLabels, in.Rows) }

// NameRows adds the sample's name to an error about one of the given rows of X; nil stands for all rows.
func (in *Inputs) NameRows(err error, rows []int) error {
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

// Fingerprint is a digest of the features and classes of the inputs.
func (in *Inputs) Fingerprint() string {
	h := sha256.New()
	put := func(x int) { h.Write(binary.LittleEndian.AppendUint64(nil, uint64(x))) }
	n, m := in.Dims()
	put(n)
	put(m)
	switch {
	case in.X != nil:
		matrix.WriteRows(h, in.X, matrix.AllRows(in.X))
		if in.Set.Weights != nil {
			matrix.WriteRows(h, in.Set.Weights, in.Rows)
		}
	case in.learner != nil:
		in.learner.fingerprint(h, in.Rows)
	}
	if f := in.Features; f.Transductive() {
		fmt.Fprintf(h, "whiten %v propagate %v", f.Whiten, f.Propagate)
	}
	for _, c := range in.Labels() {
		put(c)
	}
	for _, c := range in.Set.Classes {
		fmt.Fprintf(h, "%q", c)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Parts is a digest of which samples are in the test part.
func (in *Inputs) Parts() string {
	h := sha256.New()
	for _, row := range in.Rows {
		fmt.Fprint(h, in.Set.Test[row])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// Population is a digest of the names and classes of the samples, on which draws depend.
func (in *Inputs) Population() string {
	h := sha256.New()
	labels := in.Labels()
	for i, row := range in.Rows {
		fmt.Fprintf(h, "%q %d\n", in.Set.Names[row], labels[i])
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// CheckBatch returns an error for features that cannot be computed in blocks.
func CheckBatch(f spec.Features) (err error) {
	defer guard.Catch(&err)
	guard.FailIf(f.Joined != nil, "features: joined features are not supported in batches; use one, such as pixels=32")
	guard.FailIf(f.OfWords(), "features: visual words are not supported in batches; use pixels=32, for example")
	guard.FailIf(f.Transductive(),
		"features: whitening and propagation are not supported in batches; remove whiten and propagate")
	return nil
}

func (in *Inputs) prepareBlocks(ctx context.Context) {
	guard.Check(CheckBatch(in.Features))
	b := guard.Must(in.Features.InBlocks(ctx, in.Set, in.options("reading")))
	in.Blocks, in.Made, in.Places = b, b.Made, features.Cells{}
	in.setShape()
}

// ReadLinks reads the links of the files, by samples of the set.
func ReadLinks(ctx context.Context, l spec.Links, set *datasets.Set) (all datasets.Links, err error) {
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
		if all.None() {
			all = *links
			continue
		}
		all = datasets.Links{Must: append(all.Must, links.Must...), Cannot: append(all.Cannot, links.Cannot...), File: l.File + ", " + l.Feedback}
	}
	return all, nil
}

// CheckRank returns an error for features for which no rank can be chosen.
func (in *Inputs) CheckRank() error {
	if in.HasNegative() {
		return fmt.Errorf("rank auto uses NMF, which needs values of 0 or more, but %s has negative values: set a rank", in.Set.Name)
	}
	return nil
}

// WithMemory returns a context that limits the memory of calls with it to about limit bytes, at least 64 MiB. Images
// wait for memory, fewer trials run at once, and work that cannot fit is refused before it begins. The default limit is
// half of the memory that the process may use.
func WithMemory(ctx context.Context, limit int64) context.Context {
	return memory.NewContext(ctx, memory.New(limit))
}

func describeSize(what string, n, m int) string { return fmt.Sprintf("%s, %d×%d", what, n, m) }

// reserveMatrix reserves memory for x until the inputs are closed.
func (in *Inputs) reserveMatrix(ctx context.Context, what string, x mat.Matrix) {
	if x == nil {
		return
	}
	n, m := x.Dims()
	bytes := 8 * int64(n) * int64(m)
	switch x := x.(type) {
	case *factor.Weighted:
		if x.Entries != nil {
			bytes *= 2
		}
	case *sparse.CSR:
		bytes = 16*int64(x.NNZ()) + 8*int64(n)
	case *vectorfile.Bytes:
		bytes /= 8
	case *vectorfile.Stored:
		bytes = 0
	}
	in.releases = append(in.releases, guard.Must(memory.FromContext(ctx).Keep(bytes, describeSize(what, n, m))))
}

// Subset returns the inputs of some rows of X.
func (in *Inputs) Subset(rows []int) *Inputs {
	return &Inputs{Set: in.Set, Features: in.Features, X: matrix.SelectRows(in.X, rows), Images: in.Images, Made: features.Made{Rows: matrix.Take(in.Rows, rows)}}
}

// HasNegative reports whether X has negative values. Later calls return the first result.
func (in *Inputs) HasNegative() bool {
	in.looked.Do(func() { _, _, _, in.negative = in.FirstNegative() })
	return in.negative || in.Features.Whiten > 0
}

// OfNetwork reports whether the features, or those in the file of vectors, are of a network alone.
func (in *Inputs) OfNetwork() bool {
	stored, err := spec.ReadFeatures(json.RawMessage(in.Set.Settings))
	return in.Features.OfNetwork() || err == nil && stored.OfNetwork()
}

// Progress is called with the current step, the amount done and the total, −1 if it is unknown. Calls do not overlap,
// and none comes after the function that received the Progress has returned.
type Progress func(what string, done, total int)

// Reporter serialises the calls of one Progress from several goroutines. A nil Reporter calls nothing.
type Reporter struct {
	mu    sync.Mutex
	To    Progress
	ended bool
}

// Reported returns the result of f, or the error of ctx as soon as ctx ends. f then still runs until it checks ctx,
// without reporting progress. A panic becomes an error.
func Reported[T any](ctx context.Context, progress Progress, f func(*Reporter) (T, error)) (T, error) {
	r := &Reporter{To: progress}
	defer r.End()
	return guard.Interruptible(ctx, func() (T, error) { return f(r) })
}

// Report reports that done of total of a step are done.
func (r *Reporter) Report(what string, done, total int) {
	r.Call(func() {
		if r.To != nil {
			r.To(what, done, total)
		}
	})
}

// Call calls f, unless End was called.
func (r *Reporter) Call(f func()) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		f()
	}
}

// Of returns a function that reports the progress of one step.
func (r *Reporter) Of(what string) func(done, total int) {
	return func(done, total int) { r.Report(what, done, total) }
}

// End stops all reports. The function that received the Progress calls it when it returns.
func (r *Reporter) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = true
}
