package vectorfile

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
	"github.com/seed4492f2cd/partwise/internal/zipfile"
)

// input is a file that is read.
type input struct {
	io.ReaderAt
	path string
	size int64
	opt  Options
	*budget
}

// budget is the memory that reading may take, which files of one set share, and the context that
// ends reading. A reader takes from it before it allocates what grows with the file.
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

// reading makes a readFunc of a function that reads an open file.
func reading(read func(in *input) (*Content, error)) readFunc {
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
		out, err = read(&input{f, path, info.Size(), opt, b})
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return out, err
}

// part returns a reader of size bytes of the file from off on, which ends with the context.
func (in *input) part(off, size int64) io.Reader {
	return in.stoppable(io.NewSectionReader(in, off, size))
}

// stoppable returns a reader that ends with the context.
func (in *input) stoppable(r io.Reader) io.Reader { return &stoppable{r, in.ctx} }

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
	if err := lines.Err(); err != nil {
		return fmt.Errorf("line %d: %w", number, err)
	}
	return nil
}
