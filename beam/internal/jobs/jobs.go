// Package jobs runs the commands of partwise on shards as Apache Beam pipelines. Elements are names of shards: workers read
// and write the files. A retried bundle writes the same bytes.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/gcpopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/dataflow" // the runners of --runner
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
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

// ErrDryRun is the error of a job that was printed instead of submitted.
var ErrDryRun = errors.New("dry run")

// needed lists the flags that a runner cannot do without.
var needed = map[string][]string{
	"prism": nil, "flink": {"endpoint"}, "spark": {"endpoint"}, "portable": {"endpoint"}, "dataflow": {"project", "region", "staging_location"},
}

// Check refuses flags of Beam with which no job can end. Nothing is written before. Dataflow reads and writes buckets:
// its workers have none of the files of this machine, as out and the arguments are.
func Check(ctx context.Context, out string, args []string) error {
	name := strings.TrimSuffix(strings.ToLower(cmp.Or(*runners.Runner, "prism")), "runner")
	flags, known := needed[name]
	switch {
	case !known:
		return fmt.Errorf("--runner %q: expected %s", *runners.Runner, strings.Join(slices.Sorted(maps.Keys(needed)), ", "))
	case *jobopts.Async || value("template_location") != "":
		return errors.New("partwise-beam waits for its jobs: --async, --execute_async and --template_location are not possible")
	case value("dry_run") == "true" && name != "dataflow":
		return fmt.Errorf("--dry_run: runner %s cannot print a job; dataflow can", name)
	case name == "dataflow" && value("environment_type") != "" && !strings.EqualFold(value("environment_type"), "DOCKER"):
		return fmt.Errorf("--environment_type %q: Dataflow has DOCKER only", value("environment_type"))
	case value("sdk_container_image") != "" && value("worker_harness_container_image") != "":
		return errors.New("--worker_harness_container_image is another name of --sdk_container_image: expected one of them")
	}
	*runners.Runner = name
	if name == "dataflow" { // the environment and the configuration of gcloud stand in for flags
		*gcpopts.Project, *gcpopts.Region = gcpopts.GetProjectFromFlagOrEnvironment(ctx), gcpopts.GetRegion(ctx)
	}
	for _, f := range flags {
		if value(f) == "" {
			return fmt.Errorf("--runner %s needs --%s", name, f)
		}
	}
	for _, path := range append(args, out) {
		if _, err := os.Stat(path); name == "dataflow" && !strings.Contains(path, "://") && (err == nil || path == out) {
			return fmt.Errorf("%s: the workers of Dataflow cannot use files of this machine; expected gs://BUCKET/KEY", path)
		}
	}
	return nil
}

// value returns the text of a flag of Beam.
func value(name string) string { return flag.Lookup(name).Value.String() }

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
	path := strings.TrimPrefix(url, "file://")
	if strings.Contains(path, "://") {
		return nil
	}
	return os.MkdirAll(path, 0o777)
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
	runner := cmp.Or(*runners.Runner, "prism") // tests do not call Check
	if _, err := beam.Run(ctx, runner, p); err != nil {
		if at := strings.LastIndex(err.Error(), "failed:\n"); at >= 0 { // the error of a step, below a plan and its stages
			err = errors.New(err.Error()[at+len("failed:\n"):])
		}
		return cmp.Or(ctx.Err(), fmt.Errorf("runner %s: %w", runner, err))
	}
	if value("dry_run") == "true" {
		return ErrDryRun
	}
	return nil
}
