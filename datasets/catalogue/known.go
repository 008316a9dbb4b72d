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

	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// Info tells of a known set.
type Info struct {
	Name             string // what Open and Get know the set by
	Title            string
	Samples, Classes int    // in the whole set
	Content          string // what a sample is and how large
	// Citation is the paper to cite, Licence and Home the owners' terms, and How where else to get the set.
	Citation, Licence, Home, How string
	Forms                        []Form // the forms that the set is found in, the preferred one first
}

// Form is one of the forms in which a known set is handed around.
type Form struct {
	From  string     // "mat" for vectors in a MATLAB file, "raw" for what the owners gave out
	Files []Download // what to download, or empty where it cannot be

	// VectorFile is the name of a form that is one file of vectors, and Height and Width the size of its images.
	VectorFile    string `yaml:"vector_file"`
	Height, Width int
	// Else the set is the folder, one of Places or up to maxDepth folders further down, that holds one of Marks.
	Places, Marks []string
	// IDX tells that the folder holds IDX files, not images. Pattern, Pool and Omit say of images where the
	// classes are found, and which are none of the set's. With Looks the pattern is tried on any folder with
	// one of Marks.
	IDX, Pool, Looks bool
	Pattern          string
	Omit             []string
}

// Download is one file to fetch for a known set.
type Download struct {
	// File is its name in the set's folder, and URLs are the addresses that give it, to be tried in turn.
	File  string
	URLs  []string
	Hosts []string // those that the addresses may redirect to; with a sum it may be any, over https
	// SHA256 is the published sum of the file or, where it is gzipped, of its content, and MD5 that of the file
	// where only that is published. Both are empty where none is.
	SHA256, MD5 string
	// MaxBytes is the most that a server may send for the file, and MaxUnpacked the most that may be unpacked
	// from it, well above what both are. 0 stands for 1 and 2 GiB. In sets.yaml they are in MiB.
	MaxBytes    int64 `yaml:"max_mib"`
	MaxUnpacked int64 `yaml:"max_unpacked_mib"`
	// Unpack tells that the file is an archive, and Inner the archive within it that holds the images, if any.
	Unpack bool
	Inner  string
}

const fromMAT, fromRaw = "mat", "raw"

const maxDepth = 3 // how many folders may lie between the place of a set and its images

const defaultMaxBytes, defaultMaxUnpacked = int64(1 << 30), int64(2 << 30)

//go:embed sets.yaml
var setsFile []byte

// known returns the known sets.
var known = sync.OnceValue(func() (sets []Info) {
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

// SetPrefix before a name says that it is a known set's, not a path.
const SetPrefix = "set:"

// Generated is the name of the set that the program makes itself.
const Generated = "generated"

// Known returns the known sets and, at the end, the generated one, which is always there.
func Known() []Info {
	return append(slices.Clone(known()), Info{
		Name: Generated, Title: "Generated objects", Samples: 720, Classes: 20,
		Content: "grey images of 32×32 pixels, generated from a seed", Licence: "free",
	})
}

// Add adds sets, and returns what removes them again. It is called before Open and Get.
func Add(sets ...Info) (remove func()) {
	before := known
	all := slices.Concat(known(), sets)
	known = func() []Info { return all }
	return func() { known = before }
}

// Lookup returns the known set called name, in any case, with or without SetPrefix.
func Lookup(name string) (Info, bool) {
	name = strings.TrimPrefix(name, SetPrefix)
	sets := Known()
	i := slices.IndexFunc(sets, func(s Info) bool { return strings.EqualFold(s.Name, name) })
	if i < 0 {
		return Info{}, false
	}
	return sets[i], true
}

// DataDir returns the folder that known sets are downloaded to by default: that of the environment variable
// PARTWISE_DATA, or else partwise in the user's cache folder.
func DataDir() (string, error) {
	if dir := os.Getenv("PARTWISE_DATA"); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no data folder is set, and the user cache folder is unknown: %w", err)
	}
	return filepath.Join(dir, "partwise"), nil
}

// Find returns the file or folder that the known set called name is read from, or "" for the generated set.
// root is looked through first, and from chooses among the forms; both may be "". The error where there is
// none says how to get it, and is an fs.ErrNotExist.
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

// Find returns the form in which the set is there, and where: see [Find].
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
	where, how := "no data folder is set", cmp.Or(info.How, "see "+info.Home)
	if len(dirs) > 0 {
		where = "searched in " + strings.Join(dirs, ", ")
	}
	var as []string
	for i := range forms {
		if as = append(as, forms[i].String()); len(forms[i].Files) > 0 {
			how = fmt.Sprintf("\"partwise datasets get %s\" downloads it", info.Name)
		}
	}
	return nil, "", notFound(fmt.Sprintf("the set %s was not found: %s, for %s; %s", info.Name, where, strings.Join(as, " or "), how))
}

// notFound is an fs.ErrNotExist with a text of its own.
type notFound string

func (e notFound) Error() string { return string(e) }

// Is tells errors.Is what the error is.
func (e notFound) Is(target error) bool { return target == fs.ErrNotExist }

// forms returns the forms that from asks for: "mat", "raw" or "" for all.
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

// String says what the form looks like on disk.
func (f *Form) String() string {
	if f.VectorFile != "" {
		return f.VectorFile
	}
	places := slices.DeleteFunc(slices.Clone(f.Places), func(p string) bool { return p == "." })
	return fmt.Sprintf("a folder %s with %s", strings.Join(places, " or "), strings.Join(f.Marks, " or "))
}

// find returns where the form is below dir, or "".
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

// FindIn returns the folder that holds one of the marks, dir or one up to depth folders below, or "".
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

// globOne returns the first file below dir that fits one of the patterns and is no part of a download.
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

// Unknown says that nothing is called name, and what may have been meant.
func Unknown(name string) error {
	what := "no known set, file or folder"
	if plain, prefixed := strings.CutPrefix(name, SetPrefix); prefixed {
		name, what = plain, "no known set"
	}
	var names []string
	for _, info := range Known() {
		names = append(names, info.Name)
	}
	return fmt.Errorf("%s is called %q%s (\"partwise datasets\" lists the known sets)", what, name, phrase.Guess(name, names))
}
