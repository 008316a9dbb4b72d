package passes

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/npz"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// SumsPrefix begins the names of the files of sums, such as sums-00003-of-00064.npz.
const SumsPrefix = "sums"

// Open opens the file of a shard in blocks, with these features.
func Open(ctx context.Context, path string, f spec.Features) (*input.Inputs, error) {
	e := &spec.Experiment{Features: f}
	e.Data.Set, e.Data.OnDisk = path, true
	return input.Prepare(ctx, e, input.PrepareOptions{InBlocks: true})
}

// Sampled returns at most 64 evenly spaced shards, for Draw.
func Sampled(paths []string) (some []string) {
	n := min(len(paths), 64)
	for i := range n {
		some = append(some, paths[i*len(paths)/n])
	}
	return some
}

// Draw reads about n evenly spaced rows of these shards.
func Draw(ctx context.Context, paths []string, f spec.Features, n int) (s Sample, err error) {
	defer func() {
		if err != nil && s.Inputs != nil {
			s.Close()
		}
	}()
	defer guard.Catch(&err)
	var values []float64
	for _, path := range paths {
		in := guard.Must(Open(ctx, path, f))
		if s.Inputs == nil {
			s.Inputs = in
		} else {
			defer in.Close()
		}
		rows, m := in.Dims()
		_, columns := s.Dims()
		guard.FailIf(m != columns, "%s: vectors of %d values, but %s has %d", path, m, paths[0], columns)
		row := mat.NewDense(1, m, nil)
		take := min(rows, (n+len(paths)-1)/len(paths))
		for r := range take {
			guard.Check(in.Blocks.Read(ctx, r*rows/take, row))
			values = append(values, row.RawRowView(0)...)
		}
	}
	_, m := s.Dims()
	s.X = mat.NewDense(len(values)/m, m, values)
	return s, nil
}

// ReadFile reads the state in a file.
func ReadFile(ctx context.Context, path string) (*State, error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := Read(ctx, text)
	return s, guard.Wrap(err, "%s", path)
}

// SumsFile returns the path of the sums of a shard in a folder.
func SumsFile(dir string, shard vectorfile.Shard) string {
	return filepath.Join(dir, shard.File(SumsPrefix, ".npz"))
}

// RemoveSums removes the sums of n shards from a folder, and the folder if it is empty then. Other files stay.
func RemoveSums(dir string, n int) (err error) {
	defer guard.Catch(&err)
	for i := range n {
		path := SumsFile(dir, vectorfile.Shard{Index: i, Of: n})
		if _, err := readSums(path); err == nil {
			guard.Check(os.Remove(path))
		}
	}
	_ = os.Remove(dir) // fails if files are left
	return nil
}

// PassFile writes the sums of the shard in a file at a state into the folder dir, unless they are there.
func PassFile(ctx context.Context, s *State, path, dir string) (err error) {
	defer guard.Catch(&err)
	part := partOf(path)
	to := SumsFile(dir, part.Shard)
	if _, missing := os.Lstat(to); !errors.Is(missing, fs.ErrNotExist) {
		before, err := readSums(to)
		guard.FailIf(err != nil, "%w; remove it, or choose another folder", err)
		if before.Model == s.Digest && before.Parts[0] == part {
			return nil
		}
	}
	return atomicfile.WriteFunc(to, s.passOver(ctx, path, part).Save)
}

// PassOver returns the sums of the shard in a file.
func (s *State) PassOver(ctx context.Context, path string) (_ *Sums, err error) {
	defer guard.Catch(&err)
	return s.passOver(ctx, path, partOf(path)), nil
}

// passOver is PassOver for a part. It and partOf call guard.Fail.
func (s *State) passOver(ctx context.Context, path string, part Part) *Sums {
	in := guard.Must(Open(ctx, path, s.Model.Features))
	defer in.Close()
	sums, err := s.Pass(ctx, Rows{in.Blocks, part, in.Labels(), in.Set.Classes})
	guard.Check(guard.Wrap(in.NameRows(err, nil), "%s", path))
	return sums
}

// Missing returns the paths of the shards without sums of this state in the folder dir.
func (s *State) Missing(paths []string, dir string) (missing []string) {
	for i, path := range paths {
		sums, err := readSums(SumsFile(dir, vectorfile.Shard{Index: i, Of: len(paths)}))
		if err != nil || sums.Model != s.Digest {
			missing = append(missing, path)
		}
	}
	return missing
}

func partOf(path string) Part {
	shard, ok := vectorfile.ShardOf(path)
	guard.FailIf(!ok, "%s: expected the name of a shard, such as rows-00003-of-00064.npz", path)
	f := guard.Must(os.Open(path))
	defer f.Close()
	z, err := npz.Open(f, guard.Must(f.Stat()).Size())
	digest := ""
	if err == nil {
		digest, err = z.Digest()
	}
	guard.Check(guard.Wrap(err, "%s", path))
	return Part{shard, digest}
}

// Merge returns the state after the pass whose sums are in the folder dir.
func Merge(ctx context.Context, s *State, dir string) (*State, error) {
	total, err := Total(len(s.Shards), func(i int) (*Sums, error) {
		path := SumsFile(dir, vectorfile.Shard{Index: i, Of: len(s.Shards)})
		sums, err := readSums(path)
		if err == nil && sums.Model != s.Digest {
			err = fmt.Errorf("%s: the sums are of another model, or of another pass: run the pass of this shard again", path)
		}
		return sums, err
	})
	if err != nil {
		return nil, err
	}
	next, err := s.Update(ctx, total)
	return next, guard.Wrap(err, "%s", dir)
}

// Save writes the sums.
func (s *Sums) Save(w io.Writer) error {
	text, err := json.Marshal(s)
	if err != nil {
		return err
	}
	z := npz.NewWriter(w)
	z.Text(SumsPrefix, text)
	z.List("values", s.Values)
	z.List("keys", s.Keys)
	z.List("drawn", s.Drawn)
	return z.Close()
}

func readSums(path string) (*Sums, error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s, err := ReadSums(text)
	if shard, _ := vectorfile.ShardOf(path); err == nil && (len(s.Parts) != 1 || s.Parts[0].Shard != shard) {
		err = fmt.Errorf("its shards %v do not match its name", s.Parts)
	}
	return s, guard.Wrap(err, "%s: not a file of sums", path)
}

// ReadSums reads sums that Save wrote.
func ReadSums(text []byte) (_ *Sums, err error) {
	defer guard.Catch(&err)
	z := guard.Must(npz.Open(bytes.NewReader(text), int64(len(text))))
	s := &Sums{}
	guard.Check(json.Unmarshal(guard.Must(z.Text(SumsPrefix)), s))
	for name, to := range map[string]*[]float64{"values": &s.Values, "keys": &s.Keys, "drawn": &s.Drawn} {
		*to, _, err = z.Floats(name, 1, nil)
		guard.Check(err)
	}
	guard.FailIf(len(s.Keys) == 0 && len(s.Drawn) > 0, "samples without keys")
	return s, nil
}
