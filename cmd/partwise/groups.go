package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/explore"
	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/internal/textsearch"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/pipeline/grouping"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
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
		c.groups.Method = oneMethod(cmd, fallback.Name, solver, 0)
		if len(e.Rank) > 1 {
			failUsage("--rank %s: cluster takes one rank", cmd.Flags().Lookup("rank").Value)
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
			checkUse(guard.Wrap(c.groups.CheckBatch(e.Features), "--batch"))
		}
		if c.by != "" {
			checkUse(guard.Wrap(c.checkDays(), "--by %s", c.by))
		}
		if c.out == "" {
			c.out = outFor(args[0], nameOf(args[0])+"-groups")
		}
		checkOut(args[0], c.out)
		return c.run(cmd, e, invocationIn(cmd.Context()).shown(commandLine(cmd, args), "-"))
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
	f.IntVar(&c.groups.Batch, "batch", 0, "learn from batches of this many samples (nmf, nmf-kl, cnmf, cnmf-kl)")
	f.StringVar(&c.out, "out", "", "results folder (default results/DIR-groups), or .npz model")
	strictFlag(cmd)
	dataFlags(cmd, &e.Data)
	vectorFlags(cmd, &e.Data)
	prepareFlags(cmd)
	timesFlag(cmd)
	return withPasses(cmd, clusterInPasses)
}

func (c *clustering) run(cmd *cobra.Command, e *spec.Experiment, command string) error {
	ctx, g := cmd.Context(), &c.groups
	modelOnly := strings.EqualFold(filepath.Ext(c.out), ".npz")
	names := report.GroupingFiles
	if modelOnly {
		names = nil
	}
	checkResults(cmd, e, c.out, names)
	data := e.Data
	data.Set = invocationIn(ctx).shown(data.Set, "-")
	folder := new(report.GroupingFolder)
	if modelOnly {
		guard.Check(checkNewFiles(false, c.out))
	} else {
		folder = guard.Must(report.OpenGrouping(c.out, fromAnywhere(data.Set), !cmd.Flags().Changed("out")))
		defer folder.Close()
	}
	in := prepare(cmd, e, input.PrepareOptions{Pictures: true}, func(set *datasets.Set) (err error) {
		if g.Links, err = input.ReadLinks(ctx, c.links, set); err != nil {
			return err
		}
		return g.CheckCountOf(c.count, set)
	})
	defer in.Close()
	if c.choosesMethod && (in.OfNetwork() || in.HasNegative()) {
		g.Method = g.DefaultMethod(in.Inputs)
	}
	looked := in.pictures(cmd, folder.NotSame)
	if looked != nil {
		g.Copies = looked.CopyOf
	}
	if c.by != "" {
		if looked == nil {
			failUsage("--by %s: %s has no photos", c.by, e.Data.Set)
		}
		g.K, g.Count, g.Parts = c.count.From, c.count, looked.Days()
		if c.count == (spec.GroupCount{}) || c.count.Auto || c.count.To != c.count.From {
			g.K, g.Count.Auto = 0, true
		}
	}
	ranks, rankNotes := chooseRank(cmd, in, func(show input.Progress) (*spec.RankChoice, error) {
		return g.ChooseRank(ctx, in.Inputs, show)
	})
	var counts *grouping.CountCurve
	if g.Parts == nil {
		counts = chooseCount(cmd, g, c.count, in)
	}
	printNotes(cmd, g.Notes(in.Inputs))
	warnings := append(input.Notes(e, in.Inputs, report.SkippedFile), g.Notes(in.Inputs)...)
	if in.Set.TimeFolders != nil {
		warnings = append(warnings, input.SubfoldersNote(in.Set))
	}
	found := withProgress(cmd, "factorising", func(show input.Progress) (*grouping.Grouping, error) {
		return g.Find(ctx, in.Inputs, show)
	})
	printNotes(cmd, found.Notes)
	if modelOnly {
		m := guard.Must(found.Model(ctx, in.Inputs))
		guard.Check(writeFile(c.out, false, func(w io.Writer) error { return m.Save(atomicfile.UntilDone(ctx, w)) }))
		documentOf(cmd).Out = c.out
		return say(cmd, "The model is in %s: %s.\n", c.out, in.FeaturesText())
	}
	warnings = slices.Concat(warnings, found.Notes, rankNotes)
	page := c.page(in, data, found)
	page.Command, page.Warnings, page.Counts, page.Ranks, page.Pictures = command, warnings, counts, ranks, looked
	page = withDrawing(cmd, func(to report.Sources) (report.Clusters, error) {
		return folder.Publish(ctx, in.Inputs, found, page, to)
	})
	return printGroups(cmd, page, comparedWith(e.Data, found), c.out)
}

// checkDays rejects settings that --by does not support.
func (c *clustering) checkDays() (err error) {
	defer guard.Catch(&err)
	guard.FailIf(c.by != "day", "unknown part: expected day")
	guard.FailIf(c.links.File != "", "not with --links, which may join two days")
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
func chooseRank(cmd *cobra.Command, in *inputs, choose func(input.Progress) (*spec.RankChoice, error)) (c *spec.RankChoice, notes []string) {
	if c = withProgress(cmd, "choosing the rank", choose); c == nil {
		return nil, nil
	}
	documentOf(cmd).RankChoice = c
	fmt.Fprintln(cmd.OutOrStdout(), c)
	if n, m := in.Dims(); c.AtLimit(min(n, m)) {
		notes = []string{c.AtLimitNote("")}
	}
	printNotes(cmd, notes)
	return c, notes
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
	documentOf(cmd).Out = out
	documentOf(cmd).setGroups(c, sizes)
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
	if c.Stability != nil {
		fmt.Fprintf(w, "stability: %s\n", c.StabilityText())
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
func chooseCount(cmd *cobra.Command, g *grouping.Groups, k spec.GroupCount, in *inputs) *grouping.CountCurve {
	curve := withProgress(cmd, "choosing the number of groups", func(show input.Progress) (*grouping.CountCurve, error) {
		return g.ChooseCount(cmd.Context(), in.Inputs, k, show)
	})
	if curve != nil {
		documentOf(cmd).CountChoice = curve
		fmt.Fprintf(cmd.OutOrStdout(), "%d groups (chosen from %d–%d; change with -k)\n", g.K, curve.From, curve.To)
		if g.K == curve.To {
			fmt.Fprintf(cmd.OutOrStdout(), "%d is the largest number considered: there may be more groups\n", g.K)
		}
	}
	return curve
}

func exploreCommand() *cobra.Command {
	var port uint16
	var pictures, text string
	var noBrowser bool
	e := &spec.Experiment{}
	cmd := newCommand("explore", func(cmd *cobra.Command, args []string) error {
		return exploreGroups(cmd, e, args[0], pictures, text, int(port), !noBrowser && columns.IsTerminal(cmd.OutOrStdout()))
	})
	f := cmd.Flags()
	f.Uint16Var(&port, "port", 0, "port of the page; 0 chooses a free port")
	f.StringVar(&text, "text", "", "ONNX text encoder, beside tokenizer.json, to search by words")
	f.BoolVar(&noBrowser, "no-browser", false, "print the address without opening a browser")
	picturesFlag(f, &pictures)
	dataFlags(cmd, &e.Data)
	prepareFlags(cmd)
	return cmd
}

func exploreGroups(cmd *cobra.Command, e *spec.Experiment, dir, pictures, text string, port int, browse bool) error {
	ctx := cmd.Context()
	checkResults(cmd, e, dir, report.GroupingFiles)
	folder, data, err := report.ExploreGrouping(dir)
	guard.Check(err)
	defer folder.Close()
	m, file := readModel(ctx, dir)
	if m.Groups == nil {
		return fmt.Errorf("%s: the model has no groups; run partwise cluster first", file)
	}
	if data == "-" && pictures == "" {
		return fmt.Errorf("%s has groups of the standard input; set --pictures to a file with the same samples", dir)
	}
	var encoder *textsearch.Encoder
	if text != "" {
		encoder = openEncoder(ctx, m, text)
	}
	if !slices.ContainsFunc([]string{"pool", "from", "pattern", "truth", "no-classes"}, cmd.Flags().Changed) {
		root := e.Data.Root
		e.Data = m.Groups.Opened
		e.Data.Root = root
	}
	e.Data.Set, e.Features = cmp.Or(pictures, data), m.Features
	e.Features.SkipBad = true // as in the grouping; the model is compared with the samples
	opt := feedback.Options{Store: folder, Model: guard.Must(output.Sum(file)), Warn: warner(cmd)}
	var gone map[string]bool
	in := prepare(cmd, e, input.PrepareOptions{Pictures: true}, func(set *datasets.Set) error {
		gone, opt.Some = report.Gone(dir, set.Names)
		return m.Check(ctx, set)
	})
	defer in.Close()
	noteGone(cmd, gone, e.Data.Set)
	looked := in.pictures(cmd, folder.NotSame)
	if looked != nil {
		opt.Copies = looked.CopyOf
		if m.Groups.ByDay {
			opt.Days = looked.Days()
		}
	}
	session, err := feedback.Open(ctx, in.Inputs, m, opt)
	guard.Check(interruptedError(ctx, err, "grouping"))
	files := lists.Map(in.Rows, in.Set.File)
	var find func(text string) ([]int, error)
	if x, ok := in.X.(*mat.Dense); ok && encoder != nil {
		find = func(text string) ([]int, error) { return encoder.Search(x, text) }
	}
	closeBrowser := func() {}
	shown, page := dir, groupsPage(in, e.Data)
	page.Method, page.ByDay, page.Pictures = m.Method, m.Groups.ByDay, looked
	if opt.Some != nil { // the page of dir shows other photos
		shown = guard.Must(os.MkdirTemp("", "partwise-explore-*"))
		defer os.RemoveAll(shown)
		before := *in.Set // Grouping replaces the classes
		found := guard.Must(session.Grouping(ctx))
		withDrawing(cmd, func(to report.Sources) (report.Clusters, error) { return page.Draw(ctx, in.Inputs, found, shown, to) })
		*in.Set = before
	}
	err = explore.Run(ctx, session, shown, files, find, port, func(address string) error {
		err := say(cmd, "Page of the groups: %s\nTo save and stop, press Finish on the page or Ctrl-C here.\n", address)
		if err == nil && browse {
			closeBrowser = openBrowser(dir, address)
		}
		return err
	})
	closeBrowser()
	if err != nil && ctx.Err() == nil {
		return err
	}
	if !session.Changed() {
		return say(cmd, "No corrections: %s is unchanged.\n", dir)
	}
	// A further signal ends it at once; the corrections are already saved.
	return publishExplored(context.WithoutCancel(ctx), cmd, session, folder, in, page, dir)
}

// openEncoder opens a text encoder for the features of a model, which must come from the file of one network.
func openEncoder(ctx context.Context, m *models.Model, file string) *textsearch.Encoder {
	f := m.Features
	if n, _ := f.ExtractorOrPixels().(features.Network); !f.OfNetwork() || n.File == "" || f.Transductive() || cmp.Or(f.Power, 1) != 1 {
		guard.Fail("--text: the groups are by %s; expected the features of an ONNX model alone, as by partwise cluster --features network=image.onnx", f)
	}
	filesIn(ctx).addRead(file)
	return guard.Must(textsearch.Open(ctx, file, m.Columns))
}

func publishExplored(ctx context.Context, cmd *cobra.Command, session *feedback.Session, folder *report.GroupingFolder, in *inputs, page report.Clusters, dir string) error {
	found := guard.Must(session.Grouping(ctx))
	state := session.State()
	page.Settings = append(page.Settings,
		[2]string{"corrected by hand", fmt.Sprintf("%s, %s", phrase.Count(len(state.Labelled), "labelled image", "labelled images"), phrase.Count(len(state.Must)+len(state.Cannot), "link", "links"))},
		[2]string{"corrections", report.FeedbackFolder + feedback.LogFile})
	compared := comparedWith(page.Opened, found)
	if found.Scores != nil {
		page.Settings = append(page.Settings, [2]string{"compared with", compared})
	}
	page = withDrawing(cmd, func(to report.Sources) (report.Clusters, error) {
		to.Published = func() error {
			sum, err := output.Sum(filepath.Join(dir, report.ModelFile))
			if err != nil {
				return err
			}
			return session.Finished(sum)
		}
		return folder.Publish(ctx, in.Inputs, found, page, to)
	})
	return printGroups(cmd, page, compared, dir)
}

// openBrowser opens an address in the user's browser, if there is one. The arguments of programs are public and must
// not hold the address, so the browser gets a private file that redirects to it. The file is in dir, because some
// browsers cannot read temporary folders. remove deletes it.
func openBrowser(dir, address string) (remove func()) {
	f, err := os.CreateTemp(dir, ".partwise-open-*.html") // readable by this user only
	if err != nil {
		return func() {}
	}
	path := f.Name()
	remove = func() { _ = os.Remove(path) }
	_, err = fmt.Fprintf(f, `<!DOCTYPE html><meta charset="utf-8"><title>partwise explore</title>
<meta http-equiv="refresh" content="0; url=%s"><p><a href="%[1]s">The groups</a></p>
`, address)
	if err2 := f.Close(); err != nil || err2 != nil {
		return remove
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	if cmd := exec.Command(name, args...); cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
	return remove
}
