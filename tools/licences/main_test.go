package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestUpToDate: what is committed is what the generator writes for the modules
// that are linked now. The text of Go is that of the Go at hand.
func TestUpToDate(t *testing.T) {
	dir := t.TempDir()
	if err := generate(filepath.Join("..", ".."), dir); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(contents(t, os.DirFS(dir)), contents(t, os.DirFS(filepath.Join("..", "..", "internal", "licences")))); diff != "" {
		t.Errorf("run go generate ./internal/licences: %s", diff)
	}
}

func contents(t *testing.T, dir fs.FS) map[string]string {
	found := map[string]string{}
	for _, root := range []string{"texts", "modules.csv"} {
		err := fs.WalkDir(dir, root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasPrefix(path, "texts/go/") {
				return err
			}
			content, err := fs.ReadFile(dir, path)
			found[path] = string(content)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return found
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                                        "Apache-2.0",
		"Permission is hereby granted, free of charge,\nto any person obtaining a copy of this software":      "MIT",
		"Redistribution and use in source and binary forms, are\n permitted":                                  "BSD-2-Clause",
		"Redistribution and use in source and binary forms are permitted.\nNeither the name of X may be used": "BSD-3-Clause",
		"Creative Commons Attribution 4.0 International Public License":                                       "CC-BY-4.0",
		"SIL OPEN FONT LICENSE Version 1.1":                                                                   "OFL-1.1",
		"All rights reserved.":                                                                                "",
	} {
		if got := identify("x", text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
