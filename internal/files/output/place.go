package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// Resolve returns the absolute path of a file or folder with all symbolic links followed. Parts that do
// not exist stay as they are written. A link to nothing is an error.
func Resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for at := abs; ; {
		info, err := os.Lstat(at)
		switch {
		case err == nil:
			real, err := filepath.EvalSymlinks(at)
			if err != nil && info.Mode()&fs.ModeSymlink != 0 {
				return "", fmt.Errorf("%s: the symbolic link leads nowhere: %w", at, err)
			}
			if err != nil {
				return "", err
			}
			return filepath.Join(real, rest), nil
		case isMissing(err) && filepath.Dir(at) != at:
			rest = filepath.Join(filepath.Base(at), rest)
			at = filepath.Dir(at)
		default:
			return "", err
		}
	}
}

// Inside tells whether path is dir or lies in it, through any links or spellings. Neither needs to exist.
func Inside(dir, path string) (bool, error) {
	dir, err := Resolve(dir)
	if err != nil {
		return false, err
	}
	if path, err = Resolve(path); err != nil {
		return false, err
	}
	folder, folderErr := os.Stat(dir)
	for at := path; ; at = filepath.Dir(at) {
		if at == dir {
			return true, nil
		}
		// The same folder under another name: in capitals, mounted twice.
		if info, err := os.Stat(at); err == nil && folderErr == nil && os.SameFile(info, folder) {
			return true, nil
		}
		if filepath.Dir(at) == at {
			return false, nil
		}
	}
}

// existing returns the longest part of path that is there.
func existing(path string) (at string, info fs.FileInfo, err error) {
	for at = filepath.Clean(path); ; at = filepath.Dir(at) {
		info, err = os.Stat(at)
		if err == nil || !isMissing(err) || filepath.Dir(at) == at {
			return at, info, err
		}
	}
}

// isMissing tells whether an error says that a file does not exist, or that a parent of it is a file.
func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) || isNotFolder(err) }

// checkPlace returns an error if the folder dir cannot be made or written to. It leaves nothing behind.
func checkPlace(dir string) error {
	if _, err := Resolve(dir); err != nil {
		return err
	}
	at, info, err := existing(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir() && at == filepath.Clean(dir):
		return fmt.Errorf("%s is a file, and a folder is to be written there", at)
	case !info.IsDir():
		return fmt.Errorf("%s cannot be written: %s is a file", dir, at)
	}
	return checkWritable(at, dir)
}

// checkWritable returns an error if no file can be made in the folder at, for the sake of dir.
func checkWritable(at, dir string) error {
	if err := atomicfile.Probe(at); err != nil {
		return fmt.Errorf("%s cannot be written: %w", dir, atomicfile.Cause(err))
	}
	return nil
}

// ReadFile reads a regular file of a folder of results. The folder may come from a stranger: pipes and
// endless devices are errors.
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

// CheckFile returns an error if the file path cannot be written: its folder is missing or read-only, a
// folder has its name, or, without replace, a file has it. It leaves nothing behind.
func CheckFile(path string, replace bool) error {
	dir := filepath.Dir(path)
	switch info, err := os.Stat(dir); {
	case err != nil:
		return fmt.Errorf("%s cannot be written: %w", path, err)
	case !info.IsDir():
		return fmt.Errorf("%s cannot be written: %s is a file", path, dir)
	}
	switch info, err := os.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s cannot be written: it is a folder", path)
	case !replace:
		return &fs.PathError{Op: "write", Path: path, Err: fs.ErrExist}
	}
	return checkWritable(dir, path)
}
