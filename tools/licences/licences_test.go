// Package licences checks that internal/licences has the licences of all modules that any build of partwise links:
// modules.csv and the folder texts. It reads the module cache. With -update it writes them, as go generate
// ./internal/licences does. Unlike go-licenses, it also finds texts below a module's root, and modules under two
// licences.
package licences

import (
	"bytes"
	"encoding/csv"
	"flag"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the licences that are missing or not up to date")

// program is the package whose modules are listed.
const program = "github.com/seed4492f2cd/partwise/cmd/partwise"

// builds are the settings of builds that link different modules.
var builds = []struct{ goos, tags string }{
	{"linux", ""}, {"darwin", ""}, {"windows", ""},
	{"linux", "opencv,gocv_specific_modules,gocv_features2d,customenv"},
}

// choices are the SPDX expressions of modules whose texts do not say how their licences combine.
var choices = map[string]string{
	// LICENSE leaves the choice; both texts are in licenses.
	"github.com/golang/freetype": "FTL OR GPL-2.0-or-later",
}

// named are the licences of texts without a known phrase.
var named = map[string]string{
	"go.yaml.in/yaml/v3/LICENSE":                                    "Apache-2.0 AND MIT",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Bogaert-LICENSE":       "LicenseRef-Bogaert",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Sun-LICENSE":           "SunPro",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/W3C-TestSuite-LICENSE": "LicenseRef-W3C-TestSuite",
}

// phrases identify a licence by its text; the first match counts.
var phrases = []struct{ id, pattern string }{
	{"Apache-2.0", `apache license,? version 2\.0`},
	{"MIT", `permission is hereby granted, free of charge, to any person obtaining a copy of this software`},
	{"BSD-3-Clause", `redistribution and use in source and binary forms.*(neither the name|names of its contributors may not)`},
	{"BSD-2-Clause", `redistribution and use in source and binary forms`},
	{"OFL-1.1", `sil open font license version 1\.1`},
	{"CC-BY-4.0", `creative commons attribution 4\.0 international public license`},
	{"BSL-1.0", `boost software license - version 1\.0`},
}

var (
	licenceFile   = regexp.MustCompile(`(?i)^(.*licen[cs]e.*|copying.*|notice.*|patents.*|authors.*)$`)
	licenceFolder = regexp.MustCompile(`(?i)^(licen[cs]es|third_party_licenses)$`)
	notLicence    = regexp.MustCompile(`(?i)^(patents|authors|notice|license-link)`)
	source        = regexp.MustCompile(`\.(go|s|c|h|py|sh)$`)
	space         = regexp.MustCompile(`\s+`)
)

// linkedModule is a module with the folders of its linked packages.
type linkedModule struct {
	path, version, dir string
	packages           []string
}

// TestUpToDate: the committed files match the linked modules. The text of Go comes from the installed Go.
func TestUpToDate(t *testing.T) {
	var table bytes.Buffer
	rows, want := csv.NewWriter(&table), map[string]string{}
	must(t, rows.Write([]string{"module", "version", "licence"}))
	all := linked(t, filepath.Join("..", ".."))
	for _, path := range slices.Sorted(maps.Keys(all)) {
		m := all[path]
		must(t, rows.Write([]string{path, m.version, m.licences(t, want)}))
	}
	rows.Flush()
	want["modules.csv"] = table.String()
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	must(t, err)
	(&linkedModule{path: "go", dir: strings.TrimSpace(string(goroot))}).licences(t, want)

	dir := filepath.Join("..", "..", "internal", "licences")
	if *update {
		must(t, os.RemoveAll(filepath.Join(dir, "texts")))
		for name, content := range want {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
			must(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666))
		}
	}
	got := map[string]string{}
	for _, root := range []string{"texts", "modules.csv"} {
		must(t, fs.WalkDir(os.DirFS(dir), root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			content, err := os.ReadFile(filepath.Join(dir, path))
			got[path] = string(content)
			return err
		}))
	}
	for _, files := range []map[string]string{want, got} {
		maps.DeleteFunc(files, func(path, _ string) bool { return strings.HasPrefix(path, "texts/go/") })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("run go generate ./internal/licences: %s", diff)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// linked returns the modules that any build of the program in dir links, by path.
func linked(t *testing.T, dir string) map[string]*linkedModule {
	found := map[string]*linkedModule{}
	for _, b := range builds {
		cmd := exec.Command("go", "list", "-deps", "-tags", b.tags,
			"-f", "{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}\t{{$.Dir}}{{end}}{{end}}", program)
		cgo := "0"
		if b.tags != "" {
			cgo = "1"
		}
		cmd.Env = append(os.Environ(), "GOOS="+b.goos, "GOARCH=amd64", "CGO_ENABLED="+cgo, "GOFLAGS=")
		cmd.Dir, cmd.Stderr = dir, os.Stderr
		out, err := cmd.Output()
		must(t, err)
		for line := range strings.Lines(string(out)) {
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if len(fields) != 4 {
				continue
			}
			m := found[fields[0]]
			if m == nil {
				m = &linkedModule{path: fields[0], version: fields[1], dir: fields[2]}
				found[m.path] = m
			}
			m.packages = append(m.packages, fields[3])
		}
	}
	return found
}

// licences adds the licences and notices of the module to texts, with normalised line ends, and returns the SPDX
// expression of the licences.
func (m *linkedModule) licences(t *testing.T, texts map[string]string) string {
	ids := map[string]bool{}
	for _, name := range m.files(t) {
		content, err := os.ReadFile(filepath.Join(m.dir, name))
		must(t, err)
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
		if name = filepath.ToSlash(name); !notLicence.MatchString(filepath.Base(name)) {
			id := identify(m.path+"/"+name, string(content))
			if id == "" && choices[m.path] == "" {
				t.Fatalf("%s %s: %s is of no known licence: name it in this test", m.path, m.version, name)
			}
			ids[id] = true
		}
		texts["texts/"+m.path+"/"+name+".txt"] = string(content)
	}
	switch {
	case choices[m.path] != "":
		return choices[m.path]
	case len(ids) == 0:
		t.Fatalf("%s %s: no licence is found", m.path, m.version)
	}
	return strings.Join(slices.Sorted(maps.Keys(ids)), " AND ")
}

// files returns the names of licences and notices in the folder of the module, in the folders of its linked packages
// and between them.
func (m *linkedModule) files(t *testing.T) []string {
	folders, names := map[string]bool{".": true}, map[string]bool{}
	for _, p := range m.packages {
		rel, err := filepath.Rel(m.dir, p)
		must(t, err)
		for ; rel != "."; rel = filepath.Dir(rel) {
			folders[rel] = true
		}
	}
	for folder := range folders {
		entries, err := os.ReadDir(filepath.Join(m.dir, folder))
		must(t, err)
		for _, e := range entries {
			name := filepath.Join(folder, e.Name())
			switch {
			case e.Type().IsRegular() && licenceFile.MatchString(e.Name()) && !source.MatchString(e.Name()):
				names[name] = true
			case e.IsDir() && licenceFolder.MatchString(e.Name()):
				must(t, fs.WalkDir(os.DirFS(m.dir), filepath.ToSlash(name), func(path string, d fs.DirEntry, err error) error {
					if err == nil && d.Type().IsRegular() {
						names[path] = true
					}
					return err
				}))
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// identify returns the SPDX identifier of a text, or "".
func identify(name, content string) string {
	if id := named[name]; id != "" {
		return id
	}
	plain := space.ReplaceAllString(strings.ToLower(content), " ")
	for _, p := range phrases {
		if regexp.MustCompile(p.pattern).MatchString(plain) {
			return p.id
		}
	}
	return ""
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
