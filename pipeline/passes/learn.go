package passes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// sampledRows is the number of rows from which a method in passes starts.
const sampledRows = 10_000

// Learner learns a method from shards. It saves the state after each round, and continues from the saved state.
type Learner struct {
	Method  spec.Method
	Run     Run
	Paths   []string // of the shards
	Sample  []string // local files of Sampled(Paths); nil if Paths are local
	Out     string   // the file of the state
	Passes  int      // the largest number of passes
	Force   bool     // replace a file of other settings
	Program string   // the version of the program
	// Round runs one pass or more, and writes the next state to Out.
	Round  func(ctx context.Context, s *State) (*State, error)
	Report func(*State) error
}

// Learn learns until convergence or the largest number of passes.
func (l *Learner) Learn(ctx context.Context) (err error) {
	defer guard.Catch(&err)
	s, err := ReadFile(ctx, l.Out)
	switch {
	case err == nil && !l.Force:
		if !s.Continues(l.Method, l.Run, len(l.Paths)) {
			return fmt.Errorf("%s is of other settings or shards; --force replaces it", l.Out)
		}
	case !l.Force && !errors.Is(err, fs.ErrNotExist):
		return &fs.PathError{Op: "write", Path: l.Out, Err: fs.ErrExist}
	default:
		s = guard.Must(l.start(ctx))
	}
	for !s.Done && s.Passes < l.Passes {
		if s, err = l.Round(ctx, s); err == nil {
			err = l.Report(s)
		}
		guard.Check(err)
	}
	return nil
}

func (l *Learner) start(ctx context.Context) (_ *State, err error) {
	defer guard.Catch(&err)
	paths := l.Sample
	if paths == nil {
		paths = Sampled(l.Paths)
	}
	sample := guard.Must(Draw(ctx, paths, spec.Features{Normalise: features.NormNone}, max(sampledRows, 10*l.Run.Rank)))
	defer sample.Close()
	s := guard.Must(Start(ctx, l.Method, l.Run, sample, len(l.Paths)))
	s.Model.Program, s.Model.Data = l.Program, filepath.Base(filepath.Dir(l.Paths[0]))
	return s.WriteFile(l.Out, l.Force)
}

// WriteFile writes the state and returns it with the digest of its file.
func (s *State) WriteFile(path string, replace bool) (*State, error) {
	var text bytes.Buffer
	if err := s.Save(&text); err != nil {
		return nil, err
	}
	write := atomicfile.CreateFunc
	if replace {
		write = atomicfile.WriteFunc
	}
	s.Digest = DigestOf(text.Bytes())
	return s, write(path, func(w io.Writer) error { _, err := w.Write(text.Bytes()); return err })
}
