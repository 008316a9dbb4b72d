package spec

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/settings/document"
)

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
	type plain Features
	out := settings.Encode(plain(f))
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
	if err := readDocument(text, "features", &f); err != nil {
		return f, err
	}
	for _, one := range f.Each() {
		if one.Words.From != "" {
			return f, errors.New("the features: visual words must be in the model, not in a separate file")
		}
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
	type plain Method
	out := settings.Encode(plain(m))
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
