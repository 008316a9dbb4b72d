package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/internal/output"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/pipeline"
	"github.com/seed4492f2cd/partwise/report"
	"github.com/seed4492f2cd/partwise/report/table"
)

func clusterCommand() *cobra.Command {
	var out, method, solver, clustering, features, rank, links string
	var k groupCount
	var batch int
	var seed uint64
	var data pipeline.Data
	cmd := &cobra.Command{
		Use:   "cluster DIR",
		Short: "Put the pictures of a folder into groups that go together",
		Long: `Cluster puts the pictures of a folder, or the samples of a file or known set,
into groups that go together. It writes which sample is in which group, the
parts that were learned, and a page with all pictures to look at.

Where the classes of some pictures are known, --labels tells them: each class has
a group of its own, in which all pictures of it are that the file names.
With --links pairs of pictures are told that belong together (must), which share a group,
and pairs that do not (cannot), which never do. Both files hold in every grouping, whatever
the method; what contradicts itself is an error before a picture is read.
Where the folder has a subfolder for each class, the groups are compared with
the classes; the method is not told of them. Pictures beside the subfolders have no
class, and are grouped with the others. --pattern finds the classes in the names of the
files, --truth reads them from a file, and --no-classes takes no subfolder for a class.
Subfolders that dates or cameras name (2019-05 Trip, 100CANON, Camera Roll) are no classes;
with --pool they are. The first line says how subfolders were read.

Photographs, of 64 pixels or more in width and height, are compared by the features
of a network that is built in, and grouped by k-means, or guided k-means with
--labels or --links. Where most pictures are smaller they are compared by their colours, and
nmf, or cnmf with --labels, finds parts of these first. --features says otherwise, as in sift,power=0.5+colour,grid=2x2,weight=0.2
for visual words and colours: what it leaves out is as in an experiment file, so that
pixels=32 alone is grey.

With --batch samples need not fit into memory: nmf and nmf-kl learn from blocks of so
many, which are read of a folder of images, an IDX file or a NumPy .npy file in each of
ten epochs, and pictures of any size are compared by their colours.`,
		Example: `  partwise cluster photos -k 10
  partwise cluster photos -k 10 --labels labels.csv
  partwise cluster photos -k 10 --truth labels.csv
  partwise cluster photos --pattern '{class}-*'
  partwise cluster photos -k 10 --no-classes
  partwise cluster photos -k 10 --labels labels.csv --links links.csv
  partwise cluster generated --method gnmf,lambda=10
  partwise cluster photos -k 10 --batch 1000 --features pixels=64`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			e := &pipeline.Experiment{}
			e.Features.Auto = true // unless --features says what they are
			e.Data, e.Seed = data, seed
			e.Data.Set = args[0]
			e.Cluster.Distance = cluster.DistanceCosine // unless --cluster says otherwise
			unsaid := method == "" && rank == "" && solver == bestSolver
			if method == "" {
				if method = defaultMethod; data.Labels != "" {
					method = defaultLabelledMethod
				}
			}
			if solver != bestSolver {
				if _, ok := factor.LookupSolver(solver); !ok {
					return usageError{fmt.Errorf("--solver %q: there is no such solver; partwise list solvers lists them, and %s is the best of them that serves", solver, bestSolver)}
				}
				method += ",solver=" + solver
			}
			err := setMethods(e, []string{method})
			for _, v := range []struct{ key, value string }{{"features", features}, {"cluster", clustering}, {"rank", rank}} {
				if err == nil && v.value != "" {
					err = setKey(e, v.key, v.value)
				}
			}
			if err == nil && e.Cluster.K != (pipeline.GroupCount{}) {
				err = fmt.Errorf("--cluster %s: say the number of groups with -k %s", clustering, e.Cluster.K)
			}
			if err == nil && len(e.Rank) > 1 {
				err = fmt.Errorf("--rank %s: groups are found with one rank", rank)
			}
			if err == nil && len(e.Methods) != 1 {
				err = fmt.Errorf("--method %q: groups are found by one method with one setting", method)
			}
			if err != nil {
				return usageError{err}
			}
			if cmd.Flags().Changed("batch") {
				if e.Data.OnDisk = true; features == "" {
					e.Features = pipeline.Features{Extractor: colours}
				}
			}
			if out == "" {
				name, err := nameOf(args[0])
				if err != nil {
					return err
				}
				out = outFor(args[0], name+"-groups")
			}
			if err := checkOut(args[0], out); err != nil {
				return err
			}
			g := pipeline.Groups{K: k.number, Method: e.Methods[0], UseLabels: data.Labels != "", Cluster: e.Cluster, Seed: e.Seed, Batch: batch}
			if len(e.Rank) == 1 {
				g.Rank = &e.Rank[0]
			}
			if e.Data.OnDisk {
				if err := g.CheckBatch(e.Features); err != nil {
					return usageError{fmt.Errorf("--batch: %w", err)}
				}
			}
			return findGroups(cmd, e, g, k, links, unsaid && g.Cluster.By != pipeline.Largest, out, commandLine(cmd, args))
		},
	}
	f := cmd.Flags()
	f.VarP(&k, "k", "k", "number of groups, or auto, or a range such as 5..30 to choose from (default the number of classes that the data have, without --labels, and else auto)")
	labelsFlag(f, &data)
	f.StringVar(&links, "links", "", "CSV file of pairs, two file names and must or cannot in each line")
	f.StringVar(&method, "method", "", "method with its settings (default "+defaultMethod+", or "+defaultLabelledMethod+" with --labels, and k-means for photographs and values below 0); see partwise methods")
	f.StringVar(&solver, "solver", bestSolver, "what lowers the method's objective; best is fast, where that serves the method, until little changes; see partwise list solvers")
	f.StringVar(&features, "features", "", "as in pixels=32,colour=true,normalise=l2,crop=square or sift=dense,words=200, several with + between them as in sift+colour (default what suits the pictures)")
	f.StringVar(&clustering, "cluster", "", "as in by=ncut or distance=euclidean,restarts=20 (default k-means, cosine distance)")
	f.StringVar(&rank, "rank", "", "number of basis vectors: k, k+1, 2k, a number, or auto, as in auto or among=2..60,by=stability (default 2k)")
	f.Uint64Var(&seed, "seed", 0, "seed of all random choices")
	f.IntVar(&batch, "batch", 0, "learn from blocks of so many samples, which need not fit into memory together; for nmf and nmf-kl")
	f.StringVar(&out, "out", "", "folder of the results (default results/DIR-groups, beside the pictures where the program is started among them)")
	strictFlag(cmd)
	dataFlags(cmd, &data)
	prepareFlags(cmd)
	timesFlag(cmd)
	return cmd
}

// outFor returns where results of data go unless somebody says it: results/NAME, and
// where that is among the pictures the same beside their folder.
func outFor(data, name string) string {
	out := filepath.Join("results", name)
	if inside, err := output.Inside(data, out); err != nil || !inside {
		return out
	}
	folder, err := output.Resolve(data)
	if err != nil {
		return out
	}
	beside := filepath.Join(filepath.Dir(folder), out)
	if here, err := output.Resolve("."); err == nil {
		if below, err := filepath.Rel(here, beside); err == nil {
			return below
		}
	}
	return beside
}

// fromAnywhere returns the name of data as results keep it: a path such as .. as an absolute
// one, since sort looks for the pictures from other folders too.
func fromAnywhere(data string) string {
	if filepath.IsLocal(data) && filepath.Clean(data) != "." || strings.HasPrefix(data, catalogue.SetPrefix) {
		return data
	}
	if abs, err := filepath.Abs(data); err == nil {
		return abs
	}
	return data
}

// checkOut refuses results in a folder of the data, which would be taken for
// pictures the next time.
func checkOut(data, out string) error {
	inside, err := output.Inside(data, out)
	if err != nil {
		return usageError{err}
	}
	if !inside {
		return nil
	}
	err = fmt.Errorf("the results would go to %s, among the pictures; say with --out where else", out)
	if folder, e := output.Resolve(data); e == nil {
		other := filepath.Join(filepath.Dir(folder), "results", filepath.Base(out))
		if inside, e := output.Inside(folder, other); e == nil && !inside {
			err = fmt.Errorf("%w, as in --out %s", err, quote(other))
		}
	}
	return usageError{err}
}

// What cluster does unless it is told otherwise.
const (
	defaultMethod         = "nmf"
	defaultLabelledMethod = "cnmf"
	bestSolver            = "best"
)

// onFeatures is the method for features that need no factorisation to be grouped, or
// cannot be factorised by the default one: those of a network, and values below 0.
func onFeatures(told bool) string {
	if told {
		return "guided-kmeans"
	}
	return pipeline.KMeans
}

// findGroups puts the data into groups. Where no method is said, it is chosen by the features.
func findGroups(cmd *cobra.Command, e *pipeline.Experiment, g pipeline.Groups, k groupCount, links string, unsaid bool, out, command string) error {
	ctx, stderr := cmd.Context(), cmd.ErrOrStderr()
	if err := checkResults(cmd, e, out, report.GroupingFiles); err != nil {
		return err
	}
	folder, err := report.OpenGrouping(out, fromAnywhere(e.Data.Set), !cmd.Flags().Changed("out"))
	if err != nil {
		return err
	}
	defer folder.Close()
	in, err := prepare(cmd, e, func(set *datasets.Set) error {
		if links != "" {
			l, err := set.ReadLinks(ctx, links)
			if err != nil {
				return err
			}
			g.Links = *l
		}
		return k.check(g, set)
	}, func(opt *pipeline.PrepareOptions) { opt.Pictures = true })
	if err != nil {
		return err
	}
	defer in.Close()
	if unsaid && (in.Features.OfNetwork() || in.HasNegative()) {
		g.Method = pipeline.Method{Name: cmp.Or(g.Cluster.By, onFeatures(g.UseLabels || !g.Links.None()))}
	}
	comparing := &stages{w: stderr}
	looked, err := in.Pictures(ctx, comparing.show)
	comparing.end()
	if err != nil {
		return stopped(ctx, err, "comparing pictures", in.kept())
	}
	if looked != nil {
		g.Copies = looked.CopyOf
	}
	chosen, err := chooseRank(cmd, &g, in)
	if err != nil {
		return err
	}
	counts, err := k.choose(cmd, &g, in)
	if err != nil {
		return err
	}
	tellNotes(stderr, g.Notes(in.Inputs))
	warnings := append(e.Notes(in.Inputs, report.SkippedFile), g.Notes(in.Inputs)...)
	if in.Set.TimeFolders != nil {
		warnings = append(warnings, pipeline.SubfoldersNote(in.Set))
	}
	working := &stages{w: stderr}
	working.begin("grouping")
	found, err := g.Find(ctx, in.Inputs, working.show)
	working.end()
	if err != nil {
		return stopped(ctx, err, "factorising", in.kept())
	}
	tellNotes(stderr, found.Notes)
	warnings = append(warnings, found.Notes...)
	if n, m := in.Dims(); chosen != nil && chosen.AtLimit(min(n, m)) {
		warnings = append(warnings, chosen.AtLimitNote(""))
	}
	drawing := newBar(stderr, "drawing")
	c := report.Clusters{
		Name: in.Set.Name, Command: command, Program: releaseVersion(buildInfo()), Opened: e.Data, Method: g.Method.String(), Warnings: warnings, Counts: counts, Ranks: chosen, Pictures: looked,
		Settings: [][2]string{
			{"data", e.Data.Set},
			{"features", in.FeaturesText()},
			{"clustering", found.Cluster.String()},
			{"seed", strconv.FormatUint(uint64(g.Seed), 10)},
		},
	}
	if g.Batch > 0 {
		c.Settings = append(c.Settings, [2]string{"learned from blocks of", fmt.Sprintf("%d samples", g.Batch)})
	}
	if found.Scores != nil && (e.Data.Truth != "" || found.GroupClasses != nil || found.Scored < len(found.Groups)) {
		c.Settings = append(c.Settings, [2]string{"compared with", comparedWith(e.Data, found)})
	}
	if found.Result != nil {
		c.Settings = append(c.Settings, [2]string{"rank", strconv.Itoa(found.Rank)})
	}
	c, err = folder.Publish(ctx, in.Inputs, found, c, report.Sources{Warn: tell(stderr), Progress: drawing.count})
	drawing.end()
	if err != nil {
		return stopped(ctx, err, "drawing", out+" is as it was, "+in.kept())
	}
	return tellGroups(cmd, c, comparedWith(e.Data, found), out)
}

// chooseRank chooses the number of basis vectors where it is to be chosen, and says so. It
// returns nil where it is told, or where there are none.
func chooseRank(cmd *cobra.Command, g *pipeline.Groups, in *inputs) (*pipeline.RankChoice, error) {
	if g.Rank == nil || g.Rank.Auto == nil || pipeline.OnFeatures(g.Method.Name) {
		return nil, nil
	}
	c, err := autoRank(cmd, *g.Rank.Auto, in, g.Seed)
	if err == nil {
		g.Rank = &pipeline.Rank{Fixed: true, Plus: c.Rank}
	}
	return c, err
}

// autoRank chooses the rank of the inputs, and says so.
func autoRank(cmd *cobra.Command, auto pipeline.AutoRank, in *inputs, seed uint64) (*pipeline.RankChoice, error) {
	working := &stages{w: cmd.ErrOrStderr()}
	c, err := auto.ChooseRank(cmd.Context(), in.Inputs, seed, working.show)
	working.end()
	if err != nil {
		return nil, stopped(cmd.Context(), err, "choosing the rank", in.kept())
	}
	fmt.Fprintln(cmd.OutOrStdout(), c)
	if n, m := in.Dims(); c.AtLimit(min(n, m)) {
		tell(cmd.ErrOrStderr())(c.AtLimitNote(""))
	}
	return c, nil
}

// comparedWith says what the groups were compared with.
func comparedWith(data pipeline.Data, found *pipeline.Grouping) string {
	classes := "the classes"
	switch {
	case data.Truth != "":
		classes += " of " + data.Truth
	case found.GroupClasses != nil:
		classes = "the data's own classes"
	}
	switch {
	case found.GroupClasses != nil:
		return classes + ", over the samples whose class was not told"
	case found.Scored < len(found.Groups):
		return fmt.Sprintf("%s, over the %d samples whose class is known", classes, found.Scored)
	}
	return classes
}

func tellGroups(cmd *cobra.Command, c report.Clusters, with, out string) error {
	w := cmd.OutOrStdout()
	size := map[int]int{}
	for _, g := range c.Groups {
		size[g]++
	}
	fmt.Fprintf(w, "%d samples in %d groups:", len(c.Groups), len(size))
	for g := range len(size) {
		fmt.Fprintf(w, " %d", size[g])
	}
	fmt.Fprintln(w)
	var known []string
	for g, class := range c.GroupClasses {
		if class >= 0 {
			known = append(known, fmt.Sprintf("%s in group %d", c.Classes[class], g+1))
		}
	}
	if known != nil {
		plaintext.Fprintf(w, "classes told: %s\n", strings.Join(known, ", "))
	}
	var scores []string
	for _, s := range eval.Scores() {
		name := s.Name
		if c.GroupClasses != nil {
			name = s.OverUnlabelled().Name
		}
		if v, ok := c.Scores[name]; ok && s.Prominence == eval.Headline {
			scores = append(scores, s.Name+" "+table.WithUnit(s, v, " "))
		}
	}
	if scores != nil {
		plaintext.Fprintf(w, "compared with %s: %s\n", with, strings.Join(scores, ", "))
	}
	if told := report.PicturesFound(c.Pictures); told != "" {
		plaintext.Fprintf(w, "%s; see %s\n", told, filepath.Join(out, report.PicturesFile))
	}
	_, err := plaintext.Fprintf(w, "Which sample is in which group is in %s; to look at them open %s.\n",
		filepath.Join(out, report.AssignmentsFile), filepath.Join(out, "index.html"))
	return err
}
