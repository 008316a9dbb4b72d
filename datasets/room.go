package datasets

import (
	"context"
	"io"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
)

// room is the memory that the reader of a file of vectors may take. A reader takes
// from it before it allocates what grows with the file or with what the file
// promises, and gives back what it drops.
type room struct{ limit, left int64 }

// newRoom returns the room of so many bytes, or for 0 that of the budget of
// whoever was given none.
func newRoom(limit int64) *room {
	if limit <= 0 {
		limit = max(limits.FromContext(context.Background()).Free(), 0)
	}
	return &room{limit, limit}
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
	data, err := readBytes(in, n, known)
	r.give(need - n)
	return data, err
}

// numbers takes the room of n numbers of 8 bytes.
func (r *room) numbers(n int64, what string) error { return r.take(8*n, what) }
