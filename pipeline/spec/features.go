package spec

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
	"github.com/seed4492f2cd/partwise/internal/settings/enum"
)

// Features are the settings of the features. The zero value is 32×32 grey pixels of unit length, or vectors unchanged.
type Features struct {
	// Auto chooses by the size of the images, and ignores all fields below: the built-in network for large images, and
	// colours for small ones. It is not part of the file.
	Auto bool
	// Joined are several features side by side. Of the fields below, only SkipBad then counts.
	Joined    []Weighted
	Extractor features.Extractor // makes the features; nil stands for features.Pixels{}
	Words     Words              // how histograms are made of an extractor's descriptors
	// Power is the exponent of the values, or of the counts of words; 0 means 1.
	Power     float64       `setting:"power" default:"1" range:"(0,1]" help:"exponent of the values before normalisation; 0.5 takes square roots"`
	Normalise features.Norm `setting:"normalise" default:"l2" help:"normalisation of each sample: l2 (unit length), l1, max or none"`
	Crop      Crop          `setting:"crop" help:"crop: square (centre), whole, {box: [x0, y0, x1, y1]} or {eyes: landmarks.csv}"`
	// Whiten and Propagate are Ridge and Share of a cluster.Propagation of the normalised features, 0 for none.
	Whiten    float64 `setting:"whiten" range:"(0,1e6]" help:"whiten the features with this ridge; auto is 3 (default none)"`
	Propagate float64 `setting:"propagate" range:"(0,1)" help:"average the features over a graph of nearest neighbours, with this weight of the neighbours; auto is 0.9 (default none)"`
	// Propagated represents new samples of a saved model. It is not part of the file.
	Propagated *cluster.Propagated
	// SkipBad skips unreadable samples. It is not part of the file.
	SkipBad bool
}

// ExtractorOrPixels returns the extractor of features that are not joined.
func (f Features) ExtractorOrPixels() features.Extractor {
	if f.Extractor == nil {
		return features.Pixels{}
	}
	return f.Extractor
}

// OfWords reports whether any of the features are histograms of visual words.
func (f Features) OfWords() bool {
	return slices.ContainsFunc(f.Each(), func(f *Features) bool {
		_, ok := f.ExtractorOrPixels().(features.DescriptorExtractor)
		return ok
	})
}

// OfNetwork reports whether the features are the global features of a network alone.
func (f Features) OfNetwork() bool {
	n, ok := f.ExtractorOrPixels().(features.Network)
	return f.Joined == nil && ok && !n.Places
}

// Cached reports whether the features are worth caching for the next run.
func (f Features) Cached() bool {
	return f.OfWords() || slices.ContainsFunc(f.Each(), func(f *Features) bool { return features.InfoOf(f.ExtractorOrPixels()).Cached })
}

// Transductive reports whether the features of a sample depend on the other samples of its draw.
func (f Features) Transductive() bool { return f.Whiten > 0 || f.Propagate > 0 }

// wordKeys are the keys that decide how words are learned and counted.
var wordKeys = []string{"words", "grid", "idf"}

// DecodeSetting reads an extractor, whose value is its form, its settings or true, with the settings of its rows or
// words: {pixels: 32, normalise: l2, crop: square}, {hog: true}, or {sift: dense, words: 200, grid: 4x4}. A name alone
// stands for the extractor's first form with default settings, and a list joins its features.
func (f *Features) DecodeSetting(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	*f = Features{SkipBad: f.SkipBad}
	list := features.Extractors()
	names := lists.Unique(lists.Map(list, func(i features.Info) string { return i.Name }))
	switch v.Kind {
	case settings.KindMapping:
		for _, field := range v.Fields {
			field.Key.Text = enum.Fold(field.Key.Text, names)
		}
	case settings.KindList:
		return f.decodeList(v)
	default:
		v.Text = enum.Fold(v.Text, names)
		if !slices.Contains(names, v.Text) {
			return v.Want("a feature (%s), its settings, or a list of features", strings.Join(names, ", "))
		}
		none := &settings.Value{Kind: settings.KindMapping, Line: v.Line, Column: v.Column}
		v = &settings.Value{Kind: settings.KindMapping, Line: v.Line, Column: v.Column, Fields: []settings.Field{{Key: v, Value: none}}}
	}
	info, chosen, err := chooseExtractor(v, list)
	guard.Check(err)
	defaults := settings.Names(list[0].Zero)
	isName := func(key string) bool { return slices.Contains(names[1:], key) }
	used := *v
	used.Fields = slices.DeleteFunc(slices.Clone(v.Fields), func(f settings.Field) bool {
		none := f.Key.Text == list[0].Name && f.Value.Kind == settings.KindMapping && len(f.Value.Fields) == 0 // pixels: {}
		off := isName(f.Key.Text) && f.Value.Data == false && !slices.Contains(defaults, f.Key.Text)           // hog: false
		return none || off || f.Value == chosen
	})
	ownKeys, ofWords, commonKeys := settings.Names(info.Zero), []string(nil), []string{"whiten", "propagate", "power", "normalise", "crop"}
	if info.Descriptors() {
		ownKeys, ofWords, commonKeys = nil, wordKeys, commonKeys[:4]
	}
	own, rest := used.Split(ownKeys)
	words, rest := rest.Split(ofWords)
	common, rest := rest.Split(commonKeys)
	if len(rest.Fields) > 0 {
		field := rest.Fields[0]
		switch key := field.Key.Text; {
		case slices.Contains(wordKeys, key):
			return field.Key.Errorf("%s needs a SIFT feature, such as sift: dense", key)
		case isName(key), slices.Contains(defaults, key), key == "crop":
			return field.Key.Errorf("%s is not compatible with %s, which %s", key, info.Name, info.Images)
		case slices.Contains(settings.Names(Weighted{}), key):
			return field.Key.Errorf("%s needs several features, such as [sift, {colour: hsv, %[1]s: 2}]", key)
		}
		keys := append(defaults, "power", "normalise", "crop", "whiten", "propagate")
		return settings.UnknownKey(field.Key, lists.Unique(slices.Concat(keys, names[1:], wordKeys)))
	}
	if chosen != nil {
		form := slices.DeleteFunc(slices.Clone(chosen.Fields), func(f settings.Field) bool { return f.Key.Text == "at" })
		own.Fields = append(form, own.Fields...)
	}
	f.Extractor = guard.Must(settings.New(own, info.Zero))
	guard.Check(f.Words.decode(words))
	for i, auto := range []float64{cluster.DefaultRidge, cluster.DefaultShare} {
		switch v := common.Get(commonKeys[i]).Value; {
		case v == nil:
		case v.Text == autoText:
			v.Text, v.Data = fmt.Sprint(auto), auto
		case v.Text == "none":
			v.Kind = settings.KindNull
		default:
			if _, err := strconv.ParseFloat(v.Text, 64); err != nil {
				return v.Want("a number, auto or none")
			}
		}
	}
	return settings.DecodeFields(common, f)
}

// chooseExtractor returns the extractor in list that a mapping names, and the value at the name, else the first of list
// and nil.
func chooseExtractor(v *settings.Value, list []features.Info) (features.Info, *settings.Value, error) {
	for _, field := range v.Fields {
		var named []features.Info
		var forms []string
		for _, info := range list[1:] {
			if info.Name == field.Key.Text {
				named, forms = append(named, info), append(forms, info.Form)
			}
		}
		if named == nil {
			continue
		}
		at, form := field.Value, field.Value.Text
		if at.Kind == settings.KindMapping {
			if at, form = at.Get("at").Value, forms[0]; at != nil {
				form = at.Text
			}
		} else if forms[0] == "" {
			var chooses bool
			if err := settings.Decode(at, &chooses); err != nil {
				return list[0], nil, err
			}
			if !chooses {
				continue
			}
			form = ""
		}
		if i := slices.IndexFunc(named, func(i features.Info) bool { return strings.EqualFold(i.Form, form) }); i >= 0 {
			return named[i], field.Value, nil
		}
		if slices.Contains(settings.Names(list[0].Zero), field.Key.Text) {
			if _, isBool := field.Value.Data.(bool); isBool {
				continue
			}
			forms = append([]string{"true or false, or " + forms[0]}, forms[1:]...)
		}
		return list[0], nil, at.Want("%s", strings.Join(forms, " or "))
	}
	return list[0], nil, nil
}

// Crop is the part of each image to use: the largest square in the middle, the whole image, a box in pixels (x0, y0,
// x1, y1), or the face around the eyes. Eyes names a CSV file of their places. The zero value is the extractor's
// choice, usually the whole image.
type Crop struct {
	Square bool   // the largest square in the middle
	Whole  bool   // the whole image
	Box    []int  `setting:"box" range:"[-1e6,1e6]" help:"box of the crop in pixels: x0, y0, x1, y1"`
	Eyes   string `setting:"eyes" help:"CSV file of eye positions"`
}

// DecodeSetting reads square, whole, {box: [0, 0, 32, 32]} or {eyes: landmarks.csv}.
func (c *Crop) DecodeSetting(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	*c = Crop{Square: v.Text == "square", Whole: v.Text == "whole"}
	if c.Square || c.Whole {
		return nil
	}
	failIf(v.Kind != settings.KindMapping, v.Want, "square, whole, {box: [x0, y0, x1, y1]} or {eyes: landmarks.csv}")
	guard.Check(settings.DecodeFields(v, c))
	switch b := c.Box; {
	case b == nil:
	case len(b) != 4:
		return v.Get("box").Value.Errorf("expected four numbers [x0, y0, x1, y1]")
	case b[0] < 0 || b[1] < 0 || b[0] >= b[2] || b[1] >= b[3]:
		return v.Get("box").Value.Errorf("the box %v is empty; expected 0 <= x0 < x1 and 0 <= y0 < y1", b)
	}
	return nil
}

// Cropper returns the crop. It reads the file of the eyes' places.
func (c Crop) Cropper() (features.Crop, error) {
	switch {
	case c.Square:
		return features.Square{}, nil
	case c.Whole:
		return features.Whole{}, nil
	case c.Box != nil:
		return features.Box{X0: c.Box[0], Y0: c.Box[1], X1: c.Box[2], Y1: c.Box[3]}, nil
	case c.Eyes != "":
		return features.ReadEyes(c.Eyes)
	}
	return nil, nil
}

// LearnsFromSamples reports whether the features depend on all samples: words that are not in a file, weights by document
// frequency, scales of joined features that are not set, whitening or propagation.
func (f Features) LearnsFromSamples() bool {
	if f.OfWords() && (f.Words.From == "" || f.Words.IDF) || f.Transductive() {
		return true
	}
	return slices.ContainsFunc(f.Joined, func(w Weighted) bool { return w.Scale == 0 || w.Features.LearnsFromSamples() })
}

const tinySide = 64

// Resolve returns the features for a set. Auto resolves to the built-in network if at least half of the images
// are 64 pixels wide and high, else to colours.
func (f Features) Resolve(set *datasets.Set) Features {
	if !f.Auto {
		return f
	}
	tiny := lists.Indices(set.Files, func(file string) bool {
		w, h, err := imagefile.Size(file)
		return err == nil && min(w, h) < tinySide // unreadable files are reported later
	})
	chosen := Features{SkipBad: f.SkipBad, Extractor: features.Network{}}
	if set.Files == nil || set.Masks != nil || 2*len(tiny) > len(set.Files) {
		chosen.Extractor = features.Pixels{Colour: true}
	}
	if set.Missing || set.Weights != nil || set.Masks != nil {
		chosen.Normalise = features.NormNone
	}
	return chosen
}

// Extract computes the features of a set, except visual words.
func (f Features) Extract(ctx context.Context, set *datasets.Set, opt features.Options) (*features.Matrix, error) {
	return extract(ctx, f, set, opt, features.Extract)
}

// InBlocks is Extract for features that are computed on demand.
func (f Features) InBlocks(ctx context.Context, set *datasets.Set, opt features.Options) (*features.Blocks, error) {
	return extract(ctx, f, set, opt, features.InBlocks)
}

func extract[T any](ctx context.Context, f Features, set *datasets.Set, opt features.Options,
	by func(context.Context, *datasets.Set, features.RowExtractor, features.Options) (*T, error)) (*T, error) {
	var err error
	opt.Power, opt.Normalise = f.Power, f.Normalise
	if opt.Crop, err = f.Crop.Cropper(); err != nil {
		return nil, err
	}
	return by(ctx, set, f.ExtractorOrPixels().(features.RowExtractor), opt)
}

// String describes the features in words.
func (f Features) String() string {
	if f.Joined == nil {
		return f.describe(f.ExtractorOrPixels().Label())
	}
	var out []string
	for _, w := range f.Joined {
		text := w.Features.String()
		switch {
		case w.Scale != 0:
			text += fmt.Sprintf(", times %v", w.Scale)
		case cmp.Or(w.Weight, 1) != 1:
			text += fmt.Sprintf(", of weight %v", w.Weight)
		}
		out = append(out, text)
	}
	return strings.Join(out, "; together with ")
}

// TextOf is String for samples of a set with m values.
func (f Features) TextOf(set *datasets.Set, m int) string {
	p, ok := f.ExtractorOrPixels().(features.Pixels)
	if f.Joined != nil || !ok {
		return f.String()
	}
	rows, err := p.Rows(context.Background(), set)
	switch {
	case err != nil:
		return f.String()
	case rows.Height == 0:
		return f.describe(fmt.Sprintf("vectors of %d values", m))
	}
	p.Size, p.Colour = features.Size{Height: rows.Height, Width: rows.Width}, rows.Channels == 3
	return f.describe(p.Label())
}

// describe is String for features that are not joined; out describes their values.
func (f Features) describe(out string) string {
	switch {
	case f.OfWords():
		out += ", " + f.Words.String()
	case f.Crop.Square:
		out += ", the middle square"
	case f.Crop.Whole:
		out += ", the whole"
	case f.Crop.Box != nil:
		out += fmt.Sprintf(", the box %v", f.Crop.Box)
	case f.Crop.Eyes != "":
		out += ", aligned by the eyes"
	}
	if f.Power > 0 && f.Power < 1 {
		out += fmt.Sprintf(", to the power of %v", f.Power)
	}
	out = fmt.Sprintf("%s, normalised by %s", out, f.Normalise)
	if f.Whiten > 0 {
		out += fmt.Sprintf(", whitened with ridge %v", f.Whiten)
	}
	if f.Propagate > 0 {
		out += fmt.Sprintf(", propagated with weight %v", f.Propagate)
	}
	return out
}

// Weighted is one of several joined features.
type Weighted struct {
	Features Features
	// Weight is its weight relative to the others: 2 counts as much as the same feature joined twice. 0 means 1.
	Weight float64 `setting:"weight" default:"1" range:"(0,1e6]" help:"weight of the feature among several"`
	// Scale is the factor of its values if it is known, for instance from an earlier run. 0 chooses the factor that
	// makes the mean squared length of the samples equal to Weight.
	Scale float64 `setting:"scale" default:"from weight" range:"(0,1e100]" help:"fixed scale factor of the values, instead of one derived from weight"`
}

// decodeList reads [{sift: dense, power: 0.5}, {colour: hsv, weight: 2}].
func (f *Features) decodeList(v *settings.Value) (err error) {
	defer guard.Catch(&err)
	failIf(len(v.Items) < 2, v.Errorf, "expected a list of 2 or more features, got %d", len(v.Items))
	for _, item := range v.Items {
		failIf(item.Kind == settings.KindList, item.Want, "a feature")
		counting, own := item.Split(settings.Names(Weighted{}))
		one := Weighted{}
		if item.Kind == settings.KindMapping {
			guard.Check(settings.Decode(counting, &one))
			failIf(one.Weight != 0 && one.Scale != 0,
				counting.Get("weight").Key.Errorf, "weight and scale exclude each other; set one of them")
		}
		guard.Check(one.Features.DecodeSetting(own))
		f.Joined = append(f.Joined, one)
		if err := f.CheckJoined(); err != nil {
			return item.Errorf("%v", err)
		}
	}
	return nil
}

// CheckJoined returns an error for features that cannot be joined.
func (f Features) CheckJoined() (err error) {
	defer guard.Catch(&err)
	guard.FailIf(len(f.Joined) == 0, "no features to join")
	words := 0
	for _, w := range f.Joined {
		if w.Features.OfWords() {
			words++
		}
		guard.FailIf(w.Features.Auto || w.Features.Joined != nil, "joined features must be listed one by one")
		guard.FailIf(w.Features.Transductive(), "joined features cannot be whitened or propagated")
		guard.FailIf(words > 1,
			"only one of the joined features can be visual words; use several patch sizes (bins: [4, 8]) or grids (grid: 1x1+2x2)")
	}
	return nil
}

// Document returns the features in a form that DecodeSetting can read, through settings.Of or JSON. It leaves out
// learned words, which model files hold as arrays.
func (f Features) Document() any {
	if f.Joined != nil {
		list := make([]any, len(f.Joined))
		for i, w := range f.Joined {
			item := w.Features.Document().(map[string]any)
			maps.Copy(item, settings.Encode(w))
			list[i] = item
		}
		return list
	}
	info := features.InfoOf(f.ExtractorOrPixels())
	out := settings.Encode(f)
	switch {
	case f.Crop.Square:
		out["crop"] = "square"
	case f.Crop.Whole:
		out["crop"] = "whole"
	}
	own := settings.Encode(f.ExtractorOrPixels())
	if info.Name == features.Extractors()[0].Name {
		maps.Copy(out, own)
		return out
	}
	if info.Form != "" {
		own["at"] = info.Form
	}
	out[info.Name] = own
	if !info.Descriptors() {
		return out
	}
	learning := map[string]any{}
	for key, value := range settings.Encode(f.Words) {
		switch {
		case slices.Contains(wordKeys, key):
			out[key] = value
		case key != "from":
			learning[key] = value
		}
	}
	if len(learning) > 0 {
		out[wordKeys[0]] = learning
	}
	return out
}

// ReadFeatures reads the JSON of Document.
func ReadFeatures(text json.RawMessage) (f Features, err error) {
	defer guard.Catch(&err)
	guard.Check(readDocument(text, "features", &f))
	for _, one := range f.Each() {
		guard.FailIf(one.Words.From != "", "the features: visual words must be in the model, not in a separate file")
	}
	return f, nil
}

// readDocument reads JSON, which is YAML.
func readDocument(text json.RawMessage, what string, to settings.Decoder) error {
	v, err := document.Parse(text)
	if err == nil {
		err = to.DecodeSetting(v)
	}
	if err != nil {
		return fmt.Errorf("the %s: %w", what, err)
	}
	return nil
}

// Document returns the method in a form that DecodeSetting can read, through settings.Of or JSON.
func (m Method) Document() any {
	out := settings.Encode(m)
	maps.Copy(out, m.Params)
	return out
}

// ReadMethod reads the JSON of Document; empty text gives the zero Method.
func ReadMethod(text json.RawMessage) (m Method, err error) {
	if len(text) > 0 {
		err = readDocument(text, "method", &m)
	}
	return m, err
}

// Each returns the joined features, or the features themselves.
func (f *Features) Each() (list []*Features) {
	if f.Joined == nil {
		return []*Features{f}
	}
	for i := range f.Joined {
		list = append(list, &f.Joined[i].Features)
	}
	return list
}
