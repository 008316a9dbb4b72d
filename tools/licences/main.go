// Command licences writes the licences of the modules that any build of partwise links: modules.csv and
// the folder texts of the package internal/licences. It runs in the folder tools and reads the module
// cache. Unlike go-licenses it also finds texts below a module's root, and modules under two licences.
package main

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

func main() {
	if err := generate("..", "../internal/licences"); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

// program is the package whose modules are looked for.
const program = "github.com/seed4492f2cd/partwise/cmd/partwise"

// builds are the settings of the builds that link different modules.
var builds = []struct{ goos, tags string }{
	{"linux", ""}, {"darwin", ""}, {"windows", ""},
	{"linux", "opencv,gocv_specific_modules,gocv_features2d,customenv"},
}

// choices are the expressions of modules whose texts do not say by themselves
// how the licences go together.
var choices = map[string]string{
	// LICENSE leaves the choice; both texts lie in licenses.
	"github.com/golang/freetype": "FTL OR GPL-2.0-or-later",
}

// named are the licences of texts that hold none of the phrases.
var named = map[string]string{
	"go.yaml.in/yaml/v3/LICENSE":                                    "Apache-2.0 AND MIT",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Bogaert-LICENSE":       "LicenseRef-Bogaert",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/Sun-LICENSE":           "SunPro",
	"gonum.org/v1/gonum/THIRD_PARTY_LICENSES/W3C-TestSuite-LICENSE": "LicenseRef-W3C-TestSuite",
}

// phrases tell a licence by its text, the first that fits.
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

// linkedModule is a module and the folders of its packages that are linked.
type linkedModule struct {
	path, version, dir string
	packages           []string
}

// generate writes the files below dir for the program whose go.mod is in the folder module.
func generate(module, dir string) error {
	all, err := linked(module)
	if err != nil {
		return err
	}
	texts := filepath.Join(dir, "texts")
	if err := os.RemoveAll(texts); err != nil {
		return err
	}
	rows := [][]string{{"module", "version", "licence"}}
	for _, m := range all {
		id, err := m.copyTexts(filepath.Join(texts, filepath.FromSlash(m.path)))
		if err != nil {
			return fmt.Errorf("%s %s: %w", m.path, m.version, err)
		}
		rows = append(rows, []string{m.path, m.version, id})
	}
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	root := linkedModule{path: "go", dir: strings.TrimSpace(string(goroot))}
	if _, err := root.copyTexts(filepath.Join(texts, "go")); err != nil {
		return err
	}
	var out bytes.Buffer
	if err := csv.NewWriter(&out).WriteAll(rows); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "modules.csv"), out.Bytes(), 0o666)
}

// linked returns the modules that any of the builds links, by their paths.
func linked(dir string) ([]*linkedModule, error) {
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
		if err != nil {
			return nil, fmt.Errorf("%v: %w", cmd.Args, err)
		}
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
	var all []*linkedModule
	for _, m := range found {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *linkedModule) int { return cmp.Compare(a.path, b.path) })
	return all, nil
}

// copyTexts copies the licences and notices of the module to the folder to,
// with line ends of one kind, and returns the licences' SPDX expression.
func (m *linkedModule) copyTexts(to string) (string, error) {
	names, err := m.texts()
	if err != nil {
		return "", err
	}
	var ids []string
	for _, name := range names {
		content, err := os.ReadFile(filepath.Join(m.dir, name))
		if err != nil {
			return "", err
		}
		content = bytes.ReplaceAll(content, []byte("\r\n"), []byte("\n"))
		if !notLicence.MatchString(filepath.Base(name)) {
			id := identify(m.path+"/"+filepath.ToSlash(name), string(content))
			if id == "" && choices[m.path] == "" {
				return "", fmt.Errorf("%s is of no known licence: name it in the generator", name)
			}
			ids = append(ids, id)
		}
		out := filepath.Join(to, name+".txt")
		if err := errors.Join(os.MkdirAll(filepath.Dir(out), 0o777), os.WriteFile(out, content, 0o666)); err != nil {
			return "", err
		}
	}
	if id := choices[m.path]; id != "" {
		return id, nil
	}
	if len(ids) == 0 {
		return "", errors.New("no licence is found")
	}
	slices.Sort(ids)
	return strings.Join(slices.Compact(ids), " AND "), nil
}

// texts returns the names of the licences and notices in the folder of the
// module, in those of its linked packages and in those between.
func (m *linkedModule) texts() ([]string, error) {
	folders := map[string]bool{".": true}
	for _, p := range m.packages {
		for rel, err := filepath.Rel(m.dir, p); rel != "."; rel = filepath.Dir(rel) {
			if err != nil {
				return nil, err
			}
			folders[rel] = true
		}
	}
	names := map[string]bool{}
	for folder := range folders {
		entries, err := os.ReadDir(filepath.Join(m.dir, folder))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := filepath.Join(folder, e.Name())
			switch {
			case e.Type().IsRegular() && licenceFile.MatchString(e.Name()) && !source.MatchString(e.Name()):
				names[name] = true
			case e.IsDir() && licenceFolder.MatchString(e.Name()):
				err := filepath.WalkDir(filepath.Join(m.dir, name), func(path string, d fs.DirEntry, err error) error {
					if err == nil && d.Type().IsRegular() {
						var rel string
						rel, err = filepath.Rel(m.dir, path)
						names[rel] = true
					}
					return err
				})
				if err != nil {
					return nil, err
				}
			}
		}
	}
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	return sorted, nil
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
