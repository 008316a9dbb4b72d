package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/vocab"
)

// Words says how images become histograms of visual words. Its zero value is
// that of the D-SNMF paper (Ambai et al. 2011, section 4.1): SIFT of patches of
// 16×16 pixels at every 8, 200 words, and a histogram in each cell of a 4×4
// grid, which makes 3200 features.
//
// The words are learned from the images that methods learn from: in a
// classification from each draw's training samples, in a clustering, which has
// no others, from all.
type Words struct {
	// SIFT describes the patches; nil stands for features.DenseSIFT{}.
	SIFT features.DescriptorExtractor
	// Count is how many words are learned, By how, and of how many descriptors
	// at most, in all and of one image; 0 stands for vocab's defaults.
	Count, Sample, PerImage int
	By                      vocab.Method
	// Fewer makes do with fewer words where there are not as many different
	// descriptors. It is not part of the file.
	Fewer bool
	// From is a file of words that were learned before, or "".
	From string
	// Assignment is which words stand for a descriptor.
	Assignment vocab.Assignment
	// Grid is where words are counted; nil stands for 4×4 cells.
	Grid vocab.Grid
	// IDF weighs words by their inverse document frequency, among the images
	// that the words are learned from.
	IDF bool
	// Power is the exponent of the counts; 0 stands for 1.
	Power float64
}

// set reads one of the keys of Features that are about words.
func (w *Words) set(key string, value *settings.Value) error {
	s := value.Text
	var err error
	switch key {
	case "sift":
		return w.setSIFT(value)
	case "words":
		if _, ok := text(value); ok {
			w.Count, err = positive(value)
			return err
		}
		return fields(value, w.setWords(value))
	case "grid":
		if w.Grid, err = vocab.ParseGrid(s); err != nil {
			return value.Errorf("%v", err)
		}
	case "idf":
		if settings.Decode(value, &w.IDF) != nil {
			return value.Errorf("want true or false")
		}
	case "power":
		if err := settings.Decode(value, &w.Power); err != nil || !(w.Power > 0 && w.Power <= 1) {
			return value.Errorf("want an exponent above 0 and up to 1, such as 0.5")
		}
	}
	return nil
}

// setWords returns what reads a key of words: {count: 200, by: mini-batch, …}.
func (w *Words) setWords(node *settings.Value) func(key string, value *settings.Value) error {
	return func(key string, value *settings.Value) error {
		s := value.Text
		var err error
		switch key {
		case "count":
			w.Count, err = positive(value)
		case "by":
			if w.By, err = vocab.ParseMethod(s); err != nil {
				return value.Errorf("%v", err)
			}
		case "sample":
			w.Sample, err = positive(value)
		case "per-image":
			w.PerImage, err = positive(value)
		case "nearest":
			w.Assignment.Nearest, err = positive(value)
		case "checks":
			w.Assignment.Checks, err = positive(value)
		case "sigma":
			w.Assignment.Sigma, err = above0(value)
		case "from":
			if w.From = s; s == "" {
				return value.Errorf("want the name of an .npz file")
			}
			for _, other := range []string{"count", "by", "sample", "per-image"} {
				if at := keyOf(node, other); at != node {
					return at.Errorf("%s does not go with from, whose words are learned already", other)
				}
			}
		default:
			return unknownKey("count, by, sample, per-image, nearest, checks, sigma and from")
		}
		return err
	}
}

// setSIFT reads dense, keypoints, or {at: dense, step: 8, …}.
func (w *Words) setSIFT(node *settings.Value) error {
	at, given := text(node)
	where := node
	for _, f := range node.Fields {
		if f.Key.Text == "at" {
			at, given = text(f.Value)
			where = f.Value
		}
	}
	var dense features.DenseSIFT
	var keypoint features.KeypointSIFT
	var keys map[string]any
	switch {
	case at == "dense" || !given && node.Kind == settings.KindMapping:
		keys = map[string]any{"step": &dense.Step, "bins": &dense.Bins, "root": &dense.Root, "contrast": &dense.Contrast, "pixels": &dense.MaxPixels}
	case at == "keypoints":
		keys = map[string]any{"most": &keypoint.MaxPoints, "contrast": &keypoint.Contrast, "edge": &keypoint.Edge, "sigma": &keypoint.Sigma, "root": &keypoint.Root, "pixels": &keypoint.MaxPixels}
	default:
		return where.Errorf("SIFT is taken at dense patches or at keypoints, not at %q", at)
	}
	if node.Kind == settings.KindMapping {
		if err := fields(node, func(key string, value *settings.Value) error {
			to, known := keys[key]
			switch {
			case key == "at":
				return nil
			case !known:
				return unknownKey(strings.Join(append([]string{"at"}, slices.Sorted(maps.Keys(keys))...), ", "))
			}
			return setNumber(to, value)
		}); err != nil {
			return err
		}
	}
	if at == "keypoints" {
		w.SIFT = keypoint
	} else {
		w.SIFT = dense
	}
	return nil
}

// setNumber reads what is kept in to: a count, a list of counts, a number above
// 0, or whether.
func setNumber(to any, node *settings.Value) (err error) {
	switch to := to.(type) {
	case *int:
		*to, err = positive(node)
	case *[]int:
		list := []*settings.Value{node}
		if node.Kind == settings.KindList {
			list = node.Items
		}
		for _, n := range list {
			x, err := positive(n)
			if err != nil {
				return err
			}
			*to = append(*to, x)
		}
	case *float64:
		*to, err = above0(node)
	case *bool:
		if settings.Decode(node, to) != nil {
			return node.Errorf("want true or false")
		}
	default:
		return errors.New("no such setting")
	}
	return err
}

// sift returns what describes the patches.
func (w *Words) sift() features.DescriptorExtractor {
	if w.SIFT == nil {
		return features.DenseSIFT{}
	}
	return w.SIFT
}

// grid returns where words are counted.
func (w *Words) grid() vocab.Grid {
	if w.Grid == nil {
		return vocab.Grid{{Rows: 4, Cols: 4}}
	}
	return w.Grid
}

// training returns how the words are learned from descriptors of so many bytes.
func (w *Words) training(seed uint64, vectors []uint8, dim int) vocab.Training {
	t := vocab.Training{Words: w.Count, Method: w.By, Seed: seed}
	if w.Fewer {
		different := map[string]bool{}
		for v := range slices.Chunk(vectors, dim) {
			if different[string(v)] = true; len(different) == w.count() {
				break
			}
		}
		t.Words = len(different)
	}
	return t
}

// count returns how many words there are.
func (w *Words) count() int { return cmp.Or(w.Count, 200) }

// describedBy digests what descriptors depend on beside the image.
func (w *Words) describedBy() string { return fmt.Sprintf("%T%+[1]v", w.sift()) }

// countedBy digests what histograms depend on beside descriptors and seed.
func (w *Words) countedBy() string {
	settings := *w
	settings.SIFT, settings.Grid, settings.Count = nil, w.grid(), w.count()
	return fmt.Sprintf("%+v", settings)
}

// String returns the words in words.
func (w *Words) String() string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	add("%s", w.sift().Label())
	if w.From != "" {
		add("words of %s", w.From)
	} else {
		add("%d words by %s", w.count(), w.By)
	}
	if n := w.Assignment.Nearest; n > 1 {
		add("each descriptor shared among %d", n)
	}
	add("counted on %s", w.grid())
	if w.IDF {
		add("weighted by inverse document frequency")
	}
	if w.Power > 0 && w.Power < 1 {
		add("to the power of %v", w.Power)
	}
	return strings.Join(out, ", ")
}
