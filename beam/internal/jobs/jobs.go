// Package jobs runs the commands of partwise on shards as Apache Beam pipelines. Elements are names of shards: workers read
// and write the files. A retried bundle writes the same bytes.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink" // the runners of --runner
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/spark"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
)

func init() {
	// The generic functions of package register would save reflection, which is nothing beside a shard, and take a minute to compile.
	for _, f := range []any{&Shard{}, &Pass{}, &Add{}, &Update{}, &Publish{}, &Examine{}, &Enter{}, &Meet{}, &Choose{}, &Verify{}, &Links{}} {
		beam.RegisterDoFn(f)
	}
}

// Init starts Beam, after the flags are parsed. Its messages are dropped unless verbose is set: errors are returned.
func Init(verbose bool) {
	beam.Init()
	if !verbose {
		slog.SetDefault(slog.New(slog.DiscardHandler))
	}
}

// inFolder calls a function with a temporary folder.
func inFolder(do func(dir string) error) error {
	dir, err := os.MkdirTemp("", "partwise-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	return do(dir)
}

// makeFolder makes a folder, which object storage does not have.
func makeFolder(url string) error {
	if strings.Contains(url, "://") {
		return nil
	}
	return os.MkdirAll(url, 0o777)
}

// shardsOf returns the names of n shards, such as 3/64.
func shardsOf(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = vectorfile.Shard{Index: i, Of: n}.String()
	}
	return names
}

// eachShard returns a pipeline that runs a step on each of n shards.
func eachShard(step any, n int) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, step, beam.Reshuffle(s, beam.CreateList(s, shardsOf(n))))
	return p
}

// before is called with each element. Tests replace it by failures.
var before = func(name string) error { return nil }

// run runs a pipeline on the runner of --runner.
func run(ctx context.Context, p *beam.Pipeline) error {
	if *jobopts.WorkerBinary == "" { // the SDK would compile one
		program, err := os.Executable()
		if err != nil {
			return err
		}
		*jobopts.WorkerBinary = program
	}
	runner := cmp.Or(*runners.Runner, "prism")
	if _, err := beam.Run(ctx, runner, p); err != nil {
		if at := strings.LastIndex(err.Error(), "failed:\n"); at >= 0 { // the error of a step, below a plan and its stages
			err = errors.New(err.Error()[at+len("failed:\n"):])
		}
		return cmp.Or(ctx.Err(), fmt.Errorf("runner %s: %w", runner, err))
	}
	return nil
}
