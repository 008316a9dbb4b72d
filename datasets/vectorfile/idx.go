package vectorfile

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/zipfile"

	"gonum.org/v1/gonum/mat"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// IDX reads a set from a file of images in the IDX format of MNIST, plain or
// gzipped, and the labels from the file beside it: for
// "train-images-idx3-ubyte.gz" from "train-labels-idx1-ubyte", with or without
// ".gz", or from the file that opt.Labels names. Without such a file the set
// has no labels. Numbers of one unsigned byte give a *Bytes, others a
// *mat.Dense; a class is named by its number. A file of two dimensions, n×m,
// holds vectors.
func IDX(path string, opt Options) (*Content, error) {
	return idxVectors(path, opt, opt.room())
}

func idxVectors(path string, opt Options, room *room) (set *Content, err error) {
	read := readIDX
	if opt.OnDisk {
		read = storedIDX
	}
	images, err := read(path, room)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil && images.stored != nil {
			images.stored.Close()
		}
	}()
	if len(images.dims) == 1 {
		return nil, fmt.Errorf("%s: a list of %d numbers and no images: give the file of the images, its labels are found beside it", path, images.dims[0])
	}
	n, m := images.dims[0], 1
	for _, d := range images.dims[1:] {
		m *= d
	}
	switch len(images.dims) {
	case 2:
	case 3:
		opt.Height, opt.Width = images.dims[1], images.dims[2]
	default:
		return nil, fmt.Errorf("%s: %d dimensions, want 2 or 3", path, len(images.dims))
	}

	var words []string
	from := opt.Labels
	if from == "" {
		from = idxLabels(path)
	}
	if from != "" && from != "-" {
		labels, err := readIDX(from, room)
		if err != nil {
			return nil, err
		}
		if len(labels.dims) != 1 || labels.dims[0] != n {
			return nil, fmt.Errorf("%s: %v labels for the %d images of %s", from, labels.dims, n, path)
		}
		value, err := labels.matrix(n, 1, room)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		v := variable{Name: filepath.Base(from), Value: value, Dims: labels.dims}
		if words, err = v.words(); err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
	}
	x, err := images.matrix(n, m, room)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s, err := newVectorSet(path, x, words, opt, room)
	if err == nil && from != "" {
		s.Beside = []string{from}
	}
	return s, err
}

// idxLabels returns the file of the labels beside a file of images, or "".
func idxLabels(images string) string {
	dir, file := filepath.Split(images)
	name := strings.NewReplacer("images", "labels", "idx3", "idx1").Replace(strings.TrimSuffix(file, ".gz"))
	for _, try := range []string{name, name + ".gz"} {
		if _, err := os.Stat(filepath.Join(dir, try)); err == nil && try != file {
			return filepath.Join(dir, try)
		}
	}
	return ""
}

// isIDX tells by the first bytes whether a file is in IDX format.
func isIDX(head []byte) bool {
	return len(head) >= 4 && head[0] == 0 && head[1] == 0 && idxNumbers[head[2]] != number.None && 1 <= head[3] && head[3] <= 8
}

// IsIDXImages tells by its name whether a file holds images in IDX format.
func IsIDXImages(name string) bool {
	return strings.Contains(name, "images") && strings.Contains(name, "idx3")
}

// IsIDXLabels tells by its name whether a file holds the labels of such images.
func IsIDXLabels(name string) bool {
	return strings.Contains(name, "labels") && strings.Contains(name, "idx1")
}

// IDXFolder reads the pairs of IDX files in dir of which these are the images, those of the
// training part first.
func IDXFolder(ctx context.Context, dir string, files []string, opt Options) (_ *Content, err error) {
	opt.ctx = ctx
	slices.SortStableFunc(files, func(a, b string) int {
		return strings.Compare(IDXPart(b), IDXPart(a)) // "train" before "test"
	})
	var whole *Content
	var test []bool
	parts := true // whether each file is of one of the two
	var opened []*Content
	defer func() {
		for _, s := range opened {
			if err != nil {
				s.Close()
			}
		}
	}()
	room := opt.room()
	for _, file := range files {
		s, err := idxVectors(filepath.Join(dir, file), opt, room)
		if err != nil {
			return nil, err
		}
		opened = append(opened, s)
		test = append(test, slices.Repeat([]bool{IDXPart(file) == "test"}, s.Len())...)
		parts = parts && IDXPart(file) != ""
		if whole == nil {
			whole = s
		} else if whole, err = join(whole, s, room); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Join(dir, file), err)
		}
	}
	if parts {
		whole.Test = test
	}
	return whole, nil
}

// IDXPart tells by a file's name whether it belongs to a set's training part
// or, as MNIST's "t10k" files do, to its test part.
func IDXPart(name string) string {
	switch {
	case strings.Contains(name, "train"):
		return "train"
	case strings.Contains(name, "t10k"), strings.Contains(name, "test"):
		return "test"
	}
	return ""
}

// join returns the set of the samples of a and then those of b, both of bytes.
func join(a, b *Content, room *room) (*Content, error) {
	_, m := a.Vectors.Dims()
	_, columns := b.Vectors.Dims()
	fits := a.Height == b.Height && a.Width == b.Width && m == columns
	out := *a
	switch x := a.Vectors.(type) {
	case *Stored:
		y, ok := b.Vectors.(*Stored)
		if fits = fits && ok && x.bytes() && y.bytes(); fits {
			out.Vectors = &Stored{cols: m, parts: slices.Concat(x.parts, y.parts), greatest: max(x.greatest, y.greatest)}
		}
	case *Bytes:
		y, ok := b.Vectors.(*Bytes)
		if fits = fits && ok; fits {
			size := int64(len(x.data) + len(y.data))
			if err := room.take(size, "both together"); err != nil {
				return nil, err
			}
			defer room.give(size)
			out.Vectors = NewBytes(x.rows+y.rows, m, slices.Concat(x.data, y.data))
		}
	default:
		fits = false
	}
	if !fits {
		return nil, fmt.Errorf("%d×%d images do not go with %d×%d ones", b.Height, b.Width, a.Height, a.Width)
	}
	words := make([]string, 0, a.Len()+b.Len())
	for _, s := range []*Content{a, b} {
		for _, l := range s.Labels {
			if l < 0 {
				words = append(words, "")
			} else {
				words = append(words, s.Classes[l])
			}
		}
	}
	out.Names = append(a.Names, b.Names...)
	out.Classes, out.Labels = Classes(words)
	return &out, nil
}

// idxArray is the content of an IDX file.
type idxArray struct {
	kind   number.Kind
	dims   []int
	raw    []byte
	stored *Stored // in place of raw
}

// matrix returns the values as an r×c matrix. A *Bytes shares them.
func (a *idxArray) matrix(r, c int, room *room) (mat.Matrix, error) {
	if a.stored != nil {
		return a.stored, nil
	}
	if r*c == 0 {
		return &Bytes{rows: r, cols: c}, nil
	}
	if a.kind == number.Uint8 {
		return NewBytes(r, c, a.raw), nil
	}
	if err := room.numbers(int64(r)*int64(c), fmt.Sprintf("%d×%d numbers", r, c)); err != nil {
		return nil, err
	}
	at := a.kind.In(a.raw, binary.BigEndian)
	data := make([]float64, r*c)
	for i := range data {
		data[i] = at(i)
	}
	room.give(int64(len(a.raw)))
	return mat.NewDense(r, c, data), nil
}

var idxNumbers = map[byte]number.Kind{
	0x08: number.Uint8, 0x09: number.Int8, 0x0B: number.Int16, 0x0C: number.Int32, 0x0D: number.Float32, 0x0E: number.Float64,
}

func readIDX(path string, room *room) (*idxArray, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	a, err := parseIDX(f, room)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// storedIDX is readIDX of numbers that stay in the file.
func storedIDX(path string, room *room) (a *idxArray, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	packed := false
	defer func() {
		if err != nil || packed {
			f.Close()
		}
		if err != nil {
			a, err = nil, fmt.Errorf("%s: %w", path, err)
		}
	}()
	var r *bufio.Reader
	if r, packed, err = zipfile.Gunzip(room.reader(f)); err != nil {
		return nil, err
	}
	if a, _, err = idxHeader(r); err != nil {
		return nil, err
	}
	n, m := a.dims[0], 1
	for _, d := range a.dims[1:] {
		m *= d
	}
	var rest io.Reader
	if packed {
		rest = r
	}
	a.stored, err = storedOf(path, f, rest, int64(4+4*len(a.dims)), n, m, a.kind, binary.BigEndian)
	return a, err
}

// parseIDX reads an IDX file: two zero bytes, the type of its numbers, the
// number of dimensions, each dimension in four bytes and then the numbers, the
// last dimension the fastest, the highest byte first. The file may be gzipped.
func parseIDX(file io.Reader, room *room) (*idxArray, error) {
	known := zipfile.SizeOf(file)
	r, packed, err := zipfile.Gunzip(room.reader(file))
	if err != nil {
		return nil, err
	}
	if packed {
		known = 0
	}
	a, size, err := idxHeader(r)
	if err != nil {
		return nil, err
	}
	if a.raw, err = room.bytes(r, size, known, fmt.Sprintf("the array of dimensions %v", a.dims)); err != nil {
		var tooLarge *limits.LimitError
		if errors.As(err, &tooLarge) {
			return nil, err
		}
		return nil, fmt.Errorf("dimensions %v: %w", a.dims, err)
	}
	if _, err := r.ReadByte(); err == nil {
		return nil, fmt.Errorf("dimensions %v: more bytes follow than the %d they need", a.dims, size)
	} else if !errors.Is(err, io.EOF) {
		return nil, err
	}
	return a, nil
}

// idxHeader reads an IDX file up to its numbers, and returns how many bytes they take.
func idxHeader(r io.Reader) (*idxArray, int64, error) {
	var magic [4]byte
	if _, err := io.ReadFull(r, magic[:]); err != nil {
		return nil, 0, fmt.Errorf("not an IDX file: %w", err)
	}
	a := &idxArray{kind: idxNumbers[magic[2]]}
	if !isIDX(magic[:]) {
		return nil, 0, fmt.Errorf("not an IDX file: it begins with % x", magic)
	}
	size := int64(a.kind.Size())
	for range magic[3] {
		var d [4]byte
		if _, err := io.ReadFull(r, d[:]); err != nil {
			return nil, 0, fmt.Errorf("the file ends within its dimensions: %w", unexpectedEOF(err))
		}
		dim := int64(binary.BigEndian.Uint32(d[:]))
		a.dims = append(a.dims, int(dim))
		if dim > 0 && size > number.MaxBytes/dim {
			return nil, 0, fmt.Errorf("dimensions %v are more than any file holds", a.dims)
		}
		size *= dim
	}
	return a, size, nil
}
