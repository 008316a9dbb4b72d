package vectorfile

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/text/lazyregexp"
)

// Shard is one of several parts of a set. Its text is 3/64: the shards of 64 are 0/64 to 63/64, as array jobs of Slurm and
// indexed jobs of Kubernetes count.
type Shard struct{ Index, Of int }

// mostShards limits mistyped numbers.
const mostShards = 99_999

// ParseShard reads the text of a shard.
func ParseShard(text string) (s Shard, err error) {
	index, of, _ := strings.Cut(text, "/")
	s.Index, err = strconv.Atoi(index)
	if s.Of, _ = strconv.Atoi(of); err != nil || s.Index < 0 || s.Index >= s.Of || s.Of > mostShards {
		return Shard{}, fmt.Errorf("shard %q: expected INDEX/COUNT from 0/COUNT, such as 0/64 to 63/64", text)
	}
	return s, nil
}

func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Of) }

// File returns the name of the shard's file, such as rows-00003-of-00064.npz.
func (s Shard) File(prefix, extension string) string {
	return fmt.Sprintf("%s-%05d-of-%05d%s", prefix, s.Index, s.Of, extension)
}

// Rows returns the shard's part of n samples in their order: from, …, to−1. Sizes differ by one at most.
func (s Shard) Rows(n int) (from, to int) { return s.Index * n / s.Of, (s.Index + 1) * n / s.Of }

var shardName = lazyregexp.New(`^(.+)-(\d{5})-of-(\d{5})(\.[a-z]+)$`)

// ShardOf returns the shard whose file has this name.
func ShardOf(path string) (s Shard, ok bool) {
	m := shardName().FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return s, false
	}
	s, err := ParseShard(m[2] + "/" + m[3])
	return s, err == nil
}

// Shards returns the files of a set of shards in order, given their folder or a pattern such as fea/rows-*.npz. It is an
// error if a shard is missing. Other folders and patterns have none.
func Shards(name string) (paths []string, err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "*-of-*.npz")
	}
	found, err := filepath.Glob(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return InOrder(found)
}

// InOrder returns the shards among some files, in order, with the errors of Shards.
func InOrder(found []string) (paths []string, err error) {
	found = slices.DeleteFunc(found, func(path string) bool { _, ok := ShardOf(path); return !ok })
	slices.Sort(found)
	prefix := ""
	for i, path := range found {
		m := shardName().FindStringSubmatch(filepath.Base(path))
		s, _ := ShardOf(path)
		switch want := (Shard{i, s.Of}); {
		case i > 0 && (prefix != m[1] || len(paths) != s.Of):
			return nil, fmt.Errorf("%s and %s are of different sets of shards; name one by a pattern, such as '%s-*.npz'", found[0], path, filepath.Join(filepath.Dir(path), m[1]))
		case s != want:
			return nil, missingShard(path, want)
		}
		if i == 0 {
			prefix, paths = m[1], make([]string, s.Of)
		}
		paths[i] = path
	}
	if n := len(found); n < len(paths) {
		return nil, missingShard(found[n-1], Shard{n, len(paths)})
	}
	return paths, nil
}

func missingShard(beside string, s Shard) error {
	m := shardName().FindStringSubmatch(filepath.Base(beside))
	return &fs.PathError{Op: "open", Path: filepath.Join(filepath.Dir(beside), s.File(m[1], m[4])), Err: fmt.Errorf("shard %s is missing: %w", s, fs.ErrNotExist)}
}

// OpenShards opens the files of Shards as one set of vectors.
func OpenShards(ctx context.Context, paths []string, opt Options) (all *Content, err error) {
	defer guard.Catch(&err)
	all = openEach(paths, opt, newBudget(ctx, opt), readNPZ)
	if all.Name = naming.ReadableName(filepath.Base(filepath.Dir(paths[0]))); all.Name == "." {
		all.Name = shardName().FindStringSubmatch(paths[0])[1]
	}
	return all, nil
}

// openEach reads the files and joins their contents. It calls guard.Fail.
func openEach(paths []string, opt Options, budget *budget, read func(in *input) *Content) (joined *Content) {
	var all []*Content
	err := guard.Try(func() {
		for _, path := range paths {
			all = append(all, guard.Must(readFile(path, opt, budget, read)))
			guard.Within(func() { all[0].checkFit(all[len(all)-1]) }, "%s", path)
		}
		guard.Within(func() { joined = join(all, budget) }, "%s", paths[len(paths)-1])
	})
	for _, c := range all {
		if err != nil {
			c.Close()
		}
	}
	guard.Check(err)
	return joined
}

// checkFit fails if b cannot be joined with c.
func (c *Content) checkFit(b *Content) {
	n, m := c.Vectors.Dims()
	_, columns := b.Vectors.Dims()
	x, stored := c.Vectors.(*Stored)
	y, too := b.Vectors.(*Stored)
	failIf(c.Height != b.Height || c.Width != b.Width, "%d×%d images cannot be combined with %d×%d images", b.Height, b.Width, c.Height, c.Width)
	failIf(m != columns, "vectors of %d values cannot be combined with the first %d, of %d values", columns, n, m)
	failIf(fmt.Sprintf("%T", c.Vectors) != fmt.Sprintf("%T", b.Vectors) || stored && too && x.isBytes() != y.isBytes(),
		"vectors of another type of numbers cannot be combined with the first %d", n)
	failIf(c.Settings != b.Settings, "features of the settings %s cannot be combined with %s", b.Settings, c.Settings)
}

// join returns the samples of all contents, which fit each other.
func join(all []*Content, budget *budget) *Content {
	c := all[0]
	if len(all) == 1 {
		return c
	}
	_, m := c.Vectors.Dims()
	n := 0
	for _, b := range all {
		n += b.Len()
	}
	switch x := c.Vectors.(type) {
	case *Stored:
		for _, b := range all[1:] {
			y := b.Vectors.(*Stored)
			x.parts, x.least, x.greatest = append(x.parts, y.parts...), min(x.least, y.least), max(x.greatest, y.greatest)
		}
	case *Bytes:
		budget.reserve(int64(n)*int64(m), "all together")
		c.Vectors = NewBytes(n, m, slices.Concat(lists.Map(all, func(b *Content) []uint8 { return b.Vectors.(*Bytes).data })...))
	case *mat.Dense:
		budget.reserve(8*int64(n)*int64(m), "all together")
		values := lists.Map(all, func(b *Content) []float64 { return b.Vectors.(*mat.Dense).RawMatrix().Data })
		c.Vectors = mat.NewDense(n, m, slices.Concat(values...))
	default:
		guard.Fail("sparse vectors in several files are not supported")
	}
	if slices.ContainsFunc(all, func(b *Content) bool { return !slices.Equal(b.Classes, c.Classes) }) {
		var words []string
		for _, b := range all {
			words = append(words, lists.Map(b.Labels, func(l int) string { return append([]string{""}, b.Classes...)[l+1] })...)
		}
		c.Classes, c.Labels = Classes(words)
	} else {
		c.Labels = slices.Concat(lists.Map(all, func(b *Content) []int { return b.Labels })...)
	}
	c.Names = slices.Concat(lists.Map(all, func(b *Content) []string { return b.Names })...)
	name, twice := duplicate(c.Names)
	failIf(twice, "two of the samples have the name %q", name)
	return c
}
