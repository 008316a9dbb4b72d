package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
	"github.com/seed4492f2cd/partwise/report/table"
)

type clustering struct {
	groups        grouping.Groups
	count         spec.GroupCount
	links         spec.Links
	out           string
	by            string
	choosesMethod bool // the features choose the method
}

func clusterCommand() *cobra.Command {
	var c clustering
	var solver string
	e := &spec.Experiment{Features: spec.Features{Auto: true}, Cluster: spec.Cluster{Distance: cluster.DistanceCosine}}
	cmd := newCommand("cluster", func(cmd *cobra.Command, args []string) error {
		given := cmd.Flags().Changed
		e.Data.Set = args[0]
		fallback := grouping.DefaultMethod(e.Data.Labels != "")
		if c.by != "" {
			fallback.Name = spec.KMeans
		}
		var err error
		if c.groups.Method, err = oneMethod(cmd, fallback.Name, solver, 0); err != nil {
			return usageError{err}
		}
		if len(e.Rank) > 1 {
			return usageError{fmt.Errorf("--rank %s: cluster takes one rank", cmd.Flags().Lookup("rank").Value)}
		}
		if len(e.Rank) == 1 {
			c.groups.Rank = &e.Rank[0]
		}
		c.count, e.Cluster.K = e.Cluster.K, spec.GroupCount{}
		c.groups.UseLabels, c.groups.Cluster, c.groups.Seed = e.Data.Labels != "", e.Cluster, e.Seed
		c.choosesMethod = !given("method") && !given("rank") && solver == bestSolver && e.Cluster.By != spec.Largest
		if e.Data.OnDisk = given("batch"); e.Data.OnDisk {
			if !given("features") {
				e.Features = grouping.DefaultFeatures(true)
			}
			if err := c.groups.CheckBatch(e.Features); err != nil {
				return usageError{fmt.Errorf("--batch: %w", err)}
			}
		}
		if c.by != "" {
			if err := c.checkDays(); err != nil {
				return usageError{fmt.Errorf("--by %s: %w", c.by, err)}
			}
		}
		if c.out == "" {
			c.out = outFor(args[0], nameOf(args[0])+"-groups")
		}
		if err := checkOut(args[0], c.out); err != nil {
			return err
		}
		return c.run(cmd, e, commandLine(cmd, args))
	})
	f := cmd.Flags()
	addSettings(cmd, &e.Cluster, "k")
	f.Lookup("k").Usage = "groups: 10, 5..30 or auto (default: number of classes, else auto)"
	addSettings(cmd, &e.Data, "labels")
	linksFlag(f, &c.links.File)
	f.IntVar(&c.groups.MinSize, "min-size", 0, "smallest size of a group; other images make up the group Others")
	f.StringVar(&c.by, "by", "", "day: group the photos of each day by themselves, with -k groups each")
	addSettings(cmd, e, "methods", "features", "cluster", "rank", "seed")
	f.Lookup("method").Usage = "method, such as gnmf (default for photos: propagated-kmeans)"
	addDefault(cmd, "features", "by image size")
	addDefault(cmd, "cluster", "cosine k-means")
	f.Lookup("rank").Usage = "number of basis vectors: 20, k, k+1, 2k or auto (default 2k)"
	solverFlag(f, &solver)
	f.IntVar(&c.groups.Batch, "batch", 0, "learn from batches of this many samples (nmf and nmf-kl only)")
	f.StringVar(&c.out, "out", "", "results folder (default results/DIR-groups)")
	strictFlag(cmd)
	dataFlags(cmd, &e.Data)
	prepareFlags(cmd)
	timesFlag(cmd)
	return cmd
}

func (c *clustering) run(cmd *cobra.Command, e *spec.Experiment, command string) error {
	ctx, g := cmd.Context(), &c.groups
	if err := checkResults(cmd, e, c.out, report.GroupingFiles); err != nil {
		return err
	}
	folder, err := report.OpenGrouping(c.out, fromAnywhere(e.Data.Set), !cmd.Flags().Changed("out"))
	if err != nil {
		return err
	}
	defer folder.Close()
	in, err := prepare(cmd, e, input.PrepareOptions{Pictures: true}, func(set *datasets.Set) (err error) {
		if g.Links, err = input.ReadLinks(ctx, c.links, set); err != nil {
			return err
		}
		return g.CheckCountOf(c.count, set)
	})
	if err != nil {
		return err
	}
	defer in.Close()
	if c.choosesMethod && (in.OfNetwork() || in.HasNegative()) {
		g.Method = g.DefaultMethod(in.Inputs)
	}
	looked, err := in.pictures(cmd, folder.NotSame)
	if err != nil {
		return err
	}
	if looked != nil {
		g.Copies = looked.CopyOf
	}
	if c.by != "" {
		if looked == nil {
			return usageError{fmt.Errorf("--by %s: %s has no photos", c.by, e.Data.Set)}
		}
		g.K, g.Count, g.Parts = c.count.From, c.count, looked.Days()
		if c.count == (spec.GroupCount{}) || c.count.Auto || c.count.To != c.count.From {
			g.K, g.Count.Auto = 0, true
		}
	}
	ranks, rankNotes, err := chooseRank(cmd, in, func(show input.Progress) (*spec.RankChoice, error) { return g.ChooseRank(ctx, in.Inputs, show) })
	if err != nil {
		return err
	}
	var counts *grouping.CountCurve
	if g.Parts == nil {
		if counts, err = chooseCount(cmd, g, c.count, in); err != nil {
			return err
		}
	}
	printNotes(cmd, g.Notes(in.Inputs))
	warnings := append(input.Notes(e, in.Inputs, report.SkippedFile), g.Notes(in.Inputs)...)
	if in.Set.TimeFolders != nil {
		warnings = append(warnings, input.SubfoldersNote(in.Set))
	}
	found, err := withProgress(cmd, "factorising", func(show input.Progress) (*grouping.Grouping, error) {
		return g.Find(ctx, in.Inputs, show)
	})
	if err != nil {
		return err
	}
	printNotes(cmd, found.Notes)
	warnings = slices.Concat(warnings, found.Notes, rankNotes)
	page := c.page(in, e.Data, found)
	page.Command, page.Warnings, page.Counts, page.Ranks, page.Pictures = command, warnings, counts, ranks, looked
	page, err = withDrawing(cmd, func(to report.Sources) (report.Clusters, error) {
		return folder.Publish(ctx, in.Inputs, found, page, to)
	})
	if err != nil {
		return err
	}
	return printGroups(cmd, page, comparedWith(e.Data, found), c.out)
}

// checkDays rejects settings that --by does not support.
func (c *clustering) checkDays() error {
	switch {
	case c.by != "day":
		return fmt.Errorf("unknown part: expected day")
	case c.links.File != "":
		return fmt.Errorf("not with --links, which may join two days")
	}
	return c.groups.CheckParts()
}

func (c *clustering) page(in *inputs, data spec.Data, found *grouping.Grouping) report.Clusters {
	page, g := groupsPage(in, data), &c.groups
	page.Method, page.ByDay = g.Method.String(), c.by != ""
	set := func(key, value string) { page.Settings = append(page.Settings, [2]string{key, value}) }
	set("clustering", found.Cluster.String())
	set("seed", strconv.FormatUint(g.Seed, 10))
	if c.by != "" {
		set("grouped by", c.by)
	}
	if g.MinSize > 0 {
		set("smallest group", strconv.Itoa(g.MinSize))
	}
	if g.Batch > 0 {
		set("learned in batches of", fmt.Sprintf("%d samples", g.Batch))
	}
	if found.Scores != nil && (data.Truth != "" || found.GroupClasses != nil || found.Scored < len(found.Groups)) {
		set("compared with", comparedWith(data, found))
	}
	if found.Result != nil {
		set("rank", strconv.Itoa(found.Rank))
	}
	return page
}

func groupsPage(in *inputs, data spec.Data) report.Clusters {
	return report.Clusters{
		Name: in.Set.Name, Program: releaseVersion(buildInfo()), Opened: data,
		Settings: [][2]string{{"data", data.Set}, {"features", in.FeaturesText()}},
	}
}

// chooseRank prints the choice of choose, unless the rank is given, and notes about it.
func chooseRank(cmd *cobra.Command, in *inputs, choose func(input.Progress) (*spec.RankChoice, error)) (c *spec.RankChoice, notes []string, err error) {
	if c, err = withProgress(cmd, "choosing the rank", choose); c == nil || err != nil {
		return nil, nil, err
	}
	fmt.Fprintln(cmd.OutOrStdout(), c)
	if n, m := in.Dims(); c.AtLimit(min(n, m)) {
		notes = []string{c.AtLimitNote("")}
	}
	printNotes(cmd, notes)
	return c, notes, nil
}

func comparedWith(data spec.Data, found *grouping.Grouping) string {
	classes := "the classes"
	switch {
	case data.Truth != "":
		classes += " of " + data.Truth
	case found.GroupClasses != nil:
		classes = "the data's own classes"
	}
	switch {
	case found.GroupClasses != nil:
		return classes + ", over the unlabelled samples"
	case found.Scored < len(found.Groups):
		return fmt.Sprintf("%s, over the %d samples with a known class", classes, found.Scored)
	}
	return classes
}

func printGroups(cmd *cobra.Command, c report.Clusters, with, out string) error {
	w := cmd.OutOrStdout()
	sizes := make([]int, slices.Max(c.Groups)+1)
	for _, g := range c.Groups {
		sizes[g]++
	}
	fmt.Fprintf(w, "%s in %s of %s\n", c.Count(len(c.Groups)), phrase.Count(len(sizes), "group", "groups"), strings.ReplaceAll(strings.Trim(fmt.Sprint(sizes), "[]"), " ", ", "))
	var known []string
	for g, class := range c.GroupClasses {
		if class >= 0 {
			known = append(known, fmt.Sprintf("%q is group %d", c.Classes[class], g+1))
		}
	}
	if known != nil {
		plaintext.Fprintf(w, "labelled classes: %s\n", phrase.Some(known))
	}
	if c.Others {
		fmt.Fprintf(w, "Others, in no group: %s\n", c.Count(sizes[len(sizes)-1]))
	}
	found := false
	for _, s := range eval.Scores() {
		name := s.Name
		if c.GroupClasses != nil {
			name = s.OverUnlabelled().Name
		}
		if v, ok := c.Scores[name]; ok && s.Prominence == eval.Headline {
			if !found {
				plaintext.Fprintf(w, "agreement with %s:\n", with)
			}
			found = true
			help, _, _ := strings.Cut(strings.TrimSuffix(s.Help, "."), ":")
			fmt.Fprintf(w, "  %-3s %s  %s\n", s.Name, table.WithUnit(s, v, " "), strings.ToLower(help[:1])+help[1:])
		}
	}
	if remarks := report.PicturesFound(c.Pictures); remarks != "" {
		plaintext.Fprintf(w, "%s: see %s\n", remarks, filepath.Join(out, report.PicturesFile))
	}
	_, err := plaintext.Fprintf(w, "Groups as a table: %s\nGroups as a page: %s\n",
		filepath.Join(out, report.AssignmentsFile), filepath.Join(out, "index.html"))
	return err
}

// chooseCount chooses the number of groups. The curve is nil if the number is given.
func chooseCount(cmd *cobra.Command, g *grouping.Groups, k spec.GroupCount, in *inputs) (*grouping.CountCurve, error) {
	curve, err := withProgress(cmd, "choosing the number of groups", func(show input.Progress) (*grouping.CountCurve, error) {
		return g.ChooseCount(cmd.Context(), in.Inputs, k, show)
	})
	if curve != nil && err == nil {
		fmt.Fprintf(cmd.OutOrStdout(), "%d groups (chosen from %d–%d; change with -k)\n", g.K, curve.From, curve.To)
		if g.K == curve.To {
			fmt.Fprintf(cmd.OutOrStdout(), "%d is the largest number considered: there may be more groups\n", g.K)
		}
	}
	return curve, err
}
