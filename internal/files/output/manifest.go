package output

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
)

// ManifestFile is the name of the manifest: a JSON line for the command, then one for each file.
const ManifestFile = ".partwise.jsonl"

// Names of other files and folders of this package.
const lockFile, stagingSuffix = ".partwise.lock", ".staging"

const format = 1 // version of the manifest's format

type content struct {
	SHA256 string `json:"sha256,omitempty"` // in hexadecimal
	Size   int64  `json:"size,omitempty"`
}

// manifest lists the files that partwise wrote to a folder, by names with forward slashes.
type manifest struct {
	command string
	data    string
	// files holds, for each file, the contents that partwise wrote or was about to write, the newest last.
	files map[string][]content
	// appended are the files that grow. Their content is not verified, and they are never replaced.
	appended   map[string]bool
	publishing *publication
}

// publication is a set of files to be moved from a staging folder to the folder.
type publication struct {
	staging string
	names   []string
	files   map[string]content
}

// line is a line of the manifest: its head, a file, or the beginning of a publication, whose files follow.
type line struct {
	Format  int    `json:"format,omitempty"`
	Command string `json:"command,omitempty"`
	Version string `json:"version,omitempty"`
	Data    string `json:"data,omitempty"`

	File string `json:"file,omitempty"`
	content
	Appended bool `json:"appended,omitempty"`

	Publishing string   `json:"publishing,omitempty"`
	Replaces   []string `json:"replaces,omitempty"`
}

func newManifest(command string) *manifest {
	return &manifest{command: command, files: map[string][]content{}, appended: map[string]bool{}}
}

func (m *manifest) encode() []byte {
	var text bytes.Buffer
	put := func(l line) {
		b, _ := json.Marshal(l) // cannot fail: strings and numbers only
		text.Write(append(b, '\n'))
	}
	head := line{Format: format, Command: m.command, Data: m.data}
	if info, ok := debug.ReadBuildInfo(); ok {
		head.Version = info.Main.Version
	}
	put(head)
	for _, name := range sortedKeys(m.appended) {
		put(line{File: name, Appended: true})
	}
	for _, name := range sortedKeys(m.files) {
		for _, c := range m.files[name] {
			put(line{File: name, content: c})
		}
	}
	if p := m.publishing; p != nil {
		put(line{Publishing: p.staging, Replaces: p.names})
		for _, name := range sortedKeys(p.files) {
			put(line{File: name, content: p.files[name]})
		}
	}
	return text.Bytes()
}

// readManifest reads the manifest in dir. It returns nil if there is none.
func readManifest(dir string) (*manifest, error) {
	at := filepath.Join(dir, ManifestFile)
	text, err := ReadFile(at)
	if isMissing(err) {
		return nil, nil
	}
	var m *manifest
	if err == nil {
		m, err = decodeManifest(text)
		err = guard.Wrap(err, "%s", at)
	}
	return m, err
}

func decodeManifest(text []byte) (m *manifest, err error) {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	var head line
	if err := Unmarshal(first, &head); err != nil || head.Format == 0 || head.Command == "" {
		return nil, errors.New("line 1: not a list of files written by partwise")
	}
	if head.Format > format {
		return nil, fmt.Errorf("line 1: written by a later version of partwise (%s)", head.Version)
	}
	m = newManifest(head.Command)
	m.data = head.Data
	number := 1
	for text := range bytes.Lines(rest) {
		number++
		var l line
		if err = Unmarshal(text, &l); err == nil {
			err = m.add(l)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
	}
	return m, nil
}

// add adds a line below the head.
func (m *manifest) add(l line) error {
	digits, err := hex.DecodeString(l.SHA256)
	switch {
	case l.Publishing != "" && (m.publishing != nil || !isStaging(l.Publishing)):
		return fmt.Errorf("%q is not a folder of staged files", l.Publishing)
	case l.Publishing != "":
		for _, name := range l.Replaces {
			if !isName(strings.TrimSuffix(name, "/")) {
				return fmt.Errorf("%q is not the name of a file in the folder", name)
			}
		}
		m.publishing = &publication{l.Publishing, l.Replaces, map[string]content{}}
	case !isName(l.File):
		return fmt.Errorf("%q is not the name of a file in the folder", l.File)
	case l.Appended && m.publishing == nil:
		m.appended[l.File] = true
	case err != nil || len(digits) != 32 || l.Size < 0:
		return fmt.Errorf("%s: %q is not a SHA-256 checksum", l.File, l.SHA256)
	case m.publishing != nil:
		m.publishing.files[l.File] = l.content
	default:
		m.files[l.File] = append(m.files[l.File], l.content)
	}
	return nil
}

// Unmarshal decodes JSON into to. Unknown fields and text after the value are errors.
func Unmarshal(text []byte, to any) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	err := in.Decode(to)
	if _, after := in.Token(); err == nil && after != io.EOF {
		err = errors.New("text after the JSON object")
	}
	return err
}

// isName reports whether name is a clean local path that is not one of this package's own files.
func isName(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	own := first == ManifestFile || first == lockFile || isStaging(first) || atomicfile.IsTemporary(first)
	return name != "." && name == path.Clean(name) && filepath.IsLocal(filepath.FromSlash(name)) && !own
}

func isStaging(name string) bool { return atomicfile.IsName(name, stagingSuffix) }

// isIncidental reports whether name is a file that file managers create, which is ignored.
func isIncidental(name string) bool {
	return name == ".DS_Store" || name == "Thumbs.db" || name == "desktop.ini" || strings.HasPrefix(name, "._")
}

// contents returns the contents that partwise wrote, or was about to write, to a file.
func (m *manifest) contents(name string) []content {
	list := m.files[name]
	if m.publishing != nil {
		if c, ok := m.publishing.files[name]; ok {
			list = append(slices.Clip(list), c)
		}
	}
	return list
}

// inNames reports whether file is one of the names, or in one of the folders, whose names end in a slash.
func inNames(file string, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		return file == name || strings.HasSuffix(name, "/") && strings.HasPrefix(file, name)
	})
}

// Written returns the command that wrote the folder dir, and the path or name of its data.
func Written(dir string) (command, data string, err error) {
	m, err := readManifest(dir)
	if err == nil && m == nil {
		err = fmt.Errorf("%s is not a results folder of partwise: it has no %s", dir, ManifestFile)
	}
	if err != nil {
		return "", "", err
	}
	return m.command, m.data, nil
}

// Files returns the names of the files that partwise wrote to the folder dir, or was about to write.
func Files(dir string) []string {
	m, err := readManifest(dir)
	if err != nil || m == nil {
		return nil // Open reports the error
	}
	names := append(sortedKeys(m.files), sortedKeys(m.appended)...)
	if m.publishing != nil {
		names = append(names, m.publishing.names...)
	}
	return names
}

// Resolve returns the absolute path with symbolic links resolved. The last elements need not exist, but a dangling
// link is an error.
func Resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if _, err := os.Lstat(abs); err == nil || !isMissing(err) || filepath.Dir(abs) == abs {
		return filepath.EvalSymlinks(abs)
	}
	parent, err := Resolve(filepath.Dir(abs))
	if err != nil {
		return "", err
	}
	return filepath.Join(parent, filepath.Base(abs)), nil
}

// Inside reports whether path is dir or inside it, with symbolic links resolved. Neither needs to exist.
func Inside(dir, path string) (bool, error) {
	dir, errDir := Resolve(dir)
	at, err := Resolve(path)
	if err := cmp.Or(errDir, err); err != nil {
		return false, err
	}
	folder, folderErr := os.Stat(dir)
	for ; ; at = filepath.Dir(at) {
		// The same folder may have another name, such as in another case or mounted twice.
		info, err := os.Stat(at)
		if at == dir || err == nil && folderErr == nil && os.SameFile(info, folder) {
			return true, nil
		}
		if filepath.Dir(at) == at {
			return false, nil
		}
	}
}

// samePlace reports whether two names of data are equal or refer to the same file. a comes from the manifest in dir:
// it is relative to the working directory or to the parent of results/NAME, and invalid UTF-8 in it was replaced by
// U+FFFD.
func samePlace(a, b, dir string) bool {
	if string([]rune(a)) == string([]rune(b)) {
		return true
	}
	return SameFile(a, b) || SameFile(filepath.Join(dir, "..", "..", a), b)
}

// SameFile reports whether two paths exist and name the same file or folder.
func SameFile(a, b string) bool {
	infoA, errA := os.Stat(a)
	infoB, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(infoA, infoB)
}

// isMissing reports whether an error means that a file does not exist, or that a parent of it is a file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// ReadFile reads a regular file of a results folder, which is not trusted. Other files, such as pipes, are an error.
func ReadFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return os.ReadFile(path)
}

// Sum returns the SHA-256 sum of a regular file, in hexadecimal.
func Sum(path string) (string, error) {
	text, err := ReadFile(path)
	return fmt.Sprintf("%x", sha256.Sum256(text)), err
}

// CheckFile returns an error if path cannot be written or is a folder, and without replace also if it exists.
func CheckFile(path string, replace bool) error {
	switch info, err := os.Lstat(path); {
	case err != nil: // CheckWritable reports other errors
	case info.IsDir():
		return fmt.Errorf("%s cannot be written: it is a folder", path)
	case !replace:
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	return atomicfile.CheckWritable(filepath.Dir(path), path)
}
