// Package licences holds the licences, with their texts, of the modules, decoders and network weights that are linked into the
// program. The folder texts and the file modules.csv are generated:
//
//	go generate ./internal/licences
package licences

import (
	"cmp"
	"embed"
	"encoding/csv"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/heif"
)

//go:generate go test -C ../../tools ./licences -update

//go:embed modules.csv texts
var files embed.FS

// Go is the name of the standard library in the list.
const Go = "Go standard library"

// Licence is the licence of a part of the program.
type Licence struct {
	Name, Version string // path of a Go module, Go, or name of a library
	ID            string // SPDX licence expression, or "" if unknown
	Texts         []Text // licence and notices; none for system libraries
}

// Text is a file of a licence or notice.
type Text struct{ File, Content string }

// Linked returns the licences of everything that is linked into a program besides its own module, according to its
// build information: first Go, then by name the modules, the decoders, the weights of the built-in network and system libraries. A
// module that is unknown in that version has no licence and no texts.
func Linked(info *debug.BuildInfo) ([]Licence, error) {
	known, err := modules()
	if err != nil {
		return nil, err
	}
	texts, err := textsOf("go")
	if err != nil {
		return nil, err
	}
	linked := []Licence{
		{Go, info.GoVersion, "BSD-3-Clause", texts},
		{"EfficientNet-Lite0 (weights)", "0.1.0", "Apache-2.0", []Text{{"NOTICE", lite0.Notice}, {"LICENSE", lite0.License}}},
		{"libheif, libde265 (WebAssembly)", "1.18.2, 1.0.15", "LGPL-3.0-or-later AND MIT", codecTexts("libheif", "libde265", "gen2brain")},
		{"libavif, libaom (WebAssembly)", "1.1.1, 3.10.0", "BSD-2-Clause AND MIT", codecTexts("libavif", "aom", "gen2brain")},
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		l := Licence{Name: m.Path, Version: m.Version}
		for _, row := range known {
			if row[0] == m.Path && row[1] == m.Version {
				l.ID = row[2]
				if l.Texts, err = textsOf(l.Name); err != nil {
					return nil, err
				}
			}
		}
		linked = append(linked, l)
	}
	for _, s := range info.Settings {
		if s.Key == "-tags" && slices.Contains(strings.Split(s.Value, ","), "opencv") {
			linked = append(linked, Licence{Name: "OpenCV", Version: "of the system", ID: "Apache-2.0"})
		}
	}
	slices.SortStableFunc(linked[1:], func(a, b Licence) int { return strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)) })
	return linked, nil
}

// modules returns the paths, versions and licences of modules.csv.
func modules() ([][]string, error) {
	table, err := files.Open("modules.csv")
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(table).ReadAll()
	return rows[min(1, len(rows)):], err
}

func codecTexts(names ...string) (texts []Text) {
	for _, name := range names {
		content, _ := heif.Codec.ReadFile("codec/LICENSE." + name) // cannot fail: it is embedded
		texts = append(texts, Text{"LICENSE." + name, string(content)})
	}
	return texts
}

func textsOf(module string) ([]Text, error) {
	root := path.Join("texts", module)
	var texts []Text
	err := fs.WalkDir(files, root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := files.ReadFile(name)
		texts = append(texts, Text{strings.TrimSuffix(strings.TrimPrefix(name, root+"/"), ".txt"), string(content)})
		return err
	})
	return texts, err
}

// Write writes licences with their texts. It ignores errors of w, which should record them like a bufio.Writer.
func Write(w io.Writer, all []Licence) {
	line := strings.Repeat("=", 80)
	for _, l := range all {
		fmt.Fprintf(w, "%s\n%s %s\nlicence: %s\n%s\n\n", line, l.Name, l.Version, cmp.Or(l.ID, "unknown"), line)
		if l.ID != "" && len(l.Texts) == 0 {
			fmt.Fprint(w, "A system library that partwise calls but does not include.\n\n")
		}
		for _, t := range l.Texts {
			fmt.Fprintf(w, "%s:\n\n%s\n\n", t.File, strings.TrimRight(t.Content, "\n"))
		}
	}
}
