package spec

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Words are the settings of histograms of visual words. The zero value has the settings of the D-SNMF paper (Ambai
// et al. 2011, section 4.1): 200 words, and a histogram in each cell of a 4×4 grid, which makes 3200 features.
//
// A classification learns the words from the training samples of each draw, and a clustering from all samples.
type Words struct {
	Learning
	// Grid is the grid of cells in which words are counted; nil means 4×4.
	Grid vocab.Grid `setting:"grid" default:"4x4" help:"cells of the histograms: 1x1 (whole image), 4x4, or the pyramid 1x1+2x2+4x4"`
	// IDF weighs words by their inverse document frequency in the images from which they are learned.
	IDF bool `setting:"idf" help:"weight words by inverse document frequency"`
	// Learned are the words of a saved model, and replace Learning. It is not part of the file.
	Learned *LearnedWords
}

// LearnedWords are visual words, the cache key of histograms with them, and their IDF weights or nil.
type LearnedWords struct {
	*vocab.Vocabulary
	Key     cache.Key // of histograms with these words
	Weights []float64 // IDF weights, or nil
}

// Learning holds the settings for learning words and for assigning descriptors to them. The zero value has the defaults
// of package vocab.
type Learning struct {
	Count int          `setting:"count,text" default:"200" help:"number of visual words"`
	By    vocab.Method `setting:"by" help:"k-means algorithm: lloyd, or mini-batch (about 5× faster)"`
	// Sample is the largest number of descriptors for learning, and PerImage the largest number of them from one image;
	// 0 means no limit.
	Sample   int `setting:"sample" default:"100000" range:"[1,1e9]" help:"number of randomly drawn descriptors to learn from"`
	PerImage int `setting:"per-image" range:"[1,1e9]" help:"maximum number of drawn descriptors per image (default all)"`
	// From is a file of learned words, or "".
	From string `setting:"from" help:".npz file of saved visual words"`
	vocab.Assignment
}

func (w *Words) decode(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	learning := v.Get("words").Value
	if learning != nil {
		guard.Check(settings.Decode(learning, &w.Learning))
		if from := learning.Get("from"); from.Value != nil {
			failIf(w.From == "", from.Value.Want, "the name of an .npz file")
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

// GridOrDefault returns the grid, 4×4 if it is nil.
func (w *Words) GridOrDefault() vocab.Grid {
	if w.Grid == nil {
		return vocab.Grid{{Rows: 4, Columns: 4}}
	}
	return w.Grid
}

// WordCount returns the number of words.
func (w *Words) WordCount() int { return cmp.Or(w.Count, 200) }

// CountedBy describes all settings of the histograms and their power, but not the descriptors and the seed. It is part
// of the identities of logged trials, so its format must not change.
func (w *Words) CountedBy(power float64) string {
	return fmt.Sprintf("{SIFT:<nil> Count:%d Sample:%d PerImage:%d By:%v Fewer:false From:%s Assignment:{Nearest:%d Sigma:%v Checks:0} Grid:%v IDF:%t Power:%v}",
		w.WordCount(), w.Sample, w.PerImage, w.By, w.From, w.Nearest, w.Sigma, w.GridOrDefault(), w.IDF, power)
}

// String describes the settings of the words.
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
