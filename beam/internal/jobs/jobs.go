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
	"reflect"
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

// counters is the namespace of the counters of a job.
const counters = "partwise"

func count(ctx context.Context, name string, n int) {
	beam.NewCounter(counters, name).Inc(ctx, int64(n))
}

// run runs a pipeline on the runner of --runner and returns its counters.
func run(ctx context.Context, p *beam.Pipeline) (map[string]int64, error) {
	runner := *runners.Runner
	if runner == "" {
		runner = "prism"
	}
	if *jobopts.WorkerBinary == "" { // the SDK would compile one
		program, err := os.Executable()
		if err != nil {
			return nil, err
		}
		*jobopts.WorkerBinary = program
	}
	result, err := beam.Run(ctx, runner, p)
	if err != nil {
		if at := strings.LastIndex(err.Error(), "failed:\n"); at >= 0 { // the error of a step, below a plan and its stages
			err = errors.New(err.Error()[at+len("failed:\n"):])
		}
		return nil, cmp.Or(ctx.Err(), fmt.Errorf("runner %s: %w", runner, err))
	}
	found := map[string]int64{}
	if result == nil || reflect.ValueOf(result).IsNil() {
		return found, nil
	}
	ours := func(r beam.MetricResult) bool { return r.Namespace() == counters }
	for _, c := range result.Metrics().Query(ours).Counters() {
		found[c.Name()] += c.Result()
	}
	return found, nil
}
