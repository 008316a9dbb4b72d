// Package partwise groups images and runs experiments, like the program of the same name.
//
// [Cluster] puts the images of a folder into groups. [Run] runs an experiment, which compares
// methods. Both use the program's defaults. The packages below do single steps: datasets reads
// sets, features computes features, factor factorises, cluster clusters, eval scores, and report
// writes pages and tables.
//
// The package imports features/lite0, the default network for features of photos.
package partwise

import (
	"context"
	"fmt"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/features"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/matrix"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/record"
	"github.com/seed4492f2cd/partwise/pipeline/results"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// ClusterOptions are the options of Cluster. The zero value has the defaults of partwise cluster.
type ClusterOptions struct {
	// Data holds the settings for reading the set; Data.Set is ignored, and Data.Labels is a file
	// of given labels.
	Data spec.Data
	// Count is the number of groups. The zero value means the number of classes in the data.
	// Without classes, or with given labels, the number is chosen automatically.
	Count spec.GroupCount
	Links string // names a CSV file of pairs that share a group (must) or do not (cannot)
	// Features, Method, Cluster and Rank: nil means a default chosen from the data.
	Features *spec.Features
	Method   *spec.Method
	Cluster  *spec.Cluster
	Rank     *spec.Rank
	// Batch, if above 0, makes nmf and nmf-kl read blocks of Batch samples, so that the set need
	// not fit into memory.
	Batch int
	// Strict makes an unreadable image an error. Otherwise it is skipped.
	Strict   bool
	Seed     uint64
	Cache    features.Cache // Cache, if set, keeps features for the next call
	Progress input.Progress
}

// Clusters is the result of Cluster.
type Clusters struct {
	*grouping.Grouping
	Names   []string // the name of each sample, in the order of Groups
	Skipped []error  // an error for each skipped sample
	// ChosenCount and ChosenRank say how the numbers of groups and of basis vectors were chosen.
	// They are nil for given numbers.
	ChosenCount *grouping.CountCurve
	ChosenRank  *spec.RankChoice
}

// Cluster puts the samples of data, a folder of images, a file or a known set, into groups.
func Cluster(ctx context.Context, data string, opt ClusterOptions) (*Clusters, error) {
	e := &spec.Experiment{Data: opt.Data, Seed: opt.Seed, Features: grouping.DefaultFeatures(opt.Batch > 0)}
	e.Data.Set, e.Data.OnDisk = data, opt.Batch > 0
	if opt.Features != nil {
		e.Features = *opt.Features
	}
	e.Features.SkipBad = !opt.Strict
	labelled := e.Data.Labels != ""
	g := grouping.Groups{
		UseLabels: labelled, Method: grouping.DefaultMethod(labelled), Rank: opt.Rank,
		Cluster: spec.Cluster{Distance: cluster.DistanceCosine}, Seed: opt.Seed, Batch: opt.Batch,
	}
	if opt.Method != nil {
		g.Method = *opt.Method
	}
	if opt.Cluster != nil {
		g.Cluster = *opt.Cluster
	}
	if opt.Batch > 0 {
		if err := g.CheckBatch(e.Features); err != nil {
			return nil, err
		}
	}
	set, err := input.Open(ctx, e)
	if err != nil {
		return nil, err
	}
	if set.Files == nil {
		e.Features.SkipBad = false // a file of vectors is complete or wrong
	}
	if g.Links, err = input.ReadLinks(ctx, spec.Links{File: opt.Links}, set); err == nil {
		err = g.CheckCountOf(opt.Count, set)
	}
	if err != nil {
		set.Close()
		return nil, err
	}
	in, err := input.PrepareSet(ctx, e, set, input.PrepareOptions{
		Cache: opt.Cache, Pictures: true, InBlocks: opt.Batch > 0, Progress: opt.Progress,
	})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if opt.Method == nil && opt.Rank == nil {
		g.Method = g.DefaultMethod(in)
	}
	looked, err := in.Pictures(ctx, opt.Progress)
	if err != nil {
		return nil, err
	}
	if looked != nil {
		g.Copies = looked.CopyOf
	}
	out := &Clusters{Skipped: in.Skipped}
	if out.ChosenRank, err = g.ChooseRank(ctx, in, opt.Progress); err != nil {
		return nil, err
	}
	if out.ChosenCount, err = g.ChooseCount(ctx, in, opt.Count, opt.Progress); err != nil {
		return nil, err
	}
	if out.Grouping, err = g.Find(ctx, in, opt.Progress); err != nil {
		return nil, err
	}
	out.Names = matrix.Take(in.Set.Names, in.Rows)
	return out, nil
}

// RunOptions are the options of Run. They do not change any result.
type RunOptions struct {
	// Folder, if set, stores records and models. A later Run with this folder runs only the trials
	// that it lacks.
	Folder   string
	Workers  int            // the number of trials at once; 0 means one for each processor
	Cache    features.Cache // Cache, if set, keeps features for the next call
	Progress input.Progress
}

// Run runs an experiment on one set and returns the records of its trials. [spec.Load] reads an
// experiment file, and [spec.Experiment.Each] splits an experiment on several sets.
func Run(ctx context.Context, e *spec.Experiment, opt RunOptions) ([]record.Record, error) {
	if len(e.Sets) > 1 {
		return nil, fmt.Errorf("data: the experiment has %d sets; run each of Experiment.Each", len(e.Sets))
	}
	if err := e.Check(); err != nil {
		return nil, err
	}
	in, err := input.Prepare(ctx, e, input.PrepareOptions{Cache: opt.Cache, Progress: opt.Progress})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	plan, err := pipeline.NewPlan(ctx, e, in)
	if err != nil {
		return nil, err
	}
	run := pipeline.RunOptions{Workers: opt.Workers, Progress: opt.Progress}
	if opt.Folder == "" {
		return plan.Run(ctx, nil, run)
	}
	return results.Run(ctx, plan, opt.Folder, run)
}
