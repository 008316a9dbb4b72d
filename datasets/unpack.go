package datasets

import (
	"archive/tar"
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// maxEntries is how many files and folders an archive may hold.
const maxEntries = 1_000_000

// unpack writes the files of an archive, .zip, .tar or .tar.gz by its content,
// into the folder dir. It refuses archives with links or names that lead out
// of dir, and those that hold more than limit bytes.
func unpack(ctx context.Context, archive, dir string, limit int64) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	f, err := os.Open(archive)
	if err != nil {
		return err
	}
	defer f.Close()
	magic := make([]byte, 4)
	if _, err := f.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	u := &unpacker{ctx: ctx, root: root, left: limit}
	if string(magic) == "PK\x03\x04" {
		err = u.zip(f)
	} else {
		err = u.tar(f)
	}
	if err != nil {
		return fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
	}
	return nil
}

// unpacker writes the files of one archive. The root keeps every write within
// the folder, whatever the names of the files say.
type unpacker struct {
	ctx     context.Context
	root    *os.Root
	left    int64 // bytes that may still be written
	entries int
}

func (u *unpacker) zip(archive *os.File) error {
	stat, err := archive.Stat()
	if err != nil {
		return err
	}
	z, err := zip.NewReader(archive, stat.Size())
	if err != nil {
		return err
	}
	for _, f := range z.File {
		switch mode := f.Mode(); {
		case mode.IsDir():
			err = u.folder(f.Name)
		case mode.IsRegular():
			var content io.ReadCloser
			if content, err = f.Open(); err == nil {
				err = u.file(f.Name, content)
				content.Close()
			}
		default:
			err = errors.New("neither a file nor a folder")
		}
		if err != nil {
			return fmt.Errorf("%q: %w", f.Name, err)
		}
	}
	return nil
}

func (u *unpacker) tar(archive io.Reader) error {
	plain, err := unzipped(archive)
	if err != nil {
		return err
	}
	t := tar.NewReader(plain)
	for {
		h, err := t.Next()
		if err == io.EOF {
			if u.entries == 0 {
				return errors.New("neither a zip nor a tar archive with files")
			}
			return nil
		}
		if err != nil {
			return err
		}
		switch h.Typeflag {
		case tar.TypeXGlobalHeader:
		case tar.TypeDir:
			err = u.folder(h.Name)
		case tar.TypeReg:
			err = u.file(h.Name, t)
		default:
			err = errors.New("neither a file nor a folder")
		}
		if err != nil {
			return fmt.Errorf("%q: %w", h.Name, err)
		}
	}
}

// place returns the path for the entry called name, or "" where it is one of
// the entries that macOS adds. It counts the entry.
func (u *unpacker) place(name string) (string, error) {
	if err := u.ctx.Err(); err != nil {
		return "", err
	}
	if u.entries++; u.entries > maxEntries {
		return "", fmt.Errorf("the archive holds more than %d files", maxEntries)
	}
	clean := path.Clean(name)
	local := filepath.FromSlash(clean)
	if strings.Contains(name, `\`) || path.IsAbs(name) || !filepath.IsLocal(local) {
		return "", errors.New("the name leads out of the archive's folder")
	}
	if clean == "__MACOSX" || strings.HasPrefix(clean, "__MACOSX/") {
		return "", nil
	}
	return local, nil
}

func (u *unpacker) folder(name string) error {
	place, err := u.place(name)
	if err != nil || place == "" {
		return err
	}
	return u.root.MkdirAll(place, 0o777)
}

func (u *unpacker) file(name string, content io.Reader) error {
	place, err := u.place(name)
	if err != nil || place == "" {
		return err
	}
	if err := u.root.MkdirAll(filepath.Dir(place), 0o777); err != nil {
		return err
	}
	f, err := u.root.Create(place)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(f, io.LimitReader(content, u.left+1))
	if err != nil {
		return err
	}
	if u.left -= n; u.left < 0 {
		return errors.New("the archive holds more bytes than it may")
	}
	return f.Close()
}
