package main

import (
	"strings"
	"testing"
)

func TestLicences(t *testing.T) {
	list := must(t, "licences")
	texts := must(t, "licences", "--text")
	for _, want := range []string{"Go standard library", "github.com/spf13/cobra", "github.com/ajstarks/svgo", "CC-BY-4.0", "FTL OR GPL-2.0-or-later", "OFL-1.1"} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not listed", want)
		}
	}
	for _, want := range []string{"The FreeType Project LICENSE", "SIL OPEN FONT LICENSE", "Creative Commons Attribution 4.0", "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the texts do not hold %q", want)
		}
	}
	if one := must(t, "licences", "SVGO"); !strings.Contains(one, "Creative Commons") || strings.Contains(one, "cobra") {
		t.Errorf("licences SVGO printed %.200q", one)
	}
	if code, _, stderr := partwise("licences", "none-such"); code != exitUsage || !strings.Contains(stderr, `called "none-such"`) {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
}
