package output

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// Resolve returns the absolute path without symbolic links, of parts that exist. A link to nothing is an error.
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

// Inside tells whether path is dir or lies in it, through any links or spellings. Neither needs to exist.
func Inside(dir, path string) (bool, error) {
	dir, errDir := Resolve(dir)
	at, err := Resolve(path)
	if err := cmp.Or(errDir, err); err != nil {
		return false, err
	}
	folder, folderErr := os.Stat(dir)
	for ; ; at = filepath.Dir(at) {
		// The same folder may have another name: in capitals, mounted twice.
		info, err := os.Stat(at)
		if at == dir || err == nil && folderErr == nil && os.SameFile(info, folder) {
			return true, nil
		}
		if filepath.Dir(at) == at {
			return false, nil
		}
	}
}

// samePlace tells whether two names of data are equal or lead to the same file. a comes from the
// manifest in dir: it is relative to the working directory or to the folder of results/NAME, and bytes
// that are not UTF-8 are U+FFFD in it.
func samePlace(a, b, dir string) bool {
	if string([]rune(a)) == string([]rune(b)) {
		return true
	}
	info, err := os.Stat(b)
	if err != nil {
		return false
	}
	for _, at := range []string{a, filepath.Join(dir, "..", "..", a)} {
		if infoA, err := os.Stat(at); err == nil && os.SameFile(infoA, info) {
			return true
		}
	}
	return false
}

// isMissing tells whether an error says that a file does not exist, or that a parent of it is a file.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// checkWritable returns an error if no file can be made in the folder at, for the sake of path.
func checkWritable(at, path string) error {
	if err := atomicfile.Probe(at); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, atomicfile.Cause(err))
	}
	return nil
}

// ReadFile reads a regular file of a folder of results, which may come from a stranger: a pipe is an error.
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

// CheckFile returns an error if path cannot be written, is a folder or, without replace, a file.
func CheckFile(path string, replace bool) error {
	switch info, err := os.Lstat(path); {
	case err != nil: // the folder tells the rest
	case info.IsDir():
		return fmt.Errorf("%s cannot be written: it is a folder", path)
	case !replace:
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	return checkWritable(filepath.Dir(path), path)
}
