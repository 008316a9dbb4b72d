// Package catalogue lists the known data sets, finds them on disk and downloads them.
package catalogue

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Info describes a known set.
type Info struct {
	Name             string // the name for Open and Get
	Title            string
	Samples, Classes int    // in the whole set
	Content          string // the kind and size of a sample
	// Citation is the paper to cite, Licence and Home are the owners' terms, and How says where else to get the set.
	Citation, Licence, Home, How string
	Forms                        []Form // the forms of the set, the preferred one first
}

// Form is one of the forms in which a known set is distributed.
type Form struct {
	From  string     // "mat" for vectors in a MATLAB file, "raw" for the owners' files
	Files []Download // the downloads, or empty if there are none

	// VectorFile is the name of a single file of vectors, and Height and Width are the size of its images.
	VectorFile    string `yaml:"vector_file"`
	Height, Width int
	// Otherwise the set is a folder with a file that matches one of Marks: one of Places, or up to 3 folders below it.
	Places, Marks []string
	// IDX is true if the folder holds IDX files. For images, Pattern and Pool find the classes, and Omit lists classes
	// that are not in the set. With Looks, Open tries the pattern on any folder with one of Marks.
	IDX, Pool, Looks bool
	Pattern          string
	Omit             []string
}

// Download is one file to fetch for a known set.
type Download struct {
	// File is its name in the set's folder, and URLs are its addresses, which are tried in order.
	File  string
	URLs  []string
	Hosts []string // allowed hosts of redirects; a file with a sum may come from any host over https
	// SHA256 is the published sum of the file, or of its content if it is gzipped. MD5 is the file's sum if only that
	// is published. Both are empty without a published sum.
	SHA256, MD5 string
	// MaxBytes limits the size of the download, and MaxUnpacked the size of its content; both are well above the true
	// sizes. 0 means 1 GiB and 2 GiB. In sets.yaml they are in MiB.
	MaxBytes    int64 `yaml:"max_mib"`
	MaxUnpacked int64 `yaml:"max_unpacked_mib"`
	// Unpack is true if the file is an archive. Inner is the archive within it that holds the images, if any.
	Unpack bool
	Inner  string
}

const fromMAT, fromRaw = "mat", "raw"

const maxDepth = 3 // the largest number of folders between the place of a set and its images

const defaultMaxBytes, defaultMaxUnpacked = int64(1 << 30), int64(2 << 30)

//go:embed sets.yaml
var setsFile []byte

// knownSets returns the known sets.
var knownSets = sync.OnceValue(func() (sets []Info) {
	in := yaml.NewDecoder(bytes.NewReader(setsFile))
	in.KnownFields(true)
	if err := in.Decode(&sets); err != nil {
		panic(fmt.Errorf("sets.yaml: %w", err))
	}
	for _, set := range sets {
		for _, form := range set.Forms {
			for i := range form.Files {
				form.Files[i].MaxBytes <<= 20
				form.Files[i].MaxUnpacked <<= 20
			}
		}
	}
	return sets
})

// SetPrefix before a name marks the name of a known set, not a path.
const SetPrefix = "set:"

// Generated is the name of the set that the program draws.
const Generated = "generated"

// Known returns the known sets and, last, the generated one, which is always available.
func Known() []Info {
	return append(slices.Clone(knownSets()), Info{
		Name: Generated, Title: "Generated objects", Samples: 720, Classes: 20,
		Content: "grey images of 32×32 pixels, generated from a seed", Licence: "free",
	})
}

// Add adds sets, and returns a function that removes them. It must be called before Open and Get.
func Add(sets ...Info) (remove func()) {
	before := knownSets
	all := slices.Concat(knownSets(), sets)
	knownSets = func() []Info { return all }
	return func() { knownSets = before }
}

// Lookup returns the known set called name. It ignores case and SetPrefix.
func Lookup(name string) (Info, bool) {
	name = strings.TrimPrefix(name, SetPrefix)
	return lists.Find(Known(), func(s Info) bool { return strings.EqualFold(s.Name, name) })
}

// DataDir returns the default folder for downloads: the folder in the environment variable PARTWISE_DATA, else partwise
// in the user's cache folder.
func DataDir() (string, error) { return cache.UserFolder("PARTWISE_DATA", "partwise") }

// Find returns the file or folder of the known set called name, or "" for the generated set. It searches root first.
// from selects a form, "mat" or "raw". Both may be "". If nothing is found, the error says how to get the set, and
// wraps fs.ErrNotExist.
func Find(name, root, from string) (string, error) {
	info, ok := Lookup(name)
	if !ok {
		return "", Unknown(name)
	}
	if info.Name == Generated {
		return "", nil
	}
	_, path, err := info.Find(root, from)
	return path, err
}

// Find returns the form of the set on disk, and its path: see [Find].
func (info *Info) Find(root, from string) (*Form, string, error) {
	forms, err := info.forms(from)
	if err != nil {
		return nil, "", err
	}
	dirs := []string{root, os.Getenv("PARTWISE_DATA")}
	if cache, err := os.UserCacheDir(); err == nil {
		dirs = append(dirs, filepath.Join(cache, "partwise"))
	}
	dirs = slices.Compact(slices.DeleteFunc(dirs, func(dir string) bool { return dir == "" }))
	for _, dir := range dirs {
		for i := range forms {
			if path := forms[i].find(dir); path != "" {
				return &forms[i], path, nil
			}
		}
	}
	where, how := ": no data folder is set", cmp.Or(info.How, "see "+info.Home)
	if len(dirs) > 0 {
		where = " in " + strings.Join(dirs, " or ")
	}
	var as []string
	for i := range forms {
		if as = append(as, forms[i].String()); len(forms[i].Files) > 0 {
			how = fmt.Sprintf("\"partwise datasets get %s\" downloads it", info.Name)
		}
	}
	return nil, "", notFound(fmt.Sprintf("the set %s was not found%s; %s (expected %s)", info.Name, where, how, strings.Join(as, " or ")))
}

// notFound is an fs.ErrNotExist with its own message.
type notFound string

func (e notFound) Error() string { return string(e) }

// Is implements the interface of errors.Is.
func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// forms returns the forms that from names: "mat", "raw", or "" for all.
func (info *Info) forms(from string) ([]Form, error) {
	if from == "" {
		return info.Forms, nil
	}
	var names []string
	for i, f := range info.Forms {
		if names = append(names, f.From); f.From == from {
			return info.Forms[i : i+1], nil
		}
	}
	return nil, fmt.Errorf("the set %s has no form %q, only %s", info.Name, from, strings.Join(names, " or "))
}

// String describes the form on disk.
func (f *Form) String() string {
	if f.VectorFile != "" {
		return f.VectorFile
	}
	places := slices.DeleteFunc(slices.Clone(f.Places), func(p string) bool { return p == "." })
	return fmt.Sprintf("a folder %s with %s", strings.Join(places, " or "), strings.Join(f.Marks, " or "))
}

// find returns the path of the form below dir, or "".
func (f *Form) find(dir string) string {
	if f.VectorFile != "" {
		return globOne(dir, f.VectorFile, path.Join("*", f.VectorFile))
	}
	for _, place := range f.Places {
		depth := maxDepth
		if place == "." {
			depth = 0
		}
		if found := f.FindIn(filepath.Join(dir, place), depth); found != "" {
			return found
		}
	}
	return ""
}

// FindIn returns the folder with one of the marks: dir, or one up to depth folders below it, or "".
func (f *Form) FindIn(dir string, depth int) string {
	for below := range depth + 1 {
		for _, mark := range f.Marks {
			if found := globOne(dir, strings.Repeat("*/", below)+mark); found != "" {
				for range strings.Count(mark, "/") + 1 {
					found = filepath.Dir(found)
				}
				return found
			}
		}
	}
	return ""
}

// globOne returns the first file below dir that matches one of the patterns and is not part of a download.
func globOne(dir string, patterns ...string) string {
	for _, p := range patterns {
		found, _ := fs.Glob(os.DirFS(dir), p)
		for _, f := range found {
			if !slices.Contains(strings.Split(f, "/"), workName) {
				return filepath.Join(dir, filepath.FromSlash(f))
			}
		}
	}
	return ""
}

// Unknown returns the error for an unknown name, with similar names.
func Unknown(name string) error {
	what := "no known set, file or folder"
	if plain, prefixed := strings.CutPrefix(name, SetPrefix); prefixed {
		name, what = plain, "no known set"
	}
	names := lists.Map(Known(), func(info Info) string { return info.Name })
	return fmt.Errorf("%s is called %q%s (\"partwise datasets\" lists the known sets)", what, name, phrase.Guess(name, names))
}
