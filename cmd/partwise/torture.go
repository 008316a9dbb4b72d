//go:build torture

package catalogue

import (
	"os"
	"strings"
)

// init adds the sets of PARTWISE_TORTURE_SETS, "one=one.zip:SHA256,two=two.tar.gz:SHA256", for tests.
func init() {
	for entry := range strings.SplitSeq(os.Getenv("PARTWISE_TORTURE_SETS"), ",") {
		name, rest, _ := strings.Cut(entry, "=")
		file, sum, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		Add(Info{
			Name: name, Title: "Archive of a test", Content: "grey images", Licence: "free", Home: "https://localhost/",
			Forms: []Form{{
				From: fromRaw, Places: []string{name, "."}, Marks: []string{"s1/1.pgm"},
				Files: []Download{{File: file, SHA256: sum, Unpack: true, URLs: []string{"https://localhost/" + file}}},
			}},
		})
	}
}
