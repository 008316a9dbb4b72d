package datasets

import (
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
)

// validate returns an error for conflicting options.
func (opt *OpenOptions) validate() error {
	set := map[string]bool{"no-classes": opt.NoClasses, "truth": opt.Truth != "", "pattern": opt.Pattern != "", "pool": opt.Pool, "labels": opt.Labels != ""}
	for _, pair := range [][2]string{{"no-classes", "truth"}, {"no-classes", "pattern"}, {"no-classes", "pool"}, {"truth", "pattern"}, {"labels", "pattern"}} {
		if set[pair[0]] && set[pair[1]] {
			return fmt.Errorf("both %s and %s are set; use one of them", pair[0], pair[1])
		}
	}
	return nil
}

func (opt *OpenOptions) definesClasses() bool {
	return opt.Pattern != "" || opt.Labels != "" || opt.Truth != ""
}

// Folder returns the set of the images in the folder dir and the folders below it. It recognises images by content.
// Folders below dir are the classes, unless at least half have a name like a date or a camera's (2019-05-12 Trip,
// 100CANON): see Set.TimeFolders. Samples and classes are in natural order, s2 before s10.
//
// LeftOut counts files that are not images, and hidden files, whose names begin with a dot. A file with an image's
// extension stays in the set, and reading it fails if it is not an image. Folder returns an error if there is no image,
// if the pattern does not match one of them, and, unless Pool is set, if two class folders have the same name.
func Folder(ctx context.Context, dir string, opt OpenOptions) (set *Set, err error) {
	err = guard.Try(func() {
		guard.Check(opt.validate())
		set = folder(ctx, dir, opt)
	})
	return set, guard.Wrap(err, "folder %s", dir)
}

// folder is Folder with valid options. It calls guard.Fail, as its methods do.
func folder(ctx context.Context, dir string, opt OpenOptions) *Set {
	found := guard.Must(findImages(ctx, dir, []string{opt.Labels, opt.Truth}, mostFiles, opt.SkipBad))
	names := found.images
	s := &Set{
		Name: naming.ReadableName(filepath.Base(absolute(dir))), Names: naming.Readable(names), Files: make([]string, len(names)),
		LeftOut: found.others, Bad: found.bad,
	}
	test, inParts := make([]bool, len(names)), true
	for i, name := range names {
		s.Files[i] = filepath.Join(dir, filepath.FromSlash(name))
		part, _, _ := strings.Cut(name, "/")
		test[i] = strings.EqualFold(part, "test")
		inParts = inParts && (test[i] || strings.EqualFold(part, "train"))
	}
	if inParts {
		s.Test = bothParts(test)
	}
	s.setClasses(make([]string, len(names)))
	switch {
	case opt.Labels != "" || opt.Truth != "":
		s.readGivenClasses(&opt)
	case opt.NoClasses:
	case opt.Pattern != "":
		s.classesByPattern(opt.Pattern)
	case slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "/") }):
		if !opt.Pool {
			s.TimeFolders, s.Folders = timeFolders(names)
		}
		if s.TimeFolders == nil {
			s.Folders = 0
			s.classesByFolder(opt.Pool)
		}
	}
	return s
}

// mostFiles limits the files and folders below a folder, because links to folders can multiply them.
const mostFiles = 10_000_000

type folderWalk struct {
	ctx          context.Context
	dir          string
	about        []fs.FileInfo // files about the images, such as labels, which are ignored
	count, limit int
	skipBad      bool

	images []string // paths below dir with forward slashes, in natural order
	others leftOutList
	bad    []BadFile // unreadable files, with skipBad
}

// findImages returns up to most images below dir, and the other files except those in about.
func findImages(ctx context.Context, dir string, about []string, most int, skipBad bool) (w *folderWalk, err error) {
	defer guard.Catch(&err)
	info := guard.Must(os.Stat(dir))
	guard.FailIf(!info.IsDir(), "not a folder")
	w = &folderWalk{ctx: ctx, dir: dir, limit: most, skipBad: skipBad}
	for _, file := range about {
		if info, err := os.Stat(file); err == nil { // reading a missing file fails later
			w.about = append(w.about, info)
		}
	}
	w.folder("", []fs.FileInfo{info})
	switch {
	case len(w.images) > 0:
	case len(w.bad) > 0:
		guard.Fail("no usable image: %s; the first: %s", CountKinds(w.bad), w.bad[0].Reason)
	case w.others == nil:
		guard.Fail("no files")
	default:
		guard.Fail("no images, only %s", strings.Join(lists.Map(w.others, LeftOut.String), " and "))
	}
	return w, nil
}

// folder searches a folder below the folders above. A link to one of these would be a cycle.
func (w *folderWalk) folder(below string, above []fs.FileInfo) {
	entries, err := os.ReadDir(filepath.Join(w.dir, filepath.FromSlash(below)))
	if err != nil {
		w.skip(below, err)
		return
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return naming.CompareNatural(a.Name(), b.Name()) })
	stems := map[string]bool{} // of images that are not raw
	for _, entry := range entries {
		if name := entry.Name(); imagefile.HasExtension(name) && !imagefile.IsRaw(name) && !entry.IsDir() {
			stems[imagefile.Stem(name)] = true
		}
	}
	for _, entry := range entries {
		guard.Check(w.ctx.Err())
		name := path.Join(below, entry.Name())
		if w.count++; w.count > w.limit {
			guard.Fail("more than %d files and folders, at %s; linked folders count each time", w.limit, name)
		}
		if imagefile.IsRaw(name) && stems[imagefile.Stem(entry.Name())] {
			w.others.add(Raw, name)
		} else {
			w.addEntry(name, above)
		}
	}
}

func (w *folderWalk) addEntry(name string, above []fs.FileInfo) {
	file := filepath.Join(w.dir, filepath.FromSlash(name))
	info, err := os.Stat(file)
	isSame := func(other fs.FileInfo) bool { return os.SameFile(other, info) }
	isImage := imagefile.HasExtension(file) // also a broken link, which fails when it is read
	switch {
	case strings.HasPrefix(path.Base(name), "."):
		w.others.add(Hidden, name)
		return
	case err != nil:
	case info.IsDir() && slices.ContainsFunc(above, isSame):
		w.skip(name, imagefile.NewError(imagefile.KindCircle, "%s is a circular link to a parent folder", file))
		return
	case info.IsDir():
		w.folder(name, append(above, info))
		return
	case slices.ContainsFunc(w.about, isSame):
		return
	case !info.Mode().IsRegular():
		isImage = false
	case !isImage:
		if isImage, err = imagefile.IsFile(file); err != nil {
			w.skip(name, err)
			return
		}
	}
	switch {
	case isImage:
		w.images = append(w.images, name)
	case imagefile.IsVideo(name):
		w.others.add(Video, name)
	case imagefile.IsSidecar(name):
		w.others.add(Sidecar, name)
	default:
		w.others.add(NotImage, name)
	}
}

// skip lists an unreadable file, or fails with its error.
func (w *folderWalk) skip(name string, err error) {
	if !w.skipBad || name == "" {
		guard.Check(err)
	}
	w.bad = append(w.bad, BadFile{naming.ReadableName(name), imagefile.KindOfFile(err), err.Error()})
}

// bothParts returns test, nil unless it has both training and test samples.
func bothParts(test []bool) []bool {
	if !slices.Contains(test, true) || !slices.Contains(test, false) {
		return nil
	}
	return test
}

func (s *Set) classesByPattern(text string) {
	p := guard.Must(parsePattern(text))
	classes := make([]string, s.Len())
	var wrong []string
	for i, name := range s.Names {
		if classes[i] = p.class(name); classes[i] == "" {
			wrong = append(wrong, name)
		}
	}
	switch {
	case len(wrong) == s.Len():
		guard.Fail("%w %q matches no name of the %s, such as %s", errPattern, text, phrase.Count(s.Len(), "image", "images"), wrong[0])
	case len(wrong) > 0:
		guard.Fail("%s: %w %q does not match this name and %d others of %d", wrong[0], errPattern, text, len(wrong)-1, s.Len())
	}
	s.setClasses(classes)
}

func (s *Set) classesByFolder(pool bool) {
	classes := make([]string, s.Len())
	first := map[string]string{} // the first folder of each class, ignoring case
	className := func(folder string) string { return cmp.Or(strings.TrimSpace(path.Base(folder)), path.Base(folder)) }
	for i, name := range s.Names {
		folder := path.Dir(name)
		if folder == "." {
			continue // beside the class folders
		}
		key := strings.ToLower(className(folder))
		other := cmp.Or(first[key], folder)
		guard.FailIf(other != folder && !pool, "the folders %q and %q have the same class name; pool merges them", other, folder)
		first[key], classes[i] = other, className(other)
	}
	s.setClasses(classes)
	s.FolderClasses = true
}

type pattern struct {
	text string
	expr *regexp.Regexp
	bare bool // the extension is not matched
}

const classMark, numberMark = "{class}", "{number}"

func parsePattern(text string) (*pattern, error) {
	before, after, found := strings.Cut(text, classMark)
	expr := strings.NewReplacer(regexp.QuoteMeta(numberMark), "[0-9]+", regexp.QuoteMeta("*"), ".*")
	compiled, err := regexp.Compile(`(?s)^` + expr.Replace(regexp.QuoteMeta(before)) + `([^/]+?)` + expr.Replace(regexp.QuoteMeta(after)) + `$`)
	switch {
	case !found:
		err = fmt.Errorf("it has no %s", classMark)
	case strings.Contains(after, classMark):
		err = fmt.Errorf("it has more than one %s", classMark)
	case strings.HasSuffix(before, "*") || strings.HasPrefix(after, "*"):
		err = fmt.Errorf("* next to %s makes the class ambiguous; put a character between them", classMark)
	}
	return &pattern{text, compiled, !strings.Contains(path.Base(text), ".")}, guard.Wrap(err, "pattern %q", text)
}

// class returns the class in the name of a sample, without surrounding blanks, or "".
func (p *pattern) class(name string) string {
	if !strings.Contains(p.text, "/") {
		name = path.Base(name)
	}
	if p.bare {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	if m := p.expr.FindStringSubmatch(name); m != nil {
		return strings.TrimSpace(m[1])
	}
	return ""
}

var errPattern = errors.New("the pattern") // in the error of a name that a pattern does not match

// The parts of patterns of names.
const (
	year       = `(19|20)[0-9]{2}`
	month      = `(0?[1-9]|1[0-2])`
	day        = `(0?[1-9]|[12][0-9]|3[01])`
	monthName  = `(jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sep(t(ember)?)?|oct(ober)?|nov(ember)?|dec(ember)?)`
	divided    = `[-_. ]`
	andMore    = `([-_., ].*)?$`
	shotNumber = `[-_ ]?[0-9]{3,}`
)

var (
	// dateName matches beginnings such as 2019, 2019-05, 2019-05-12 Trip, 20190512, 12.05.2019, May 2019.
	dateName = lazyregexp.New(`(?i)^(` + strings.Join([]string{
		year + `(` + divided + month + `(` + divided + day + `)?)?`, year + `(0[1-9]|1[0-2])(0[1-9]|[12][0-9]|3[01])?`,
		day + divided + month + divided + year, month + divided + year, monthName + divided + `*` + year, year + divided + monthName,
	}, `|`) + `)` + andMore)
	// dcfName matches names that cameras give, such as 100CANON, and also numbers (JEITA CP-3461).
	dcfName = lazyregexp.New(`^[1-9][0-9]{2}[A-Z0-9_]{5}$`)
	// cameraName matches other names of cameras and phones: IMG_1000, Camera Roll.
	cameraName = lazyregexp.New(`(?i)^(img|dscn?|dscf|pxl|mvi|vid|gopr)` + shotNumber + andMore +
		`|^(dcim|camera ?roll|camera uploads?|my photo stream|photo stream|screenshots?|screen shots?|saved pictures|recents|downloads?` +
		`|whatsapp( images)?|telegram( images)?|instagram|snapchat|viber( images)?|messenger|signal)$|^(?-i:Camera)$`)
	// partOfDate matches a month or a day in a folder named by a year.
	partOfDate = lazyregexp.New(`(?i)^([0-9]{1,2}|` + monthName + `)` + andMore)
)

// timeFolders returns the folders of the images that seem to be named by dates, cameras or phones, if they are at least
// half of all, and the number of folders. Folders that contain all images do not count.
func timeFolders(names []string) (found []string, of int) {
	folders := slices.DeleteFunc(lists.Map(names, path.Dir), func(folder string) bool { return folder == "." })
	slices.SortFunc(folders, naming.CompareNatural)
	folders = slices.Compact(folders)
	common := 0 // the number of folders that contain all images
	if len(folders) > 0 {
		first, last := strings.Split(folders[0], "/"), strings.Split(folders[len(folders)-1], "/")
		for common < min(len(first), len(last)) && first[common] == last[common] {
			common++
		}
	}
	for _, folder := range folders {
		parts := strings.Split(folder, "/")
		last := len(parts) - 1
		looks := func(name string) bool {
			name = strings.TrimSpace(name)
			return dateName().MatchString(name) || cameraName().MatchString(name) || dcfName().MatchString(name) && naming.Digits(name) < len(name)
		}
		if slices.ContainsFunc(parts[min(common, last):], looks) || partOfDate().MatchString(parts[last]) && slices.ContainsFunc(parts, dateName().MatchString) {
			found = append(found, folder)
		}
	}
	if 2*len(found) < len(folders) {
		return nil, 0
	}
	return found, len(folders)
}

// LeftOut counts the files or samples that are left out of a set for one reason.
type LeftOut struct {
	Reason Reason
	Count  int // the number of files or samples
	// Names holds the first few: paths below the set's folder, or classes. It is empty for Unlabelled.
	Names []string
}

// Reason is the reason why something was left out.
type Reason string

// The reasons. The content of hidden folders, and of folders beside IDX files, is not counted.
const (
	NotImage   Reason = "not an image"
	Raw        Reason = "raw" // a camera's raw image beside an image of the same name
	Video      Reason = "video"
	Sidecar    Reason = "sidecar"     // a file about an image, such as .xmp
	Hidden     Reason = "hidden"      // the name begins with a dot
	OtherClass Reason = "other class" // images in folders that are not classes of a known set
	Unlabelled Reason = "unlabelled"  // samples without a known class, which Largest leaves out
	NotIDX     Reason = "not IDX"     // beside the IDX files of a set
)

// reasonNames names one file and several files that are left out.
var reasonNames = map[Reason][2]string{
	NotImage: {"file that is not an image", "files that are not images"},
	Raw:      {"raw image beside an image of the same name", "raw images beside images of the same name"},
	Video:    {"video", "videos"},
	Sidecar:  {"sidecar", "sidecars"},
	Hidden:   {"hidden file or folder", "hidden files or folders"},
	NotIDX:   {"file or folder that is not IDX", "files or folders that are not IDX"},
}

const leftOutNames = 3 // the most names in a LeftOut

// String describes the count, as in "2 files that are not images (a.txt, b.txt)".
func (l LeftOut) String() string {
	names := strings.Join(l.Names, ", ")
	switch l.Reason {
	case OtherClass:
		return fmt.Sprintf("%s of the folder %s, which is not a class of the set", phrase.Count(l.Count, "image", "images"), names)
	case Unlabelled:
		return phrase.Count(l.Count, "sample", "samples") + " of unknown class"
	}
	if l.Count > len(l.Names) {
		names += ", …"
	}
	of := reasonNames[l.Reason]
	return fmt.Sprintf("%s (%s)", phrase.Count(l.Count, of[0], of[1]), names)
}

// leftOutList counts files and samples by the reason why they are left out.
type leftOutList []LeftOut

// add counts one file or class.
func (l *leftOutList) add(reason Reason, name string) {
	at := slices.IndexFunc(*l, func(of LeftOut) bool { return of.Reason == reason })
	if at < 0 {
		at = len(*l)
		*l = append(*l, LeftOut{Reason: reason})
	}
	of := &(*l)[at]
	if of.Count++; len(of.Names) < leftOutNames {
		of.Names = append(of.Names, name)
	}
}

// pluralKinds holds the plural of kinds, if it differs from the kind.
var pluralKinds = map[imagefile.Kind]string{
	imagefile.KindNoImage:    "not images",
	imagefile.KindBrokenLink: "broken links", imagefile.KindCircle: "circular links",
}

// BadFile is a file or folder that is not used, or, with imagefile.KindUsed, used in part.
type BadFile struct {
	Name   string // its path below the folder of images
	Kind   imagefile.Kind
	Reason string // in words
}

// CountKinds describes the number of files of each kind, the largest first.
func CountKinds(bad []BadFile) string {
	count := map[imagefile.Kind]int{}
	for _, b := range bad {
		count[b.Kind]++
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b imagefile.Kind) int { return cmp.Or(count[b]-count[a], cmp.Compare(a, b)) })
	return strings.Join(lists.Map(kinds, func(k imagefile.Kind) string {
		return phrase.Count(count[k], string(k), cmp.Or(pluralKinds[k], string(k)))
	}), ", ")
}

// WriteBadFiles writes a CSV file of the files, with the columns file, kind and reason.
func WriteBadFiles(w io.Writer, bad []BadFile) error {
	rows := [][]string{{"file", "kind", "reason"}}
	for _, b := range bad {
		rows = append(rows, []string{spreadsheet.Cell(b.Name), string(b.Kind), spreadsheet.Cell(b.Reason)})
	}
	return csv.NewWriter(w).WriteAll(rows)
}
