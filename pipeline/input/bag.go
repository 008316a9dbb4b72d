package input

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/timing"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/vocab"
)

// bag turns the images of a set into histograms of visual words. It caches descriptors, words and histograms by
// everything that they depend on, and holds only a few images at a time.
type bag struct {
	*features.Described
	in        *Inputs
	extractor features.DescriptorExtractor
	Words     *spec.Words
	power     float64
	norm      features.Norm
	fixed     *spec.LearnedWords // from a model or a file, or nil
}

func newBag(ctx context.Context, in *Inputs, f spec.Features) (b *bag, err error) {
	defer timing.Start(ctx, timing.Describing)()
	by := f.ExtractorOrPixels().(features.DescriptorExtractor)
	b = &bag{in: in, extractor: by, Words: &f.Words, power: f.Power, norm: f.Normalise, fixed: f.Words.Learned}
	if from := f.Words.From; from != "" && b.fixed == nil {
		if b.fixed, err = readVocabulary(ctx, from); err != nil {
			return nil, err
		}
		if dim := b.fixed.Dim(); dim != by.Dim() {
			return nil, fmt.Errorf("%s: words of length %d, but SIFT descriptors have %d", from, dim, by.Dim())
		}
	}
	b.Described, err = features.Describe(ctx, in.Set, by, in.options("describing images"))
	return b, err
}

// fetch returns the blob of a key, if the memory budget allows the blob and its decoded content.
func fetch(ctx context.Context, from features.Cache, key cache.Key) (blob []byte, ok bool) {
	if size, ok := from.SizeOf(key); !ok || memory.FromContext(ctx).Check(2*size, "") != nil {
		return nil, false
	}
	return from.Get(key)
}

// Stored estimates the number of stored values in the histograms of the samples.
func (b *bag) Stored(samples []int) (total float64) {
	columns := float64(b.columns())
	for _, i := range samples {
		// A patch counts in one cell of each division, for each of its words.
		total += min(columns, float64(b.Len(i))*float64(max(len(b.Words.GridOrDefault()), 1)*max(b.Words.Assignment.Nearest, 1)))
	}
	return total
}

// vocabulary returns the words of a file, or learns them from the descriptors of the samples.
func (b *bag) vocabulary(ctx context.Context, samples []int, seed uint64) (_ *spec.LearnedWords, err error) {
	defer guard.Catch(&err)
	if b.fixed != nil {
		return b.fixed, nil
	}
	w := b.Words
	learned := &spec.LearnedWords{Key: cache.NewKey("words", features.CacheVersion, w.WordCount(), w.By, w.Sample, w.PerImage, seed, b.Keys(samples))}
	if blob, ok := fetch(ctx, b.in.store, learned.Key); ok {
		if learned.Vocabulary, err = vocab.Load(ctx, bytes.NewReader(blob), int64(len(blob))); err == nil && learned.Dim() == b.extractor.Dim() && learned.Len() == w.WordCount() {
			return learned, nil
		}
	}
	vectors, dim, err := b.Sample(ctx, samples, seed)
	guard.Check(err)
	training := vocab.Training{Words: w.Count, Method: w.By, Seed: seed, Progress: b.in.progress.Of("learning visual words")}
	learned.Vocabulary = guard.Must(training.Train(ctx, vectors, dim))
	var blob bytes.Buffer
	guard.Check(learned.Save(&blob))
	b.in.store.Put(learned.Key, blob.Bytes())
	return learned, nil
}

// Sample returns the drawn descriptors of the samples from which words are learned, n rows of dim bytes.
func (b *bag) Sample(ctx context.Context, samples []int, seed uint64) (vectors []uint8, dim int, err error) {
	sampler := vocab.Sampler{Total: b.Words.Sample, PerImage: b.Words.PerImage, Seed: seed}
	if err = b.Each(ctx, samples, b.in.progress.Of("sampling descriptors"), func(at int, d *features.Descriptors) error {
		return sampler.Add(b.in.Set.Names[samples[at]], d)
	}); err != nil {
		return nil, 0, err
	}
	vectors, dim = sampler.Sample()
	return vectors, dim, nil
}

func (b *bag) count(ctx context.Context, v *spec.LearnedWords, samples []int) (_ *sparse.CSR, err error) {
	defer guard.Catch(&err)
	w := b.Words
	grid := w.GridOrDefault()
	key := cache.NewKey("histograms", features.CacheVersion, v.Key, w.Assignment, grid, b.Keys(samples))
	counted := &sparse.CSR{}
	if blob, ok := fetch(ctx, b.in.store, key); ok && counted.UnmarshalBinary(blob) == nil {
		if n, m := counted.Dims(); n == len(samples) && m == grid.Len()*v.Len() {
			return counted, nil
		}
	}
	assigner := guard.Must(vocab.NewAssigner(v.Vocabulary, w.Assignment))
	// The memory for the rows, their matrix and its bytes in the cache.
	what := describeSize("the histograms of "+b.in.Set.Name, len(samples), b.columns())
	release := guard.Must(memory.FromContext(ctx).Keep(int64(48*b.Stored(samples)), what))
	defer release()
	rows := make([]vocab.Histogram, len(samples))
	if err := b.Each(ctx, samples, b.in.progress.Of("counting visual words"), func(at int, d *features.Descriptors) error {
		words := &vocab.Assigned{}
		err := assigner.Assign(words, d)
		if err == nil {
			rows[at], err = grid.Count(v.Len(), d, words)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", b.in.Set.Names[samples[at]], err)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	counted = guard.Must(vocab.Matrix(grid.Len()*v.Len(), rows))
	if blob, err := counted.AppendBinary(nil); err == nil {
		b.in.store.Put(key, blob)
	}
	return counted, nil
}

// learn returns the weighted histograms of the samples.
func (b *bag) learn(ctx context.Context, samples []int, learn int, seed uint64) (_ mat.Matrix, _ Learned, err error) {
	defer guard.Catch(&err)
	v := guard.Must(b.vocabulary(ctx, samples[:learn], seed))
	counts := guard.Must(b.count(ctx, v, samples))
	weighting := vocab.Weighting{Power: b.power, Norm: b.norm, IDF: v.Weights}
	if b.Words.IDF && weighting.IDF == nil {
		weighting.IDF = vocab.LearnIDF(counts.SelectRows(matrix.Range(learn)))
	}
	x, err := weighting.Apply(counts)
	return x, Learned{Vocabulary: v.Vocabulary, WordWeights: weighting.IDF}, err
}

func (b *bag) density(samples []int) (isSparse bool, stored float64) {
	return true, b.Stored(samples) / float64(len(samples))
}

// fingerprint is part of the identities of logged trials, so its format must not change.
func (b *bag) fingerprint(w io.Writer, samples []int) {
	fmt.Fprintf(w, "%s %s %x", b.Words.CountedBy(b.power), b.norm, b.Keys(samples))
}

// firstNegative finds nothing, because counts are not negative.
func (b *bag) firstNegative([]int) (at, column int, value float64, found bool) { return }

func (b *bag) columns() int {
	words := b.Words.WordCount()
	if b.fixed != nil {
		words = b.fixed.Len()
	}
	return b.Words.GridOrDefault().Len() * words
}

// readVocabulary reads the words of a file that fits the memory budget of the context.
func readVocabulary(ctx context.Context, path string) (_ *spec.LearnedWords, err error) {
	defer guard.Catch(&err)
	info, err := os.Stat(path)
	if err == nil {
		err = memory.FromContext(ctx).Check(info.Size(), path)
	}
	guard.Check(err)
	text := guard.Must(output.ReadFile(path))
	v, err := vocab.Load(ctx, bytes.NewReader(text), int64(len(text)))
	guard.Check(guard.Wrap(err, "%s", path))
	return &spec.LearnedWords{Vocabulary: v, Key: cache.NewKey("words of a file", text)}, nil
}
