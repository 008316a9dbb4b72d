//go:build torture

package main

import (
	"os"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
)

// init adds the sets of PARTWISE_TORTURE_SETS, "one=one.zip:SHA256,two=two.tar.gz:SHA256", for tests. It is in this
// package so that only this package is compiled again with the tag.
func init() {
	for entry := range strings.SplitSeq(os.Getenv("PARTWISE_TORTURE_SETS"), ",") {
		name, rest, _ := strings.Cut(entry, "=")
		file, sum, ok := strings.Cut(rest, ":")
		if !ok {
			continue
		}
		catalogue.Add(catalogue.Info{
			Name: name, Title: "Archive of a test", Content: "grey images", Licence: "free", Home: "https://localhost/",
			Forms: []catalogue.Form{{
				From: "raw", Places: []string{name, "."}, Marks: []string{"s1/1.pgm"},
				Files: []catalogue.Download{{File: file, SHA256: sum, Unpack: true, URLs: []string{"https://localhost/" + file}}},
			}},
		})
	}
}
