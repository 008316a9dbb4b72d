package catalogue

import (
	"archive/tar"
	"context"
	"errors"
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
	err = guard.Try(func() {
		root := guard.Must(os.OpenRoot(dir))
		defer root.Close()
		f := guard.Must(os.Open(archive))
		defer f.Close()
		u := &unpacker{ctx: ctx, root: root, limit: limit, left: limit}
		magic := make([]byte, 4)
		switch _, err := f.ReadAt(magic, 0); {
		case err != nil && err != io.EOF:
			guard.Check(err)
		case string(magic) == "PK\x03\x04":
			u.zip(f)
		default:
			u.tar(f)
		}
		guard.FailIf(u.entries == 0, "neither a zip nor a tar archive with files")
	})
	return guard.Wrap(err, "unpack %s into %s", filepath.Base(archive), dir)
}

// unpacker unpacks an archive. Its methods call guard.Fail.
type unpacker struct {
	ctx                context.Context
	root               *os.Root
	limit, left        int64 // the total limit of written bytes, and the rest
	entries, nameBytes int   // so far
}

func (u *unpacker) zip(archive *os.File) {
	for _, f := range guard.Must(zipfile.Open(archive, guard.Must(archive.Stat()).Size())).File {
		u.unpackEntry(f.Name, f.Mode(), func() (io.ReadCloser, error) { return zipfile.OpenEntry(f) })
	}
}

func (u *unpacker) tar(archive io.Reader) {
	unzipped, _, err := zipfile.Gunzip(archive)
	guard.Check(err)
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
		u.unpackEntry(h.Name, mode, func() (io.ReadCloser, error) { return io.NopCloser(t), nil })
	}
	if err != io.EOF {
		guard.Check(err)
	}
	// Reading to the end finds files that are cut off or damaged after the end of the tar archive.
	guard.Must(io.Copy(atomicfile.UntilDone(u.ctx, io.Discard), plain))
}

// unpackEntry unpacks an entry, unless macOS added it.
func (u *unpacker) unpackEntry(name string, mode fs.FileMode, open func() (io.ReadCloser, error)) {
	u.entries += 1 + strings.Count(name, "/")
	u.nameBytes += len(name)
	guard.FailIf(u.entries > maxEntries || u.nameBytes > maxNamesBytes,
		"the archive has more than %d files and folders, or more than %d bytes of names", maxEntries, maxNamesBytes)
	guard.Check(u.ctx.Err())
	guard.Within(func() {
		checkName(name)
		clean := path.Clean(name)
		switch {
		case !mode.IsDir() && !mode.IsRegular():
			guard.Fail("neither a file nor a folder")
		case clean == "__MACOSX" || strings.HasPrefix(clean, "__MACOSX/"):
		case mode.IsDir():
			guard.Check(u.root.MkdirAll(filepath.FromSlash(clean), 0o777))
		default:
			u.writeFile(filepath.FromSlash(clean), open)
		}
	}, "%s", spreadsheet.Quote(name))
}

func (u *unpacker) writeFile(name string, open func() (io.ReadCloser, error)) {
	guard.Check(u.root.MkdirAll(filepath.Dir(name), 0o777))
	content := guard.Must(open())
	defer content.Close()
	f := guard.Must(u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666))
	defer f.Close()
	n, err := io.Copy(atomicfile.UntilDone(u.ctx, f), io.LimitReader(content, u.left+1))
	if u.left -= n; u.left < 0 {
		guard.Fail("the unpacked archive exceeds its size limit")
	}
	guard.Check(errors.Join(err, f.Close()))
}

// checkName refuses names that leave the archive's folder on any system, or cannot be shown or stored. It calls guard.Fail.
func checkName(name string) {
	drive := len(name) > 1 && name[1] == ':'
	guard.FailIf(len(name) > maxNameBytes, "the name has more than %d bytes", maxNameBytes)
	guard.FailIf(!utf8.ValidString(name), "the name is not UTF-8")
	guard.FailIf(drive || strings.Contains(name, `\`) || path.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(path.Clean(name))),
		"the name points outside the archive's folder")
	for _, r := range name {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
			guard.Fail("the name has the control character %U", r)
		}
	}
}
