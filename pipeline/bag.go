package pipeline

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/vocab"
)

// bag turns the images of a set into histograms of visual words. Descriptors,
// words and histograms are kept in a cache under what they are made of, so that
// nothing is made twice; the images stream by, a few at a time.
type bag struct {
	set    *datasets.Set
	images *datasets.Images
	words  *Words
	norm   features.Norm
	store  *cache.Store
	// described is where the cache has the descriptors of each sample, and patches
	// how many there are.
	described []cache.Key
	patches   []int
	// given are the words of a file, or nil.
	given    *vocabulary
	progress Progress
	// failed is called with the first error of the cache, after which nothing
	// is kept.
	failed    func(error)
	keepsNone atomic.Bool
}

// vocabulary is a vocabulary and what tells it from others.
type vocabulary struct {
	*vocab.Vocabulary
	key cache.Key
}

// siftDim is the length of a SIFT descriptor.
const siftDim = 128

// version is part of all keys. It changes with what descriptors and histograms
// hold for the same settings.
const version = "1"

// newBag describes the images of a set and returns which samples can be used. A
// sample that cannot is an error, or with skipBad an error for the list.
func newBag(ctx context.Context, set *datasets.Set, images *datasets.Images, f Features, store *cache.Store, opt PrepareOptions) (b *bag, rows []int, skipped []error, err error) {
	if set.Files == nil && set.Height == 0 {
		return nil, nil, nil, fmt.Errorf("%s holds no images, and sift describes images", set.Name)
	}
	if s, ok := f.Words.sift().(features.KeypointSIFT); ok {
		if err := s.Check(); err != nil {
			return nil, nil, nil, err
		}
	}
	b = &bag{set: set, images: images, words: f.Words, norm: f.Normalise, store: store, described: make([]cache.Key, set.Len()), patches: make([]int, set.Len()), progress: opt.Progress, failed: opt.CacheFailed}
	if from := f.Words.From; from != "" {
		if b.given, err = readVocabulary(ctx, from); err != nil {
			return nil, nil, nil, err
		}
		if dim := b.given.Dim(); dim != siftDim {
			return nil, nil, nil, fmt.Errorf("%s: words of length %d, and SIFT descriptors have %d", from, dim, siftDim)
		}
	}
	all := make([]int, set.Len())
	bad := make([]error, set.Len())
	for i := range all {
		all[i] = i
	}
	settings := f.Words.describedBy()
	if err := b.each(ctx, all, "", func(i, _ int) error {
		content, err := images.Sum(i)
		if err != nil {
			bad[i] = err
			return b.stop(err, f.SkipBad)
		}
		b.described[i] = cache.NewKey("descriptors", version, settings, content[:])
		return nil
	}); err != nil {
		return nil, nil, nil, err
	}
	// That all of these images can be used is kept too.
	usable := cache.NewKey("usable", b.described)
	if _, ok := b.kept(ctx, usable); !ok || !b.allKept() {
		if err := b.each(ctx, all, "describing images", func(i, _ int) error {
			if bad[i] != nil {
				return nil
			}
			bad[i] = b.describe(ctx, i, func(d *features.Descriptors) error {
				b.patches[i] = d.Len()
				return b.enough(i, d)
			})
			return b.stop(bad[i], f.SkipBad)
		}); err != nil {
			return nil, nil, nil, err
		}
	}
	for i, err := range bad {
		if err == nil {
			rows = append(rows, i)
		} else {
			skipped = append(skipped, err)
		}
	}
	switch {
	case len(rows) == 0:
		return nil, nil, nil, fmt.Errorf("none of the %d images of %s can be used: %w", set.Len(), set.Name, skipped[0])
	case len(skipped) == 0:
		b.keep(usable, nil)
	}
	return b, rows, skipped, nil
}

// allKept tells whether the cache has the descriptors of all samples, and notes how
// many there are.
func (b *bag) allKept() bool {
	for i, key := range b.described {
		size, ok := b.store.SizeOf(key)
		if !ok {
			return false
		}
		b.patches[i] = int(size / features.DescriptorBytes)
	}
	return true
}

// stop returns the error unless bad images are left out.
func (b *bag) stop(err error, skipBad bool) error {
	bad, err := features.BadSample(err)
	if bad && skipBad {
		return nil
	}
	return err
}

// each calls f for each of the samples, several at once, with its place among
// them, and tells how many are done, where there is a name for it. The first
// error in their order is returned.
func (b *bag) each(ctx context.Context, samples []int, what string, f func(at, sample int) error) error {
	errs := make([]error, len(samples))
	var mu sync.Mutex
	done := 0
	g, working := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for at, sample := range samples {
		if working.Err() != nil {
			break
		}
		g.Go(func() error {
			errs[at] = b.guarded(at, sample, f)
			if what != "" {
				mu.Lock()
				defer mu.Unlock()
				done++
				b.progress.tell(what, done, len(samples))
			}
			return errs[at]
		})
	}
	_ = g.Wait() // of several errors, not the first in the samples' order
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return context.Cause(ctx)
}

// guarded calls f; a panic is an error that names the sample.
func (b *bag) guarded(at, sample int, f func(at, sample int) error) error {
	err := guard.Call(func() error { return f(at, sample) })
	var fault *guard.PanicError
	if errors.As(err, &fault) {
		return fmt.Errorf("%s: %w", b.set.Names[sample], err)
	}
	return err
}

// describe calls use with the descriptors of a sample, while it holds a share of
// the memory budget of the context. They are made of the content that the sample
// had when newBag digested it: another one is an error.
func (b *bag) describe(ctx context.Context, i int, use func(*features.Descriptors) error) error {
	d, release, err := b.cached(ctx, i)
	if err != nil {
		return err
	}
	if d != nil {
		defer release()
		return use(d)
	}
	sift := b.words.sift()
	return b.images.With(ctx, i, sift.Memory, func(img image.Image) error {
		d, err := sift.Extract(img)
		if err != nil {
			return fmt.Errorf("%s: %w", b.set.Names[i], err)
		}
		blob, err := d.AppendBinary(nil)
		if err != nil {
			return err
		}
		b.keep(b.described[i], blob)
		return use(d)
	})
}

// cached returns the descriptors of a sample that the cache has, or nil. What the
// memory budget has no room for counts as not there.
func (b *bag) cached(ctx context.Context, i int) (d *features.Descriptors, release func(), err error) {
	budget := memory.FromContext(ctx)
	size, ok := b.store.SizeOf(b.described[i])
	size += size / 8 // some of what is read is copied
	if !ok || budget.Check(size, "") != nil {
		return nil, nil, nil
	}
	if release, err = budget.Acquire(ctx, size, b.set.Names[i]); err != nil {
		return nil, nil, err
	}
	d = &features.Descriptors{}
	if blob, ok := b.store.Get(b.described[i]); ok && d.UnmarshalBinary(blob) == nil && (d.Dim == siftDim || d.Len() == 0) {
		return d, release, nil
	}
	release()
	return nil, nil, nil
}

// stored returns about how many values the histograms of the samples store.
func (b *bag) stored(samples []int) (total float64) {
	columns := float64(b.columns())
	for _, i := range samples {
		// A patch counts in one cell of each division, for each of its words.
		total += min(columns, float64(b.patches[i])*float64(max(len(b.words.grid()), 1)*max(b.words.Assignment.Nearest, 1)))
	}
	return total
}

// kept returns the blob that the cache has, where the memory budget has room for it
// and for what is made of it.
func (b *bag) kept(ctx context.Context, key cache.Key) (blob []byte, ok bool) {
	if size, ok := b.store.SizeOf(key); !ok || memory.FromContext(ctx).Check(2*size, "") != nil {
		return nil, false
	}
	return b.store.Get(key)
}

// keep keeps a blob in the cache, if it can: a full disk makes what follows
// slower, and no more.
func (b *bag) keep(key cache.Key, blob []byte) {
	if b.keepsNone.Load() {
		return
	}
	if err := b.store.Put(key, blob); err != nil && b.keepsNone.CompareAndSwap(false, true) && b.failed != nil {
		b.failed(err)
	}
}

// enough reports a sample without descriptors.
func (b *bag) enough(i int, d *features.Descriptors) error {
	if d.Len() > 0 {
		return nil
	}
	why := "no keypoints were found in it"
	if _, dense := b.words.sift().(features.DenseSIFT); dense {
		why = "no patch fits into it"
	}
	return fmt.Errorf("%s: %w: the image has %d×%d pixels, and %s", b.set.Names[i], vocab.ErrNoDescriptors, d.Width, d.Height, why)
}

// learn returns the words of a file, or those of the samples' descriptors.
func (b *bag) learn(ctx context.Context, samples []int, seed uint64) (*vocabulary, error) {
	if b.given != nil {
		return b.given, nil
	}
	w := b.words
	learned := &vocabulary{key: cache.NewKey("words", version, w.count(), w.By, w.Sample, w.PerImage, seed, b.keys(samples))}
	if blob, ok := b.kept(ctx, learned.key); ok {
		var err error
		if learned.Vocabulary, err = vocab.Load(ctx, bytes.NewReader(blob), int64(len(blob))); err == nil && learned.Dim() == siftDim && (w.Fewer || learned.Len() == w.count()) {
			return learned, nil
		}
	}
	sampler := vocab.Sampler{Total: w.Sample, PerImage: w.PerImage, Seed: seed}
	if err := b.each(ctx, samples, "sampling descriptors", func(_, i int) error {
		return b.describe(ctx, i, func(d *features.Descriptors) error { return sampler.Add(b.set.Names[i], d) })
	}); err != nil {
		return nil, err
	}
	vectors, dim := sampler.Sample()
	training := w.training(seed, vectors, dim)
	training.OnIteration = func(i, _ int, _ float64) { b.progress.tell("learning words", i, -1) }
	var err error
	if learned.Vocabulary, err = training.Train(ctx, vectors, dim); err != nil {
		return nil, err
	}
	var blob bytes.Buffer
	if err := learned.Save(&blob); err != nil {
		return nil, err
	}
	b.keep(learned.key, blob.Bytes())
	return learned, nil
}

// count returns the samples' histograms, a row each.
func (b *bag) count(ctx context.Context, v *vocabulary, samples []int) (*sparse.CSR, error) {
	w := b.words
	grid := w.grid()
	key := cache.NewKey("histograms", version, v.key, w.Assignment, grid, b.keys(samples))
	counted := &sparse.CSR{}
	if blob, ok := b.kept(ctx, key); ok && counted.UnmarshalBinary(blob) == nil {
		if n, m := counted.Dims(); n == len(samples) && m == grid.Len()*v.Len() {
			return counted, nil
		}
	}
	assigner, err := vocab.NewAssigner(v.Vocabulary, w.Assignment)
	if err != nil {
		return nil, err
	}
	// The rows, the matrix of them and its bytes for the cache.
	what := sized("the histograms of "+b.set.Name, len(samples), b.columns())
	release, err := memory.FromContext(ctx).Keep(int64(48*b.stored(samples)), what)
	if err != nil {
		return nil, err
	}
	defer release()
	rooms := sync.Pool{New: func() any { return &vocab.Assigned{} }}
	rows := make([]vocab.Histogram, len(samples))
	if err := b.each(ctx, samples, "counting words", func(at, i int) error {
		return b.describe(ctx, i, func(d *features.Descriptors) error {
			words := rooms.Get().(*vocab.Assigned)
			defer rooms.Put(words)
			err := assigner.Assign(words, d)
			if err == nil {
				rows[at], err = grid.Count(v.Len(), d, words)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", b.set.Names[i], err)
			}
			return nil
		})
	}); err != nil {
		return nil, err
	}
	if counted, err = vocab.Matrix(grid.Len()*v.Len(), rows); err != nil {
		return nil, err
	}
	if blob, err := counted.AppendBinary(nil); err == nil {
		b.keep(key, blob)
	}
	return counted, nil
}

// histograms returns the weighted histograms of the samples, of which the
// first so many are those that words and weights are learned from.
func (b *bag) histograms(ctx context.Context, samples []int, learn int, seed uint64) (*sparse.CSR, *vocabulary, error) {
	v, err := b.learn(ctx, samples[:learn], seed)
	if err != nil {
		return nil, nil, err
	}
	counts, err := b.count(ctx, v, samples)
	if err != nil {
		return nil, nil, err
	}
	weighting := vocab.Weighting{Power: b.words.Power, Norm: b.norm}
	if b.words.IDF {
		first := make([]int, learn)
		for i := range first {
			first[i] = i
		}
		weighting.IDF = vocab.LearnIDF(counts.SelectRows(first))
	}
	x, err := weighting.Apply(counts)
	return x, v, err
}

// keys returns where the cache has the samples' descriptors.
func (b *bag) keys(samples []int) []cache.Key {
	keys := make([]cache.Key, len(samples))
	for at, i := range samples {
		keys[at] = b.described[i]
	}
	return keys
}

// columns returns how many features a histogram has.
func (b *bag) columns() int {
	words := b.words.count()
	if b.given != nil {
		words = b.given.Len()
	}
	return b.words.grid().Len() * words
}

// readVocabulary reads the words of a file, if the memory budget of the context has
// room for it.
func readVocabulary(ctx context.Context, path string) (*vocabulary, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%s: not a file of words", path)
	}
	if err := memory.FromContext(ctx).Check(info.Size(), path); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	v, err := vocab.Load(ctx, bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &vocabulary{v, cache.NewKey("words of a file", text)}, nil
}
