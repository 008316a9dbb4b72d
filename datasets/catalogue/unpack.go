package catalogue

import (
	"archive/tar"
	"archive/zip"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// What an archive may hold beside the bytes of its files. The sets have less
// than a tenth of each.
const (
	maxEntries    = 100_000
	maxNameBytes  = 1024
	maxNameDepth  = 32
	maxNamesBytes = 8 << 20
	// maxTarBytes bounds what a tar archive holds beside the files: headers,
	// files that are left out, and what follows its end.
	maxTarBytes = 256 << 20
)

// badArchive is an error in the content of an archive, which no other disk and
// no second attempt at unpacking it will mend.
type badArchive struct{ error }

func (e badArchive) Unwrap() error { return e.error }

// A sink takes the folders and files of an archive. Names are relative, clean
// and with slashes, and no two of them are the same file on any system.
type sink interface {
	folder(name string) error
	file(name string) (io.WriteCloser, error)
}

// unpackInto writes the files of an archive, .zip, .tar or .tar.gz by its
// content, into the folder dir. See unpack.
func unpackInto(ctx context.Context, archive, dir string, limit int64) (err error) {
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
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	err = unpack(ctx, f, stat.Size(), rootSink{root}, limit)
	var bad badArchive
	switch {
	case errors.As(err, &bad):
		return fmt.Errorf("unpack %s: %w", filepath.Base(archive), err)
	case err != nil:
		return fmt.Errorf("unpack %s into %s: %w", filepath.Base(archive), dir, err)
	}
	return nil
}

// unpack gives the files of an archive of size bytes to out, at most limit
// bytes of them. It refuses links, devices, sparse and encrypted files, names
// that lead out of the archive's folder, that are not printable UTF-8 or that
// differ only in case or in the form of their characters, and entries of a zip
// that share bytes. Errors in the archive are badArchive.
func unpack(ctx context.Context, archive io.ReaderAt, size int64, out sink, limit int64) error {
	magic := make([]byte, 4)
	if _, err := archive.ReadAt(magic, 0); err != nil && err != io.EOF {
		return err
	}
	u := &unpacker{ctx: ctx, out: out, limit: limit, left: limit, names: map[string]spelt{}}
	if string(magic) == "PK\x03\x04" {
		return u.zip(archive, size)
	}
	return u.tar(io.NewSectionReader(archive, 0, size))
}

// rootSink writes to a folder and nowhere else, and over no file.
type rootSink struct{ *os.Root }

func (s rootSink) folder(name string) error {
	return s.MkdirAll(filepath.FromSlash(name), 0o777)
}

func (s rootSink) file(name string) (io.WriteCloser, error) {
	return s.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

// unpacker unpacks one archive.
type unpacker struct {
	ctx         context.Context
	out         sink
	limit, left int64 // the bytes that may be written in all, and from here on
	entries     int
	nameBytes   int
	names       map[string]spelt // the files and folders, by their keys
	buffer      [32 << 10]byte
}

// spelt is a file or folder as the archive spells it.
type spelt struct {
	spelling string
	isFile   bool
}

func (u *unpacker) zip(archive io.ReaderAt, size int64) error {
	z, err := zipfile.Open(archive, size)
	if err != nil {
		return badArchive{err}
	}
	if len(z.File) > maxEntries {
		return badArchive{errTooManyEntries}
	}
	if err := u.checkZip(z, size); err != nil {
		return badArchive{err}
	}
	for _, f := range z.File {
		at := func(err error) error { return fmt.Errorf("%q: %w", shortName(f.Name), err) }
		if err := u.count(f.Name); err != nil {
			return err
		}
		if f.Mode().IsDir() {
			if err := u.folder(f.Name); err != nil {
				return at(err)
			}
			continue
		}
		content, err := f.Open()
		if err != nil {
			return badArchive{at(err)}
		}
		err = u.file(f.Name, content)
		content.Close()
		if err != nil {
			return at(err)
		}
	}
	return nil
}

// checkZip looks at what a zip says of its entries before any is unpacked.
func (u *unpacker) checkZip(z *zip.Reader, size int64) error {
	type span struct {
		from, to int64
		name     string
	}
	var spans []span
	declared := uint64(0)
	for _, f := range z.File {
		at := func(err error) error { return fmt.Errorf("%q: %w", shortName(f.Name), err) }
		mode := f.Mode()
		switch {
		case f.Flags&zipfile.Encrypted != 0:
			return at(errors.New("the file is encrypted"))
		case !mode.IsDir() && !mode.IsRegular():
			return at(errNoFile)
		case mode.IsDir() || addedByMacOS(path.Clean(f.Name)):
		case f.UncompressedSize64 > uint64(u.limit)-declared:
			return at(errTooLarge)
		default:
			declared += f.UncompressedSize64
		}
		start, err := f.DataOffset()
		if err != nil {
			return at(err)
		}
		if start > size || f.CompressedSize64 > uint64(size-start) {
			return at(errors.New("the file reaches over the end of the archive"))
		}
		spans = append(spans, span{start, start + int64(f.CompressedSize64), f.Name})
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	for i := 1; i < len(spans); i++ {
		if a, b := spans[i-1], spans[i]; b.from < a.to {
			return fmt.Errorf("%q and %q share bytes of the archive", shortName(a.name), shortName(b.name))
		}
	}
	return nil
}

func (u *unpacker) tar(archive io.Reader) error {
	unzipped, _, err := zipfile.Gunzip(archive)
	if err != nil {
		return badArchive{err}
	}
	plain := &markedReader{ctx: u.ctx, r: unzipped, left: u.limit + maxTarBytes}
	t := tar.NewReader(plain)
	for {
		h, err := t.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return marked(u.ctx, err)
		}
		if err := u.count(h.Name); err != nil {
			return err
		}
		switch {
		case h.Typeflag == tar.TypeXGlobalHeader:
			continue
		case isSparse(h):
			err = badArchive{errors.New("a sparse file")}
		case h.Typeflag == tar.TypeDir:
			err = u.folder(h.Name)
		case h.Typeflag == tar.TypeReg:
			err = u.file(h.Name, t)
		default:
			err = badArchive{errNoFile}
		}
		if err != nil {
			return fmt.Errorf("%q: %w", shortName(h.Name), err)
		}
	}
	if u.entries == 0 {
		return badArchive{errors.New("neither a zip nor a tar archive with files")}
	}
	// A file that was cut off or damaged behind the end of the tar archive
	// does not pass for sound.
	_, err = io.Copy(io.Discard, plain)
	return err
}

// isSparse tells whether a file of a tar archive has holes, which cost no bytes
// there and all of them on the disk.
func isSparse(h *tar.Header) bool {
	if h.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range h.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

var (
	errTooLarge       = errors.New("the archive holds more bytes than it may")
	errNoFile         = errors.New("neither a file nor a folder")
	errTooManyEntries = fmt.Errorf("the archive holds more than %d files and folders, or %d bytes of their names", maxEntries, maxNamesBytes)
)

// count counts an entry, whatever it is.
func (u *unpacker) count(name string) error {
	u.entries++
	u.nameBytes += len(name)
	if u.entries > maxEntries || u.nameBytes > maxNamesBytes {
		return badArchive{errTooManyEntries}
	}
	return u.ctx.Err()
}

// place returns the path for the entry called name, or "" where it is one of
// the entries that macOS adds.
func (u *unpacker) place(name string, isFile bool) (string, error) {
	if err := checkName(name); err != nil {
		return "", badArchive{err}
	}
	clean := path.Clean(name)
	if clean == "." && isFile {
		return "", badArchive{errors.New("a file without a name")}
	}
	if addedByMacOS(clean) || clean == "." {
		return "", nil
	}
	if err := u.claim(clean, isFile); err != nil {
		return "", badArchive{err}
	}
	return clean, nil
}

// addedByMacOS tells whether an entry is one that macOS puts into archives
// beside the user's files.
func addedByMacOS(clean string) bool {
	return clean == "__MACOSX" || strings.HasPrefix(clean, "__MACOSX/")
}

// checkName refuses names that lead out of the archive's folder on any system,
// and those that cannot be shown or kept.
func checkName(name string) error {
	if len(name) > maxNameBytes || strings.Count(name, "/") > maxNameDepth {
		return fmt.Errorf("the name has more than %d bytes or %d folders", maxNameBytes, maxNameDepth)
	}
	if !utf8.ValidString(name) {
		return errors.New("the name is not UTF-8")
	}
	for _, r := range name {
		if unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control) {
			return fmt.Errorf("the name holds the control character %U", r)
		}
	}
	drive := len(name) > 1 && name[1] == ':'
	if drive || strings.Contains(name, `\`) || path.IsAbs(name) || !filepath.IsLocal(filepath.FromSlash(path.Clean(name))) {
		return errors.New("the name leads out of the archive's folder")
	}
	return nil
}

// claim notes the file or folder called name and the folders above it. It
// refuses a file that is there already, and names that are different here and
// the same on a system that does not tell case or forms of characters apart.
func (u *unpacker) claim(name string, isFile bool) error {
	key := filename.Key(name)
	for at, to := 0, 0; to < len(name); {
		at, to = nextSlash(key, at), nextSlash(name, to)
		last := to == len(name)
		there, ok := u.names[key[:at]]
		switch {
		case ok && there.spelling != name[:to]:
			return fmt.Errorf("the archive holds %q too, which is the same name on some systems", shortName(there.spelling))
		case ok && (there.isFile || last && isFile):
			return fmt.Errorf("the archive holds %q twice", shortName(name[:to]))
		case !ok && len(u.names) == maxEntries:
			return errTooManyEntries
		}
		u.names[key[:at]] = spelt{name[:to], last && isFile}
	}
	return nil
}

// nextSlash returns where the first slash behind i is in name, or its length.
func nextSlash(name string, i int) int {
	if next := strings.IndexByte(name[i+1:], '/'); next >= 0 {
		return i + 1 + next
	}
	return len(name)
}

// shortName cuts a name of an archive short enough for a message.
func shortName(name string) string {
	const most = 100
	if len(name) > most {
		return name[:most] + "…"
	}
	return name
}

func (u *unpacker) folder(name string) error {
	place, err := u.place(name, false)
	if err != nil || place == "" {
		return err
	}
	return u.out.folder(place)
}

func (u *unpacker) file(name string, content io.Reader) error {
	place, err := u.place(name, true)
	if err != nil || place == "" {
		return err
	}
	if dir := path.Dir(place); dir != "." {
		if err := u.out.folder(dir); err != nil {
			return err
		}
	}
	f, err := u.out.file(place)
	if err != nil {
		return err
	}
	defer f.Close()
	n, err := io.CopyBuffer(writerOnly{f}, &markedReader{ctx: u.ctx, r: content, left: u.left}, u.buffer[:])
	if err != nil {
		return err
	}
	u.left -= n
	return f.Close()
}

// markedReader reads at most left bytes of r, ends with its context, and makes
// all other errors of reading badArchive, so that they can be told from errors
// of writing.
type markedReader struct {
	ctx  context.Context
	r    io.Reader
	left int64
}

func (m *markedReader) Read(p []byte) (int, error) {
	if err := m.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := m.r.Read(p[:min(int64(len(p)), m.left+1)])
	if m.left -= int64(n); m.left < 0 {
		m.left = 0
		return 0, badArchive{errTooLarge}
	}
	if err != nil && err != io.EOF {
		err = marked(m.ctx, err)
	}
	return n, err
}

// marked returns an error of reading an archive as badArchive, unless it is
// that ctx has ended.
func marked(ctx context.Context, err error) error {
	var bad badArchive
	if ctx.Err() != nil || errors.As(err, &bad) {
		return err
	}
	return badArchive{err}
}

// writerOnly hides all methods of a writer but Write, so that io.Copy reads
// through markedReader.
type writerOnly struct{ io.Writer }
