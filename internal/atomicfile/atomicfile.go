// Package atomicfile writes files that are never half there. The content goes
// to a temporary file in the same folder, is flushed to the disk, and takes the
// name of the file in one step. After a crash or on a full disk the file holds
// what it held before or all of the new content.
package atomicfile

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// The names of temporary files: a killed process leaves one behind, and
// IsTemporary tells it from a file of the user's.
const (
	temporaryPrefix = ".partwise-"
	temporarySuffix = ".tmp"
	randomDigits    = 16
)

// IsTemporary tells whether a file of this name is a temporary file of this
// package.
func IsTemporary(name string) bool {
	digits, ok := strings.CutPrefix(name, temporaryPrefix)
	if !ok {
		return false
	}
	digits, ok = strings.CutSuffix(digits, temporarySuffix)
	raw, err := hex.DecodeString(digits)
	return ok && err == nil && len(raw) == randomDigits/2
}

// Write writes the file path with the given content, in place of what the file
// held before. Errors name the path.
func Write(path string, content []byte) error {
	return WriteFunc(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// WriteFunc writes the file path with what write writes. If write returns an
// error, that error is returned and the file stays as it was.
func WriteFunc(path string, write func(io.Writer) error) (err error) {
	f, err := createTemporary(filepath.Dir(path))
	if err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: cause(err)}
	}
	defer func() {
		if err != nil {
			f.Close() // a second time at worst, which does no harm
			os.Remove(f.Name())
		}
	}()
	buffered := bufio.NewWriterSize(f, 1<<16)
	if err := write(buffered); err != nil {
		return atPath(err, f.Name(), path)
	}
	for _, step := range []func() error{buffered.Flush, f.Sync, f.Close} {
		if err := step(); err != nil {
			return &fs.PathError{Op: "write", Path: path, Err: cause(err)}
		}
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return &fs.PathError{Op: "write", Path: path, Err: cause(err)}
	}
	return nil
}

// createTemporary creates a new file in dir with the permissions that the
// process gives to new files.
func createTemporary(dir string) (*os.File, error) {
	for {
		var random [randomDigits / 2]byte
		rand.Read(random[:]) // never fails
		name := filepath.Join(dir, temporaryPrefix+hex.EncodeToString(random[:])+temporarySuffix)
		f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// cause returns the error of the operating system without the name of the
// temporary file.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return link.Err
	}
	return err
}

// atPath returns err with the path of the file in place of the temporary one's.
func atPath(err error, temporary, path string) error {
	var at *fs.PathError
	if errors.As(err, &at) && at.Path == temporary {
		return &fs.PathError{Op: "write", Path: path, Err: at.Err}
	}
	return err
}
