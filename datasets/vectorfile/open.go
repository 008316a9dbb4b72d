package vectorfile

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// Options are the options of Open. The zero value uses the common names of each format.
type Options struct {
	// Features and Labels name the variables of a MATLAB or NPZ file with the n×m vectors and the n labels. For a CSV
	// file, Labels names the column of labels; for an IDX or NPY file, the file of labels. Labels "-" means none.
	Features, Labels string
	// Height and Width are the size of the images in the vectors, if the file does not give it.
	Height, Width int
	// Limit is the most memory in bytes that Open takes; 0 means the free budget of the context.
	Limit int64
	// OnDisk leaves the values of NumPy (in C order, not compressed) and IDX files on disk; Vectors is a *Stored, and the content must
	// be closed. Gzipped values are unpacked to a temporary file. Other formats are errors.
	OnDisk bool
	// Missing keeps the value NaN, and reads an empty cell of a CSV file as NaN. Otherwise both are errors.
	Missing bool
}

const headLength = 1024 // the bytes that identify the format

// Open reads a file of vectors: MATLAB, IDX, NumPy, Parquet, Arrow, SVMlight or CSV. The content decides the format, not the name.
func Open(ctx context.Context, path string, opt Options) (_ *Content, err error) {
	defer guard.Catch(&err)
	f := guard.Must(os.Open(path))
	defer f.Close()
	var head []byte
	guard.Within(func() {
		text, _, err := zipfile.Gunzip(f)
		if err == nil {
			head, err = text.Peek(headLength)
		}
		failIf(len(head) == 0 && err != nil && !errors.Is(err, io.EOF), "%w", err)
		failIf(len(head) == 0, "the file is empty")
		failIf(imagefile.Is(head), "a single image; use the folder of images")
		failIf(startsWith("FEA1")(head), "Feather 1 is not supported; write Feather 2 or Parquet, in Python with pyarrow.feather.write_feather")
	}, "%s", path)
	if opt.OnDisk && !isIDX(head) && !isNPY(head) && !isZip(head) {
		return nil, NotOnDisk(path)
	}
	for _, r := range readers {
		if r.fits(head) {
			return r.read(ctx, path, opt)
		}
	}
	return nil, fmt.Errorf("%s: unknown format; expected MATLAB (saved with -v6 or -v7), IDX, NumPy, Parquet, Arrow, SVMlight or CSV", path)
}

type reader struct {
	fits func(head []byte) bool
	read func(ctx context.Context, path string, opt Options) (*Content, error)
}

// readers are tried in this order.
var readers = []reader{
	{isIDX, pathReader(readIDX)},
	{isNPY, pathReader(readNPY)},
	{isZip, pathReader(readNPZ)},
	{func(head []byte) bool { _, is := sniffMAT(head); return is }, pathReader(readMAT)},
	{isParquet, pathReader(undamaged("Parquet", readParquet))},
	{isArrow, pathReader(undamaged("Arrow", readArrow))},
	{indexedLine().Match, pathReader(readIndexed)},
	{func(head []byte) bool { return bytes.IndexByte(head, 0) < 0 }, pathReader(readCSV)},
}

// Add adds a reader before the CSV reader, and returns a function that removes it. It must be called before Open. fits
// reports whether the reader reads files that begin with head.
func Add(fits func(head []byte) bool, read func(ctx context.Context, path string, opt Options) (*Content, error)) (remove func()) {
	before := readers
	readers = slices.Insert(slices.Clone(readers), len(readers)-1, reader{fits, read})
	return func() { readers = before }
}

// NotOnDisk returns the error for a set that does not support Options.OnDisk.
func NotOnDisk(name string) error {
	return fmt.Errorf("%s: only folders of images, IDX files, .npy files and uncompressed .npz files can be read in batches", name)
}

var isNPY, isZip = startsWith("\x93NUMPY"), startsWith("PK\x03\x04")

func startsWith(magic string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

type input struct {
	io.ReaderAt
	path string
	size int64
	opt  Options
	*budget
	stored *Stored // the matrix that stays in the file
}

// budget is the memory for reading the files of a set. It is reserved before allocation.
type budget struct {
	ctx         context.Context
	limit, left int64
}

func newBudget(ctx context.Context, opt Options) *budget {
	limit := opt.Limit
	if limit <= 0 {
		limit = max(limits.FromContext(ctx).Free(), 0)
	}
	return &budget{ctx, limit, limit}
}

// reserve reserves n bytes for what. It calls guard.Fail if they are too many.
func (b *budget) reserve(n int64, what string) {
	if n < 0 || n > b.left {
		guard.Check(&limits.LimitError{What: what, Need: n, Free: b.left, Limit: b.limit})
	}
	b.left -= n
}

// pathReader returns a reader of paths for a function that reads an open file, which ends with guard.Fail for an error.
func pathReader(read func(in *input) *Content) func(context.Context, string, Options) (*Content, error) {
	return func(ctx context.Context, path string, opt Options) (*Content, error) {
		return readFile(path, opt, newBudget(ctx, opt), read)
	}
}

// readFile opens the file at path for read, which may end with guard.Fail. Its errors name the file.
func readFile[T any](path string, opt Options, b *budget, read func(in *input) T) (out T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		in := &input{f, path, info.Size(), opt, b, nil}
		if err = guard.Try(func() { out = read(in) }); err != nil && in.stored != nil {
			in.stored.Close()
		}
	}
	return out, guard.Wrap(err, "%s", path)
}

// failIf is guard.FailIf.
func failIf(wrong bool, format string, args ...any) { guard.FailIf(wrong, format, args...) }

// section returns a reader of size bytes of the file from off. It fails when the context ends.
func (in *input) section(off, size int64) io.Reader {
	return &stoppable{io.NewSectionReader(in, off, size), in.ctx}
}

// stoppable is a reader that fails when its context ends.
type stoppable struct {
	in  io.Reader
	ctx context.Context
}

func (s *stoppable) Read(p []byte) (int, error) {
	if s.ctx.Err() != nil {
		return 0, context.Cause(s.ctx)
	}
	return s.in.Read(p)
}

// unpacked returns the content of the file, unpacked if it is gzipped, and its largest possible size.
func (in *input) unpacked() (r *bufio.Reader, most int64, packed bool) {
	r, packed, err := zipfile.Gunzip(number.Buffered(in.section(0, in.size), in.size))
	guard.Check(err)
	if most = in.size; packed {
		most *= zipfile.MostDeflate
	}
	return r, most, packed
}

// eachLine calls f for each line of a text file, plain or gzipped. Errors name the line.
func (in *input) eachLine(f func(line []byte)) {
	text, _, _ := in.unpacked()
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, mostVectorLine)
	number := 1
	for ; lines.Scan(); number++ {
		guard.Within(func() { f(lines.Bytes()) }, "line %d", number)
	}
	guard.Check(guard.Wrap(lines.Err(), "line %d", number))
}
