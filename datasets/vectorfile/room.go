package vectorfile

import (
	"context"
	"io"

	"github.com/seed4492f2cd/partwise/internal/zipfile"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// room is the memory that the reader of a file of vectors may take. A reader takes
// from it before it allocates what grows with the file or with what the file
// promises, and gives back what it drops. It also knows the context whose end
// stops the reader.
type room struct {
	ctx         context.Context
	limit, left int64
}

// room returns the room that the options give.
func (opt *Options) room() *room {
	ctx, limit := opt.context(), opt.Limit
	if limit <= 0 {
		limit = max(limits.FromContext(ctx).Free(), 0)
	}
	return &room{ctx, limit, limit}
}

// context returns the context that ends reading.
func (opt *Options) context() context.Context {
	if opt.ctx == nil {
		return context.Background()
	}
	return opt.ctx
}

// ended returns why the context ended, if it did.
func (r *room) ended() error { return context.Cause(r.ctx) }

// reader returns in with an end where the context ends.
func (r *room) reader(in io.Reader) io.Reader { return &stoppable{in, r} }

type stoppable struct {
	in   io.Reader
	room *room
}

// Size returns how many bytes it holds, or 0 where that is not known.
func (s *stoppable) Size() int64 { return zipfile.SizeOf(s.in) }

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.room.ended(); err != nil {
		return 0, err
	}
	return s.in.Read(p)
}

// take asks for the n bytes that something takes. The error tells what it is.
func (r *room) take(n int64, what string) error {
	if n < 0 || n > r.left {
		return &limits.LimitError{What: what, Need: n, Free: r.left, Limit: r.limit}
	}
	r.left -= n
	return nil
}

// give gives back n bytes.
func (r *room) give(n int64) { r.left += n }

// bytes is readBytes with room for the bytes, and for as many again while they
// grow where they are not known to be there.
func (r *room) bytes(in io.Reader, n, known int64, what string) ([]byte, error) {
	need := n
	if known < n {
		need *= 2
	}
	if err := r.take(need, what); err != nil {
		return nil, err
	}
	data, err := number.ReadBytes(in, n, known)
	r.give(need - n)
	return data, err
}

// numbers takes the room of n numbers of 8 bytes.
func (r *room) numbers(n int64, what string) error { return r.take(8*n, what) }

// transposed returns the r×c values of a matrix row by row, of which at gives
// those of column by column. It goes through a few columns at a time, so that
// those of large matrices stay in the processor's cache.
func transposed[T any](r, c int, at func(i int) T, room *room) ([]T, error) {
	const few = 64
	out := make([]T, r*c)
	for first := 0; first < c; first += few {
		if err := room.ended(); err != nil {
			return nil, err
		}
		last := min(first+few, c)
		for i := range r {
			for j := first; j < last; j++ {
				out[i*c+j] = at(j*r + i)
			}
		}
	}
	return out, nil
}
