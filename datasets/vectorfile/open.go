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
	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// Options says what to read from a file of vectors. Its zero value takes names that are common in the format.
type Options struct {
	// Features and Labels name the variables of a MATLAB or NPZ file that hold the n×m vectors and the n
	// labels. In a CSV file Labels names the column of the labels, beside an IDX or NPY file the file of the
	// labels. Labels "-" says that there are none.
	Features, Labels string
	// Height and Width are the size of the images that the vectors hold, where the file does not tell.
	Height, Width int
	// Limit is the most bytes of memory that reading takes; 0 stands for what is free of the context's budget.
	Limit int64
	// OnDisk leaves the values of NumPy (in C order) and IDX files where they are, and is an error of others:
	// Vectors is a *Stored, and the set is to be closed. What is gzipped is unpacked to a temporary file.
	OnDisk bool
}

const headLength = 1024 // how much of a file tells its kind

// Open reads a file of vectors: MATLAB, IDX, NumPy, SVMlight or CSV. Its content tells, not its name.
func Open(ctx context.Context, path string, opt Options) (*Content, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var head []byte
	text, _, err := zipfile.Gunzip(f)
	if err == nil {
		head, err = text.Peek(headLength)
	}
	switch {
	case len(head) == 0 && err != nil && !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("%s: %w", path, err)
	case len(head) == 0:
		return nil, fmt.Errorf("%s: the file is empty", path)
	case imagefile.Is(head):
		return nil, fmt.Errorf("%s: a single image; use the folder of images", path)
	case opt.OnDisk && !isIDX(head) && !isNPY(head):
		return nil, NotOnDisk(path)
	}
	for _, r := range readers {
		if r.fits(head) {
			return r.read(ctx, path, opt)
		}
	}
	return nil, fmt.Errorf("%s: unknown format; expected MATLAB (saved with -v6 or -v7), IDX, NumPy, SVMlight or CSV", path)
}

type reader struct {
	fits func(head []byte) bool
	read func(ctx context.Context, path string, opt Options) (*Content, error)
}

// readers are tried in this order.
var readers = []reader{
	{isIDX, reading(readIDX)},
	{isNPY, reading(readNPY)},
	{startsWith("PK\x03\x04"), reading(readNPZ)},
	{func(head []byte) bool { _, is := sniffMAT(head); return is }, reading(readMAT)},
	{indexedLine.Match, reading(readIndexed)},
	{func(head []byte) bool { return bytes.IndexByte(head, 0) < 0 }, reading(readCSV)},
}

// Add adds a reader before that of CSV, and returns what removes it again. It is called before Open.
func Add(fits func(head []byte) bool, read func(ctx context.Context, path string, opt Options) (*Content, error)) (remove func()) {
	before := readers
	readers = slices.Insert(slices.Clone(readers), len(readers)-1, reader{fits, read})
	return func() { readers = before }
}

// NotOnDisk is the error of a set whose vectors cannot stay on disk.
func NotOnDisk(name string) error {
	return fmt.Errorf("%s: only folders of images, IDX files and .npy files can be read in blocks", name)
}

var isNPY = startsWith("\x93NUMPY")

func startsWith(magic string) func(head []byte) bool {
	return func(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }
}

type input struct {
	io.ReaderAt
	path string
	size int64
	opt  Options
	*budget
	stored *Stored // that is left in the file
}

// budget is the memory that reading the files of a set may take, which is asked for before it is allocated.
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

// take asks for n bytes for what.
func (b *budget) take(n int64, what string) error {
	if n < 0 || n > b.left {
		return &limits.LimitError{What: what, Need: n, Free: b.left, Limit: b.limit}
	}
	b.left -= n
	return nil
}

// reading makes a reader of paths of a function that reads an open file.
func reading(read func(in *input) (*Content, error)) func(context.Context, string, Options) (*Content, error) {
	return func(ctx context.Context, path string, opt Options) (*Content, error) {
		return readFile(path, opt, newBudget(ctx, opt), read)
	}
}

// readFile opens the file at path for read. Its errors name the file.
func readFile[T any](path string, opt Options, b *budget, read func(in *input) (T, error)) (out T, err error) {
	f, err := os.Open(path)
	if err != nil {
		return out, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		in := &input{f, path, info.Size(), opt, b, nil}
		if out, err = read(in); err != nil && in.stored != nil {
			in.stored.Close()
		}
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}

// part returns a reader of size bytes of the file from off on, which ends with the context.
func (in *input) part(off, size int64) io.Reader {
	return &stoppable{io.NewSectionReader(in, off, size), in.ctx}
}

// stoppable is a reader that ends with the context.
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

// unpacked returns what the file holds, unpacked where it is gzipped, and how many bytes that can be.
func (in *input) unpacked() (r *bufio.Reader, most int64, packed bool, err error) {
	r, packed, err = zipfile.Gunzip(number.Buffered(in.part(0, in.size), in.size))
	if most = in.size; packed {
		most *= zipfile.MostDeflate
	}
	return r, most, packed, err
}

// eachLine calls f for each line of a text file, plain or gzipped. Errors name the line.
func (in *input) eachLine(f func(line []byte) error) error {
	text, _, _, err := in.unpacked()
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, mostVectorLine)
	number := 1
	for ; lines.Scan(); number++ {
		if err := f(lines.Bytes()); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	if err = lines.Err(); err != nil {
		err = fmt.Errorf("line %d: %w", number, err)
	}
	return err
}
