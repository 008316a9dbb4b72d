package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed4492f2cd/partwise/beam/internal/store"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/cache"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/shards"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// The commands of Shard.
const (
	Features = "features"
	Vocab    = "vocab"
	Assign   = "assign"
)

// Shard writes a shard of features, descriptors or groups, as the command of partwise with --shard does. Its fields are the
// flags, which travel to the workers.
type Shard struct {
	Command, Data, Out     string
	Features, Labels, Root string
	Model                  string // of Assign
	Seed                   uint64
	Float32, Strict, Force bool
	Reject                 float64
}

// RunShards runs the command on n shards.
func RunShards(ctx context.Context, job Shard, n int) error {
	if _, err := job.experiment(); err != nil {
		return err
	}
	if err := makeFolder(job.Out); err != nil {
		return err
	}
	return run(ctx, eachShard(&job, n))
}

// experiment returns the settings of the flags.
func (j *Shard) experiment() (*spec.Experiment, error) {
	e := &spec.Experiment{Features: spec.Features{Auto: true}, Seed: j.Seed}
	e.Data.Set, e.Data.Labels, e.Data.Root = j.Data, j.Labels, j.Root
	if j.Command == Vocab {
		e.Features = spec.Features{}
	}
	if j.Features != "" {
		if err := set(e, "features", j.Features); err != nil {
			return nil, err
		}
	}
	if j.Command == Vocab {
		if !e.Features.OfWords() {
			return nil, errors.New("vocab needs the features of the words, such as --features sift=dense,words=1000")
		}
		e.Task = spec.Classification // it learns words in each draw
	}
	return e, nil
}

// set sets a setting in a struct by its short form.
func set(to any, name, text string) error {
	v, err := spec.ParseShort(name, text)
	if err == nil {
		field := settings.Field{Key: settings.Of(name), Value: v}
		err = settings.Decode(&settings.Value{Kind: settings.KindMapping, Fields: []settings.Field{field}}, to)
	}
	if err != nil {
		err = fmt.Errorf("--%s %q: %w", name, text, err)
	}
	return err
}

// MethodOf reads the short form of a method, such as nmf-kl.
func MethodOf(text string) (m spec.Method, err error) {
	v, err := spec.ParseShort("methods", text)
	if err != nil {
		return m, fmt.Errorf("--method %q: %w", text, err)
	}
	if v.Kind == settings.KindText {
		v = &settings.Value{Kind: settings.KindMapping, Fields: []settings.Field{{Key: settings.Of("name"), Value: v}}}
	}
	var all spec.Methods
	err = settings.Decode(&settings.Value{Kind: settings.KindList, Items: []*settings.Value{v}}, &all)
	if err == nil && len(all) != 1 {
		err = errors.New("expected one method")
	}
	if err != nil {
		return m, fmt.Errorf("--method %q: %w", text, err)
	}
	return all[0], nil
}

// ProcessElement writes the file of a shard such as 3/64, unless it is complete.
func (j *Shard) ProcessElement(ctx context.Context, shard string) (err error) {
	if err := before(shard); err != nil {
		return err
	}
	of, err := vectorfile.ParseShard(shard)
	if err != nil {
		return err
	}
	name := of.File("rows", map[bool]string{true: ".csv", false: ".npz"}[j.Command == Assign])
	err = inFolder(func(dir string) error { return j.writeShard(ctx, of, strings.TrimSuffix(j.Out, "/")+"/", name, dir) })
	if err != nil && !errors.Is(err, shards.ErrDone) {
		return fmt.Errorf("shard %s: %w", of, err)
	}
	return nil
}

func (j *Shard) writeShard(ctx context.Context, of vectorfile.Shard, folder, name, dir string) error {
	e, err := j.experiment()
	if err != nil {
		return err
	}
	out, err := store.Fetch(ctx, folder+name, dir)
	if err != nil {
		return err
	}
	identity, err := store.Fetch(ctx, folder+shards.Beside+name, dir)
	if err != nil {
		return err
	}
	in, m, err := j.prepare(ctx, e, of, folder+name, out, dir)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := j.write(ctx, in, m, of, out); err != nil {
		return err
	}
	if j.Command == Assign {
		if err := store.Publish(ctx, identity, folder+shards.Beside+name); err != nil {
			return err
		}
	}
	if err := store.Publish(ctx, out, folder+name); err != nil {
		return err
	}
	return publishBad(ctx, in.Bad(), folder+name)
}

// publishBad writes the list of skipped files beside an output. Without any, it only replaces an earlier list.
func publishBad(ctx context.Context, bad []datasets.BadFile, url string) error {
	list := url + ".skipped.csv"
	if _, err := os.Lstat(list); len(bad) == 0 && err != nil {
		return nil
	}
	var text bytes.Buffer
	if err := datasets.WriteBadFiles(&text, bad); err != nil {
		return err
	}
	return publish(ctx, text.Bytes(), list)
}

// checkNew refuses to replace an output or its list of skipped files.
func checkNew(ctx context.Context, url, dir string, replace bool) error {
	for _, name := range []string{url, url + ".skipped.csv"} {
		file, err := store.Fetch(ctx, name, dir)
		if err == nil {
			err = output.CheckFile(file, replace)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// prepare computes the features of a shard, or returns shards.ErrDone if out, the file of url, is complete.
func (j *Shard) prepare(ctx context.Context, e *spec.Experiment, of vectorfile.Shard, url, out, dir string) (in *input.Inputs, m *models.Model, err error) {
	var model []byte
	if j.Command == Assign {
		path, err := store.Fetch(ctx, j.Model, dir)
		if err != nil {
			return nil, nil, err
		}
		if m, model, err = readModel(ctx, path); err != nil {
			return nil, nil, err
		}
		model = fmt.Append(model, j.Reject)
		e.Data.OneImage, e.Features = true, m.Features
	}
	e.Features.SkipBad = !j.Strict
	if paths, err := store.Shards(ctx, j.Data); err == nil && len(paths) == of.Of {
		if e.Data.Set, err = store.Fetch(ctx, paths[of.Index], dir); err != nil {
			return nil, nil, err
		}
		of = vectorfile.Shard{} // the whole file
	}
	set, err := shards.Open(ctx, e, of)
	if err != nil {
		return nil, nil, err
	}
	e.Features.SkipBad = e.Features.SkipBad && set.Files != nil // a file of vectors is complete or wrong
	defer func() {
		if err != nil {
			set.Close()
		}
	}()
	set.Single = j.Float32
	if m != nil {
		err = m.Check(ctx, set)
	} else {
		err = shards.CheckFeatures(e.Features.Resolve(set))
	}
	if j.Command == Vocab {
		e.Features.Words.From, err = "-", nil // nothing is learned
	}
	if err != nil {
		return nil, nil, err
	}
	torn, err := shards.Check(ctx, e, set, out, model)
	if err != nil {
		return nil, nil, err
	}
	if err := checkNew(ctx, url, dir, j.Force || torn); err != nil {
		return nil, nil, err
	}
	opt := input.PrepareOptions{}
	if j.Command == Vocab {
		e.Features.Words.From = ""
		if opt.Cache, err = cache.Open(filepath.Join(dir, "cache")); err != nil { // descriptors are read twice
			return nil, nil, err
		}
	}
	e.Features = e.Features.Resolve(set)
	in, err = input.PrepareSet(ctx, e, set, opt)
	return in, m, err
}

func (j *Shard) write(ctx context.Context, in *input.Inputs, m *models.Model, of vectorfile.Shard, out string) (err error) {
	var set *datasets.Set
	switch j.Command {
	case Assign:
		found, err := m.Assign(ctx, in, j.Reject)
		if err != nil {
			return err
		}
		text := models.AssignmentsCSV(m.List(in, found))
		if err := shards.WriteIdentity(out, in.Set, text); err != nil {
			return err
		}
		return atomicfile.WriteFunc(out, func(w io.Writer) error { _, err := w.Write(text); return err })
	case Vocab:
		set, err = shards.Descriptors(ctx, in, of, j.Seed)
	default:
		set, err = shards.Features(in)
	}
	if err != nil {
		return err
	}
	return vectorfile.Write(ctx, out, set.Content())
}

func readModel(ctx context.Context, path string) (*models.Model, []byte, error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	sum, err := output.Sum(path)
	if err != nil {
		return nil, nil, err
	}
	m, err := models.ReadModel(ctx, bytes.NewReader(text), int64(len(text)))
	if err == nil && m.Groups == nil {
		err = errors.New("the model has no groups")
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return m, []byte(sum), nil
}
