package spec

import (
	"errors"

	"github.com/seed4492f2cd/partwise/internal/settings"
)

// Weighted is one of several features that are joined.
type Weighted struct {
	Features Features
	// Weight is how much it counts beside the others: 2 counts as much as the same feature
	// joined twice. 0 stands for 1.
	Weight float64 `setting:"weight" default:"1" range:"(0,1e6]" help:"how much it counts beside the others"`
	// Scale is the factor of its values where it is known, as from an earlier run. 0 stands
	// for the one that makes the mean of the samples' squared lengths equal to Weight.
	Scale float64 `setting:"scale" range:"(0,1e100]" help:"the factor of its values, in place of the one that makes it count as much as its weight says"`
}

// decodeList reads [{sift: dense, power: 0.5}, {colour: hsv, weight: 2}].
func (f *Features) decodeList(v *settings.Value) error {
	if len(v.Items) < 2 {
		return v.Errorf("want 2 features or more in a list, and not %d", len(v.Items))
	}
	for _, item := range v.Items {
		if item.Kind == settings.KindList {
			return item.Want("a feature")
		}
		counting, own := item.Split(settings.Names(Weighted{}))
		one := Weighted{}
		if item.Kind == settings.KindMapping {
			if err := settings.Decode(counting, &one); err != nil {
				return err
			}
			if one.Weight != 0 && one.Scale != 0 {
				return counting.Get("weight").Key.Errorf("weight does not go with scale, which is all that values are multiplied by")
			}
		}
		if err := one.Features.DecodeSetting(own); err != nil {
			return err
		}
		f.Joined = append(f.Joined, one)
		if err := f.CheckJoined(); err != nil {
			return item.Errorf("%v", err)
		}
	}
	return nil
}

// CheckJoined reports features that cannot be joined.
func (f Features) CheckJoined() error {
	if len(f.Joined) == 0 {
		return errors.New("no features are joined")
	}
	words := 0
	for _, w := range f.Joined {
		if w.Features.OfWords() {
			words++
		}
		switch {
		case w.Features.Auto || w.Features.Joined != nil:
			return errors.New("features are joined that are not said one by one")
		case words > 1:
			return errors.New("visual words are among the features twice; one vocabulary can have several sizes of patches (bins: [4, 8]) and grids (grid: 1x1+2x2)")
		}
	}
	return nil
}
