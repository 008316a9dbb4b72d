package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Words says how the descriptors of images become histograms of visual words. Its zero
// value is that of the D-SNMF paper (Ambai et al. 2011, section 4.1): 200 words, and a
// histogram in each cell of a 4×4 grid, which makes 3200 features.
//
// The words are learned from the images that methods learn from: in a classification from each draw's
// training samples, in a clustering, which has no others, from all.
type Words struct {
	Learning
	// Grid is where words are counted; nil stands for 4×4 cells.
	Grid vocab.Grid `setting:"grid" default:"4x4" help:"cells of the histograms: 1x1 (whole image), 4x4, or the pyramid 1x1+2x2+4x4"`
	// IDF weighs words by their inverse document frequency, among the images that the words are learned from.
	IDF bool `setting:"idf" help:"weight words by inverse document frequency"`
	// Learned are those of a saved model, in place of all that says how they are learned. It
	// is not part of the file.
	Learned *LearnedWords
}

// LearnedWords are visual words, the key of what is counted by them in the cache, and the weights
// that IDF found, or nil.
type LearnedWords struct {
	*vocab.Vocabulary
	Key     cache.Key
	Weights []float64
}

// Learning says how words are learned and which of them stand for a descriptor. The
// zero value has vocab's defaults.
type Learning struct {
	Count int          `setting:"count,text" default:"200" help:"number of visual words"`
	By    vocab.Method `setting:"by" help:"k-means algorithm: lloyd, or mini-batch (about 5× faster)"`
	// Sample is of how many descriptors they are learned at most, and PerImage how many
	// of these come from one image; 0 sets no bound.
	Sample   int `setting:"sample" default:"100000" range:"[1,1e9]" help:"number of randomly drawn descriptors to learn from"`
	PerImage int `setting:"per-image" range:"[1,1e9]" help:"maximum number of drawn descriptors per image (default all)"`
	// From is a file of words that were learned before, or "".
	From string `setting:"from" help:".npz file of saved visual words"`
	vocab.Assignment
	// Fewer makes do with fewer words where there are not as many different
	// descriptors. It is not part of the file.
	Fewer bool
}

// decode reads the keys of features that are about words.
func (w *Words) decode(v *settings.Value) error {
	learning := v.Get("words").Value
	if learning != nil {
		if err := settings.Decode(learning, &w.Learning); err != nil {
			return err
		}
		if from := learning.Get("from"); from.Value != nil {
			if w.From == "" {
				return from.Value.Want("the name of an .npz file")
			}
			for _, key := range []string{"count", "by", "sample", "per-image"} {
				if other := learning.Get(key); other.Key != nil {
					return other.Key.Errorf("%s has no effect on the saved words of from; remove one of them", key)
				}
			}
		}
	}
	_, others := v.Split(wordKeys[:1])
	return settings.Decode(others, w)
}

// GridOrDefault returns where words are counted.
func (w *Words) GridOrDefault() vocab.Grid {
	if w.Grid == nil {
		return vocab.Grid{{Rows: 4, Columns: 4}}
	}
	return w.Grid
}

// Training returns how the words are learned from descriptors of dim bytes each.
func (w *Words) Training(seed uint64, vectors []uint8, dim int) vocab.Training {
	t := vocab.Training{Words: w.Count, Method: w.By, Seed: seed}
	if w.Fewer {
		different := map[string]bool{}
		for v := range slices.Chunk(vectors, dim) {
			if different[string(v)] = true; len(different) == w.WordCount() {
				break
			}
		}
		t.Words = len(different)
	}
	return t
}

// WordCount returns how many words there are.
func (w *Words) WordCount() int { return cmp.Or(w.Count, 200) }

// CountedBy digests what histograms of some power depend on beside descriptors and seed.
// The identities of logged trials hold it, so its form stays.
func (w *Words) CountedBy(power float64) string {
	return fmt.Sprintf("{SIFT:<nil> Count:%d Sample:%d PerImage:%d By:%v Fewer:%t From:%s Assignment:%+v Grid:%v IDF:%t Power:%v}",
		w.WordCount(), w.Sample, w.PerImage, w.By, w.Fewer, w.From, w.Assignment, w.GridOrDefault(), w.IDF, power)
}

// String returns the words in words.
func (w *Words) String() string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if w.From != "" {
		add("words of %s", w.From)
	} else {
		add("%d words by %s", w.WordCount(), w.By)
	}
	if n := w.Assignment.Nearest; n > 1 {
		add("each descriptor shared among %d", n)
	}
	add("counted on %s", w.GridOrDefault())
	if w.IDF {
		add("weighted by inverse document frequency")
	}
	return strings.Join(out, ", ")
}
