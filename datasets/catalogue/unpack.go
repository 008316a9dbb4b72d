package catalogue

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/spreadsheet"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// Limits of an archive beside the size of its files. They are ten times the needs of the known sets.
const maxNameBytes, maxNamesBytes, maxTarBytes = 1024, 8 << 20, 256 << 20

// maxEntries limits the files and folders of an archive; each file counts its folders again. Tests change it.
var maxEntries = 200_000

// unpack writes at most limit bytes of a .zip, .tar or .tar.gz archive into the folder dir, without overwriting files.
// It refuses links, devices, encrypted files, and names that leave dir or are not printable UTF-8.
func unpack(ctx context.Context, archive, dir string, limit int64) (err error) {
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
	u := &unpacker{ctx: ctx, root: root, limit: limit, left: limit}
	magic := make([]byte, 4)
	switch _, err = f.ReadAt(magic, 0); {
	case err != nil && err != io.EOF:
		return err
	case string(magic) == "PK\x03\x04":
		err = u.zip(f)
	default:
		err = u.tar(f)
	}
	if err == nil && u.entries == 0 {
		err = errors.New("neither a zip nor a tar archive with files")
	}
	return guard.Wrap(err, "unpack %s into %s", filepath.Base(archive), dir)
}

type unpacker struct {
	ctx                context.Context
	root               *os.Root
	limit, left        int64 // the total limit of written bytes, and the rest
	entries, nameBytes int   // so far
}

func (u *unpacker) zip(archive *os.File) error {
	stat, err := archive.Stat()
	if err != nil {
		return err
	}
	z, err := zipfile.Open(archive, stat.Size())
	if err != nil {
		return err
	}
	for _, f := range z.File {
		if err := u.unpackEntry(f.Name, f.Mode(), func() (io.ReadCloser, error) { return zipfile.OpenEntry(f) }); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacker) tar(archive io.Reader) error {
	unzipped, _, err := zipfile.Gunzip(archive)
	if err != nil {
		return err
	}
	plain := io.LimitReader(unzipped, u.limit+maxTarBytes)
	t := tar.NewReader(plain)
	h, err := t.Next()
	for ; err == nil; h, err = t.Next() {
		mode := fs.ModeIrregular
		switch h.Typeflag {
		case tar.TypeXGlobalHeader:
			continue
		case tar.TypeReg:
			mode = 0
		case tar.TypeDir:
			mode = fs.ModeDir
		}
		if err := u.unpackEntry(h.Name, mode, func() (io.ReadCloser, error) { return io.NopCloser(t), nil }); err != nil {
			return err
		}
	}
	if err != io.EOF {
		return err
	}
	// Reading to the end finds files that are cut off or damaged after the end of the tar archive.
	_, err = io.Copy(atomicfile.UntilDone(u.ctx, io.Discard), plain)
	return err
}

// unpackEntry unpacks an entry, unless macOS added it.
func (u *unpacker) unpackEntry(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) error {
	u.entries += 1 + strings.Count(name, "/")
	u.nameBytes += len(name)
	if u.entries > maxEntries || u.nameBytes > maxNamesBytes {
		return fmt.Errorf("the archive has more than %d files and folders, or more than %d bytes of names", maxEntries, maxNamesBytes)
	}
	if err := u.ctx.Err(); err != nil {
		return err
	}
	err := checkName(name)
	clean := path.Clean(name)
	switch {
	case err != nil:
	case !mode.IsDir() && !mode.IsRegular():
		err = errors.New("neither a file nor a folder")
	case clean == "__MACOSX" || strings.HasPrefix(clean, "__MACOSX/"):
	case mode.IsDir():
		err = u.root.MkdirAll(filepath.FromSlash(clean), 0o777)
	default:
		err = u.writeFile(filepath.FromSlash(clean), open)
	}
	return guard.Wrap(err, "%s", spreadsheet.Quote(name))
}

func (u *unpacker) writeFile(name string, open func() (io.ReadCloser, error)) error {
	if err := u.root.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	content, err := open()
	if err != nil {
		return err
	}
	defer content.Close()
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.Copy(atomicfile.UntilDone(u.ctx, f), io.LimitReader(content, u.left+1))
	if u.left -= n; u.left < 0 {
		return errors.New("the unpacked archive exceeds its size limit")
	}
	return errors.Join(err, f.Close())
}

// checkName refuses names that leave the archive's folder on any system, or cannot be shown or stored.
func checkName(name string) error {
	switch drive := len(name) > 1 && name[1] == ':'; {
	case len(name) > maxNameBytes:
		return fmt.Errorf("the name has more than %d bytes", maxNameBytes)
	case !utf8.ValidString(name):
		return errors.New("the name is not UTF-8")
	case drive || strings.Contains(name, `\`) || path.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(path.Clean(name))):
		return errors.New("the name points outside the archive's folder")
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
			return fmt.Errorf("the name has the control character %U", r)
		}
	}
	return nil
}
