package licences

import (
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func info(deps ...*debug.Module) *debug.BuildInfo {
	return &debug.BuildInfo{GoVersion: "go1.26.0", Deps: deps}
}

func TestLinked(t *testing.T) {
	known, err := modules()
	if err != nil || len(known) == 0 {
		t.Fatalf("%d modules, %v", len(known), err)
	}
	var deps []*debug.Module
	for _, m := range known {
		deps = append(deps, &debug.Module{Path: m[0], Version: m[1]})
	}
	of := info(deps...)
	of.Settings = []debug.BuildSetting{{Key: "-tags", Value: "opencv,customenv"}}
	all, err := Linked(of)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]Licence{}
	for _, l := range all {
		names[l.Name] = l
		system := l.Version == "of the system"
		if l.ID == "" || l.Version == "" || system != (len(l.Texts) == 0) {
			t.Errorf("%s %s: licence %q with %d texts", l.Name, l.Version, l.ID, len(l.Texts))
		}
		for _, text := range l.Texts {
			if strings.TrimSpace(text.Content) == "" {
				t.Errorf("%s: %s is empty", l.Name, text.File)
			}
		}
	}
	if all[0].Name != Go || all[0].Version != "go1.26.0" {
		t.Errorf("the first is %s %s", all[0].Name, all[0].Version)
	}
	for name, id := range map[string]string{
		Go: "BSD-3-Clause", "github.com/ajstarks/svgo": "CC-BY-4.0", "github.com/golang/freetype": "FTL OR GPL-2.0-or-later",
		"codeberg.org/go-fonts/liberation": "BSD-3-Clause AND OFL-1.1", "OpenCV": "Apache-2.0", "EfficientNet-Lite0 (weights)": "Apache-2.0",
	} {
		if got := names[name].ID; got != id {
			t.Errorf("%s is under %q, want %q", name, got, id)
		}
	}
}

func TestLinkedUnknown(t *testing.T) {
	for _, m := range []*debug.Module{{Path: "example.org/x", Version: "v1.0.0"}, {Path: "github.com/spf13/cobra", Version: "v0.0.1"},
		{Path: "github.com/spf13/cobra", Version: "v1.10.2", Replace: &debug.Module{Path: "example.org/y"}}} {
		all, err := Linked(info(m))
		if err != nil || len(all) != 5 {
			t.Fatalf("%s: %d licences, %v", m.Path, len(all), err)
		}
		i := slices.IndexFunc(all, func(l Licence) bool { return l.Name != Go && !strings.Contains(l.Name, "(") })
		if all[i].ID != "" || len(all[i].Texts) != 0 {
			t.Errorf("%s: got %v", m.Path, all[i])
		}
	}
}
