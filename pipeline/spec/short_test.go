package spec

import (
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// flow returns a value in the form of a file.
func flow(v *settings.Value) string {
	var parts []string
	switch v.Kind {
	case settings.KindList:
		for _, item := range v.Items {
			parts = append(parts, flow(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case settings.KindMapping:
		for _, f := range v.Fields {
			parts = append(parts, f.Key.Text+": "+flow(f.Value))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case settings.KindNull:
		return "null"
	}
	return v.Text
}

// TestParseShort: short forms and their equivalents in a file.
func TestParseShort(t *testing.T) {
	for _, test := range []struct{ setting, in, want string }{
		{"methods", "ccf", "ccf"},
		{"methods", "ccf,init=nmf", "{name: ccf, init: nmf}"},
		{"methods", "name=ccf,init=nmf", "{name: ccf, init: nmf}"},
		{"methods", "{name: ccf, init: nmf}", "{name: ccf, init: nmf}"},
		{"methods", "gnmf,lambda=[1,10],as=a,b", "{name: gnmf, lambda: [1, 10], as: a,b}"},
		{"methods", "nmf,init=", "{name: nmf, init: null}"},
		{"data", "yale,from=raw,samples=100", "{set: yale, from: raw, samples: 100}"},
		{"data", "photos,pattern={class}-*", "{set: photos, pattern: {class}-*}"},
		{"data", "photos #1", "photos #1"},
		{"links", "a,b=c", "{a: {}, b: c}"},
		{"links", ",a=b", "{: {}, a: b}"},
		{"scores", "VI,ARI", "[VI, ARI]"},
		{"features", "pixels=32,colour=true", "{pixels: 32, colour: true}"},
		{"features", "hog", "hog"},
		{"features", "sift+colour", "[sift, colour]"},
		{"features", "sift,power=0.5+colour,grid=2x2", "[{sift: {}, power: 0.5}, {colour: {}, grid: 2x2}]"},
		{"features", "sift,grid=1x1+2x2+colour=hsv", "[{sift: {}, grid: 1x1+2x2}, {colour: hsv}]"},
		{"features", "sift=dense,words={from: a+b.npz, nearest: 2}+colour", "[{sift: dense, words: {from: a+b.npz, nearest: 2}}, colour]"},
		{"features", "32,colour=true", "{32: {}, colour: true}"},
		{"features", "[hog, colour+sift]", "[hog, colour+sift]"},
		{"features", "hog+", "hog+"},
		{"features", "+hog", "[null, hog]"},
	} {
		v, err := ParseShort(test.setting, test.in)
		if err != nil || flow(v) != test.want {
			t.Errorf("%s %q becomes %v (%v), want %s", test.setting, test.in, v, err, test.want)
		}
	}
}
