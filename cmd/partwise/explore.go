package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/spf13/cobra"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/explore"
	"github.com/seed4492f2cd/partwise/internal/files/output"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/text/phrase"
	"github.com/seed4492f2cd/partwise/internal/textsearch"
	"github.com/seed4492f2cd/partwise/pipeline/feedback"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

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
	if err := checkResults(cmd, e, dir, report.GroupingFiles); err != nil {
		return err
	}
	folder, data, err := report.ExploreGrouping(dir)
	if err != nil {
		return err
	}
	defer folder.Close()
	m, file, err := readModel(ctx, dir)
	if err != nil {
		return err
	}
	if m.Groups == nil {
		return fmt.Errorf("%s: the model has no groups; run partwise cluster first", file)
	}
	var encoder *textsearch.Encoder
	if text != "" {
		if encoder, err = openEncoder(ctx, m, text); err != nil {
			return err
		}
	}
	if !slices.ContainsFunc([]string{"pool", "from", "pattern", "truth", "no-classes"}, cmd.Flags().Changed) {
		root := e.Data.Root
		e.Data = m.Groups.Opened
		e.Data.Root = root
	}
	e.Data.Set, e.Features = cmp.Or(pictures, data), m.Features
	e.Features.SkipBad = true // as in the grouping; the model is compared with the samples
	in, err := prepare(cmd, e, input.PrepareOptions{Pictures: true}, func(set *datasets.Set) error { return m.Check(ctx, set) })
	if err != nil {
		return err
	}
	defer in.Close()
	looked, err := in.pictures(cmd, folder.NotSame)
	if err != nil {
		return err
	}
	opt := feedback.Options{Store: folder.Feedback()}
	if looked != nil {
		opt.Copies = looked.CopyOf
		if m.Groups.ByDay {
			opt.Days = looked.Days()
		}
	}
	session, err := openSession(ctx, in, m, file, opt)
	if err != nil {
		return err
	}
	files := lists.Map(in.Rows, in.Set.File)
	var find func(text string) ([]int, error)
	if x, ok := in.X.(*mat.Dense); ok && encoder != nil {
		find = func(text string) ([]int, error) { return encoder.Search(x, text) }
	}
	closeBrowser := func() {}
	err = explore.Run(ctx, session, dir, files, find, port, func(address string) error {
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
	page := groupsPage(in, e.Data)
	page.Method, page.ByDay, page.Pictures = m.Method, m.Groups.ByDay, looked
	// A further signal ends it at once; the corrections are already saved.
	return publishExplored(context.WithoutCancel(ctx), cmd, session, folder, in, page, dir)
}

// openEncoder opens a text encoder for the features of a model, which must come from the file of one network.
func openEncoder(ctx context.Context, m *models.Model, file string) (*textsearch.Encoder, error) {
	f := m.Features
	if n, _ := f.ExtractorOrPixels().(features.Network); !f.OfNetwork() || n.File == "" || f.Transductive() || cmp.Or(f.Power, 1) != 1 {
		return nil, fmt.Errorf("--text: the groups are by %s; expected the features of an ONNX model alone, as by partwise cluster --features network=image.onnx", f)
	}
	if err := filesIn(ctx).Reads(file); err != nil {
		return nil, err
	}
	return textsearch.Open(ctx, file, m.Columns)
}

// openSession opens the corrections of the model in a file, with the labels and links of its groups.
func openSession(ctx context.Context, in *inputs, m *models.Model, file string, opt feedback.Options) (*feedback.Session, error) {
	var err error
	if opt.Model, err = sumOfFile(file); err != nil {
		return nil, err
	}
	dir := filepath.Dir(file)
	if opt.Labels, err = in.Set.ReadClasses(filepath.Join(dir, report.LabelsFile)); err == nil || errors.Is(err, fs.ErrNotExist) {
		opt.Links, err = input.ReadLinks(ctx, spec.Links{File: filepath.Join(dir, report.LinksFile)}, in.Set)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	session, err := feedback.Open(ctx, in.Inputs, m, opt)
	return session, interruptedError(ctx, err, "grouping")
}

func publishExplored(ctx context.Context, cmd *cobra.Command, session *feedback.Session, folder *report.GroupingFolder, in *inputs, page report.Clusters, dir string) error {
	found, err := session.Grouping(ctx)
	if err != nil {
		return err
	}
	state := session.State()
	page.Settings = append(page.Settings,
		[2]string{"corrected by hand", fmt.Sprintf("%s, %s", phrase.Count(len(state.Labelled), "labelled image", "labelled images"), phrase.Count(len(state.Must)+len(state.Cannot), "link", "links"))},
		[2]string{"corrections", report.FeedbackFolder + feedback.LogFile})
	compared := comparedWith(page.Opened, found)
	if found.Scores != nil {
		page.Settings = append(page.Settings, [2]string{"compared with", compared})
	}
	page, err = withDrawing(cmd, func(to report.Sources) (report.Clusters, error) {
		to.Published = func() error {
			sum, err := sumOfFile(filepath.Join(dir, report.ModelFile))
			if err != nil {
				return err
			}
			return session.Finished(sum)
		}
		return folder.Publish(ctx, in.Inputs, found, page, to)
	})
	if err != nil {
		return err
	}
	return printGroups(cmd, page, compared, dir)
}

func sumOfFile(path string) (string, error) {
	text, err := output.ReadFile(path)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", sha256.Sum256(text)), nil
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
