package vectorfile

import (
	"context"
	"encoding/binary"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// readIDX reads images in the IDX format of MNIST, plain or gzipped, or vectors, n×m. The labels come from the file in
// the options, or from the file beside it: train-labels-idx1-ubyte for train-images-idx3-ubyte.gz, with or without .gz.
// The name of a class is its number.
func readIDX(in *input) *Content {
	dims, x := idxArray(in)
	switch len(dims) {
	case 1:
		guard.Fail("a list of %d labels: use the image file; the labels beside it are read too", dims[0])
	case 3:
		in.opt.Height, in.opt.Width = dims[1], dims[2]
	}

	var words []string
	from := in.opt.Labels
	if dir, file := filepath.Split(in.path); from == "" {
		name := strings.NewReplacer("images", "labels", "idx3", "idx1").Replace(strings.TrimSuffix(file, ".gz"))
		for _, try := range []string{name + ".gz", name} {
			if _, err := os.Stat(filepath.Join(dir, try)); err == nil && try != file {
				from = filepath.Join(dir, try)
			}
		}
	}
	if from != "" && from != "-" {
		words = guard.Must(readFile(from, Options{}, in.budget, func(labels *input) []string {
			of, y := idxArray(labels)
			failIf(len(of) != 1 || of[0] != dims[0], "%v labels for the %d images of %s", of, dims[0], in.path)
			return (&Variable{Name: filepath.Base(from), Dims: of, Value: y}).words()
		}))
	}
	set := in.content(x, words)
	if from != "" {
		set.Beside = []string{from}
	}
	return set
}

func isIDX(head []byte) bool {
	return len(head) >= 4 && head[0] == 0 && head[1] == 0 && idxNumbers[head[2]] != number.None && 1 <= head[3] && head[3] <= 8
}

// IsIDXImages reports whether a file with this name holds images in IDX format.
func IsIDXImages(name string) bool {
	return strings.Contains(name, "images") && strings.Contains(name, "idx3")
}

// IDXFolder reads the pairs of IDX files of images and labels in dir. part is "train", "test" or "" for both, the
// training part first. It also returns the names of all other files and of hidden ones.
func IDXFolder(ctx context.Context, dir, part string, opt Options) (whole *Content, others []string, err error) {
	defer guard.Catch(&err)
	partOf := func(name string) string { // MNIST calls it "t10k"
		switch {
		case strings.Contains(name, "train"):
			return "train"
		case strings.Contains(name, "t10k"), strings.Contains(name, "test"):
			return "test"
		}
		return ""
	}
	var files []string
	for _, e := range guard.Must(os.ReadDir(dir)) {
		name := e.Name()
		isImages, isLabels := IsIDXImages(name), strings.Contains(name, "labels") && strings.Contains(name, "idx1")
		again := slices.Contains(files, strings.TrimSuffix(name, ".gz")) // the same file is there gzipped and plain
		switch {
		case strings.HasPrefix(name, ".") || e.IsDir() || !isImages && !isLabels:
			others = append(others, name)
		case isImages && !again && (part == "" || partOf(name) == part):
			files = append(files, name)
		}
	}
	failIf(len(files) == 0, "%s: no IDX files of %s images: %w", dir, part, fs.ErrNotExist)
	slices.SortStableFunc(files, func(a, b string) int { return strings.Compare(partOf(b), partOf(a)) })
	var test []bool
	budget := newBudget(ctx, opt)
	paths := lists.Map(files, func(file string) string { return filepath.Join(dir, file) })
	whole = openEach(paths, opt, budget, func(in *input) *Content {
		s := readIDX(in)
		test = append(test, slices.Repeat([]bool{partOf(filepath.Base(in.path)) == "test"}, s.Len())...)
		return s
	})
	if !slices.ContainsFunc(files, func(file string) bool { return partOf(file) == "" }) {
		whole.Test = test
	}
	return whole, others, nil
}

var idxNumbers = map[byte]number.Kind{
	0x08: number.Uint8, 0x09: number.Int8, 0x0B: number.Int16, 0x0C: number.Int32, 0x0D: number.Float32, 0x0E: number.Float64,
}

// idxArray reads the header and the numbers of an IDX file, big-endian. With OnDisk the numbers stay in the file.
func idxArray(in *input) (dims []int, x mat.Matrix) {
	r, most, packed := in.unpacked()
	a := idxHeader(r)
	start := int64(4 + 4*len(a.dims))
	if in.opt.OnDisk {
		var unpacked io.Reader
		if packed {
			unpacked = r
		}
		return a.dims, in.storeOnDisk(unpacked, start, -1, *a)
	}
	guard.Within(func() {
		x = a.matrix(r, most-start, in, a.kind == number.Uint8)
		guard.Check(number.End(r))
	}, "dimensions %v", a.dims)
	return a.dims, x
}

// idxHeader reads an IDX file up to its numbers.
func idxHeader(r io.Reader) *array {
	var magic [4]byte
	_, err := io.ReadFull(r, magic[:])
	failIf(err != nil, "not an IDX file: %w", err)
	failIf(!isIDX(magic[:]), "not an IDX file: it begins with % x", magic)
	dims := make([]uint32, magic[3])
	err = binary.Read(r, binary.BigEndian, dims)
	failIf(err != nil, "the file ends within its header: %w", io.ErrUnexpectedEOF)
	a := &array{kind: idxNumbers[magic[2]], order: binary.BigEndian}
	size := int64(a.kind.Size())
	for _, d := range dims {
		failIf(d == 0, "dimensions %v have no samples", dims)
		failIf(size > number.MaxBytes/int64(d), "dimensions %v are too large", dims)
		size *= int64(d)
		a.dims = append(a.dims, int(d))
	}
	failIf(len(dims) > 3, "%d dimensions; expected 2 or 3", len(dims))
	return a
}
