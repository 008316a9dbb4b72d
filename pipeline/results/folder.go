// Package results stores the results of an experiment in a folder, and reads them: the log of trials, the summary, and
// the saved models with their samples and visual words. One process locks a [Folder]. It is the [pipeline.Sink] of a
// run, which continues from its content.
package results

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// Folder is the folder of an experiment's results, locked by this process.
type Folder struct {
	*output.Folder
	// From names the results folders of the shards. Run takes their trials, and runs the missing trials.
	From  []string
	pages []string
}

// Files returns the names of the files and folders that Run writes; folders end with a slash.
func Files() []string { return []string{LogFile, SummaryFile, SamplesFile, ModelDir + "/"} }

// Open locks the folder dir for the results of the experiment, and creates it if needed. pages are the names that
// Publish will write; folders end with a slash. Open refuses a folder that another process has locked or that holds
// another experiment, or that has a foreign or changed file under one of its names. It leaves such a folder unchanged.
//
// Experiments that differ only in methods, numbers of classes, ranks, repeats or the name can share a folder and its
// trials.
func Open(dir string, e *spec.Experiment, pages ...string) (_ *Folder, err error) {
	defer guard.Catch(&err)
	_, err = os.Lstat(filepath.Join(dir, SetsFile))
	guard.FailIf(err == nil, "%s has results of an experiment on several sets; choose another name or folder", dir)
	if s, err := readSummary(dir); err == nil {
		err = s.CheckSame(e)
		guard.FailIf(err != nil, "%s %w", dir, err)
	}
	return open(dir, append(Files(), pages...), pages)
}

// Reopen opens the folder dir of existing results, to write pages about them.
func Reopen(dir string, pages ...string) (*Folder, error) {
	if _, err := ReadSummary(dir); err != nil {
		return nil, err
	}
	return open(dir, pages, pages)
}

func open(dir string, names, pages []string) (*Folder, error) {
	folder, err := output.Open(dir, output.Spec{Command: "run", Names: names})
	if err != nil {
		return nil, err
	}
	return &Folder{Folder: folder, pages: pages}, nil
}

// Publish replaces all pages by the files that write puts into dir, once all are complete. Pages that write did not
// write are removed, except the names that it returns in keep.
func (f *Folder) Publish(write func(dir string) (keep []string, err error)) (err error) {
	defer guard.Catch(&err)
	stage := guard.Must(f.Stage(f.pages...))
	defer stage.Discard()
	keep := guard.Must(write(stage.Dir()))
	stage.Keep(keep...)
	return stage.Publish()
}

// Notes returns a warning if the log has unreadable lines.
func (f *Folder) Notes() (notes []string, err error) {
	_, unread, err := ReadLog(f.Dir())
	if len(unread) > 0 {
		notes = append(notes, fmt.Sprintf("%s has lines that are damaged or from another version of partwise, %d in total, starting at line %d; their trials run again",
			filepath.Join(f.Dir(), LogFile), len(unread), unread[0]))
	}
	return notes, err
}

// Run opens the folder dir, runs the plan in it, and closes it. [Folder.Run] describes the result.
func Run(ctx context.Context, p *pipeline.Plan, dir string, opt pipeline.RunOptions) ([]record.Record, error) {
	f, err := Open(dir, p.Experiment)
	if err != nil {
		return nil, err
	}
	records, err := f.Run(ctx, p, opt)
	return records, errors.Join(err, f.Close())
}

// Run runs the trials of the plan that are not in the log, appends each finished one, and returns all records as
// [pipeline.Plan.Run] does. It first removes pages about other trials. A later Run resumes one that ended early. A
// complete log is in the order of the plan.
func (f *Folder) Run(ctx context.Context, p *pipeline.Plan, opt pipeline.RunOptions) ([]record.Record, error) {
	to := &sink{Folder: f}
	records, runErr := p.Run(ctx, to, opt)
	if to.log == nil {
		return nil, runErr
	}
	var some *pipeline.TrialsError
	if runErr == nil || errors.As(runErr, &some) {
		runErr = errors.Join(runErr, writeSummary(f.Folder, p.Summary()), f.saveLearned(ctx, p))
	}
	lost := to.log.checkPlace()
	err := to.log.close()
	if lost != nil {
		return nil, lost // the cause of all other errors
	}
	if err = cmp.Or(runErr, err); err != nil {
		return records, err
	}
	return records, to.log.sort(p.Summary().Trials)
}

type sink struct {
	*Folder
	log *log
}

// Begin removes pages about other trials and opens the log.
func (k *sink) Begin(s *pipeline.Summary) (done map[string]record.Record, err error) {
	defer guard.Catch(&err)
	old, unread := ReadSummary(k.Dir())
	same := unread == nil && old.SameTrials(s)
	if !same {
		guard.Check(k.Clear(k.pages...))
	}
	guard.Check(k.Append(LogFile))
	if !same {
		guard.Check(writeSummary(k.Folder.Folder, s))
	}
	k.log = guard.Must(openLog(k.Dir()))
	for _, other := range k.From {
		guard.Check(k.take(k.log, s, other))
	}
	return k.log.records, nil
}

// HasModel reports whether the folder holds a readable model of this name.
func (k *sink) HasModel(name string) bool {
	_, err := loadFile(filepath.Join(k.Dir(), ModelDir, name), factor.LoadModel)
	return err == nil || errors.Is(err, factor.ErrNoModel)
}

// Put saves the model, if any, and then the record, if it is new.
func (k *sink) Put(rec *record.Record, model string, m *models.Model) (err error) {
	defer guard.Catch(&err)
	if model != "" {
		name := ModelDir + "/" + model
		var text bytes.Buffer
		guard.Check(guard.Wrap(m.Save(&text), "%s", filepath.Join(k.Dir(), filepath.FromSlash(name))))
		guard.Check(k.Write(name, text.Bytes()))
	}
	if _, known := k.log.records[rec.Trial]; known {
		return nil
	}
	guard.Check(k.Held()) // another process may write to the log
	return k.log.append(rec)
}

// saveLearned saves the learned parts of the models' features, if any: visual words, and the scales of joined features.
func (f *Folder) saveLearned(ctx context.Context, p *pipeline.Plan) (err error) {
	defer guard.Catch(&err)
	learned := guard.Must(p.Learned(ctx))
	if learned.Scales != nil {
		guard.Check(f.Write(ModelDir+"/"+ScalesFile, Scales(learned.Scales)))
	}
	if learned.Vocabulary != nil {
		var text bytes.Buffer
		guard.Check(learned.Vocabulary.Save(&text))
		guard.Check(f.Write(ModelDir+"/"+WordsFile, text.Bytes()))
	}
	return nil
}

const (
	// ModelDir is the folder of the saved models. Each method has one: of the first repeat, with the most classes and
	// the rank of the best mean score.
	ModelDir = "models"
	// WordsFile is the file in ModelDir of the visual words.
	WordsFile = "words.npz"
	// ScalesFile is the file in ModelDir of the scales of joined features.
	ScalesFile = "features.csv"
)

// Scales returns the text of a ScalesFile, a CSV file. Each line has a feature's name, its number of columns, and the
// factor of its values, as in the setting scale.
func Scales(scales []vectorfile.Columns) []byte {
	var text bytes.Buffer
	text.WriteString("feature,columns,scale\n")
	for _, s := range scales {
		fmt.Fprintf(&text, "%s,%d,%s\n", s.Name, s.Count, strconv.FormatFloat(s.Scale, 'g', -1, 64))
	}
	return text.Bytes()
}

// Models reads the saved models of the methods, in their order. A missing model is nil, an unreadable one an error.
func Models(dir string, s *pipeline.Summary) ([]factor.Model, []error) {
	return eachModel(dir, s, factor.LoadModel)
}

// Coefficients reads the coefficients of the saved models, n×k, in the order of the methods. Missing coefficients are nil.
// A file that cannot be read is an error, and so are coefficients whose rows are not the listed samples.
func Coefficients(dir string, s *pipeline.Summary) ([]*mat.Dense, []error) {
	all, errs := eachModel(dir, s, factor.LoadCoefficients)
	for i, v := range all {
		if v == nil || v.RawMatrix().Rows == len(s.Samples) {
			continue
		}
		if all[i] = nil; s.Samples != nil { // earlier versions listed none
			errs[i] = fmt.Errorf("%s has coefficients of %d samples, but %s lists %d",
				filepath.Join(dir, ModelDir, s.Models[i]), v.RawMatrix().Rows, SamplesFile, len(s.Samples))
		}
	}
	return all, errs
}

// eachModel reads each method's file of the summary. A missing file, or one without such a model, gives the zero value.
func eachModel[T any](dir string, s *pipeline.Summary, load func(io.ReaderAt, int64) (T, error)) ([]T, []error) {
	out, errs := make([]T, len(s.Methods)), make([]error, len(s.Methods))
	for i, name := range s.Models {
		if name == "" || name != filepath.Base(name) {
			continue
		}
		path := filepath.Join(dir, ModelDir, name)
		v, err := loadFile(path, load)
		switch {
		case err == nil:
			out[i] = v
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, factor.ErrNoModel):
			errs[i] = fmt.Errorf("%s cannot be read: %w", path, err)
		}
	}
	return out, errs
}

func loadFile[T any](path string, load func(io.ReaderAt, int64) (T, error)) (out T, err error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return out, err
	}
	return load(bytes.NewReader(text), int64(len(text)))
}
