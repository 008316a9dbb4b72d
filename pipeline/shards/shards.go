// Package shards writes one shard of the samples of a data set: their features, descriptors or groups.
package shards

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Open opens the data of an experiment, or a shard of it if of.Of is not 0. Of data in as many shards it opens only the
// shard's file.
func Open(ctx context.Context, e *spec.Experiment, of vectorfile.Shard) (*datasets.Set, error) {
	if of.Of > 0 {
		if paths, err := vectorfile.Shards(e.Data.Set); err == nil && len(paths) == of.Of {
			of, e.Data.Set = vectorfile.Shard{}, paths[of.Index]
		}
	}
	set, err := input.Open(ctx, e)
	if err != nil || of.Of == 0 {
		return set, err
	}
	e.Features = e.Features.Resolve(set) // by all images
	return set.Shard(of)
}

// CheckFeatures returns an error for features that differ among shards.
func CheckFeatures(f spec.Features) error {
	if f.LearnsFromSamples() {
		return fmt.Errorf("shard: %s learns from all samples; give words={from:FILE} of partwise vocab, and the scale of joined features", f)
	}
	return nil
}

// ErrDone is the error of Check for a complete file.
var ErrDone = errors.New("the shard is already there")

// Check compares a shard with its file out, if any. It returns ErrDone for a shard of the same set, settings and model,
// and torn for an incomplete file of a shard. The set notes its identity, which is stored with it.
func Check(ctx context.Context, e *spec.Experiment, set *datasets.Set, out string, model []byte) (torn bool, err error) {
	settings, err := json.Marshal(e.Features.Document())
	if err != nil {
		return false, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %x %s %d %t\n", settings, model, set.Settings, e.Seed, set.Single)
	for _, path := range e.Files()[1:] {
		if sum, err := output.Sum(path); path != "" && err == nil {
			fmt.Fprintln(h, sum)
		}
	}
	for i, name := range set.Names {
		size := int64(0)
		if info, err := os.Stat(set.File(i)); err == nil {
			size = info.Size()
		}
		fmt.Fprintf(h, "%q %d %d\n", name, set.Labels[i], size)
	}
	if set.Vectors != nil {
		matrix.WriteRows(h, set.Vectors, matrix.AllRows(set.Vectors))
	}
	identity := fmt.Sprintf("%x", h.Sum(nil))
	set.Lists = []vectorfile.List{{Name: "shard", Words: []string{identity}}}
	switch before, err := identityOf(ctx, out); {
	case before == identity:
		return false, ErrDone
	case err != nil:
		return ctx.Err() == nil && isTorn(out), nil
	}
	return false, nil
}

// Beside begins the name of the file with the identity of a shard.
const Beside = ".partwise-"

// identityOf returns the identity of a shard, which an .npz file contains. Other files have it in a file beside them, with
// their digest.
func identityOf(ctx context.Context, out string) (string, error) {
	if filepath.Ext(out) != ".npz" {
		text, err := output.ReadFile(beside(out))
		sum, sumErr := output.Sum(out)
		if identity, ok := strings.CutSuffix(string(text), " "+sum+"\n"); ok {
			return identity, nil
		}
		return "", cmp.Or(err, sumErr)
	}
	variables, err := vectorfile.Variables(ctx, out)
	for _, v := range variables {
		if v.Name == "shard" && len(v.Text) == 1 {
			return v.Text[0], nil
		}
	}
	return "", err
}

func beside(out string) string { return filepath.Join(filepath.Dir(out), Beside+filepath.Base(out)) }

// WriteIdentity writes the identity of a set that Check has seen beside the file of its shard, which is no .npz file, before
// the file gets this content.
func WriteIdentity(out string, set *datasets.Set, content []byte) error {
	return atomicfile.Write(beside(out), fmt.Appendf(nil, "%s %x\n", set.Lists[0].Words[0], sha256.Sum256(content)))
}

// isTorn reports whether an unreadable file begins as a shard does. Any other file is not of partwise.
func isTorn(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 4)
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == "PK\x03\x04"
}

// SetOf returns the samples of the inputs with other vectors.
func SetOf(in *input.Inputs, x mat.Matrix) *datasets.Set {
	return &datasets.Set{Name: in.Set.Name, Names: matrix.Take(in.Set.Names, in.Rows), Classes: in.Set.Classes, Labels: in.Labels(), Vectors: x, Lists: in.Set.Lists, Single: in.Set.Single}
}

// Features returns the samples with their features and the settings of these.
func Features(in *input.Inputs) (*datasets.Set, error) {
	set := SetOf(in, in.X)
	settings, err := json.Marshal(in.Features.Document())
	if err != nil {
		return nil, err
	}
	set.Features, set.Settings = in.Scales, cmp.Or(in.Set.Settings, string(settings))
	if in.Channels == 1 {
		set.Height, set.Width = in.Height, in.Width
	}
	return set, nil
}

// Descriptors returns a sample of the descriptors of a shard's images.
func Descriptors(ctx context.Context, in *input.Inputs, of vectorfile.Shard, seed uint64) (*datasets.Set, error) {
	vectors, dim, err := in.Bag.Sample(ctx, in.Rows, seed)
	if err != nil {
		return nil, err
	}
	n := len(vectors) / max(dim, 1)
	set := SetOf(in, vectorfile.NewBytes(n, dim, vectors))
	set.Classes, set.Names, set.Labels = nil, make([]string, n), make([]int, n)
	for i := range n {
		set.Names[i], set.Labels[i] = fmt.Sprintf("descriptor %d of shard %s", i+1, of), -1
	}
	return set, nil
}
