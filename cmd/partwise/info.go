package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/seed4492f2cd/partwise/datasets/catalogue"
	"github.com/seed4492f2cd/partwise/internal/columns"
	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/jsontext"
	"github.com/seed4492f2cd/partwise/internal/licences"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/plaintext"
	"github.com/seed4492f2cd/partwise/internal/settings"
	"github.com/seed4492f2cd/partwise/internal/simd"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
	"github.com/seed4492f2cd/partwise/pipeline/models"
)

func listCommand() *cobra.Command {
	cmd := newCommand("list", showHelp)
	for _, k := range choices.Kinds {
		cmd.AddCommand(kindCommand(k, "partwise list "+k.Name))
	}
	return cmd
}

func methodsCommand() *cobra.Command { return kindCommand(choices.Kinds[0], "partwise methods") }

// kindCommand returns the command that lists a kind; line is the command line.
func kindCommand(k choices.Kind, line string) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               k.Name + " [NAME]",
		Short:             "List " + k.Name + " (" + k.Title + "), or describe one",
		Example:           fmt.Sprintf("  %s\n  %[1]s %s", line, k.Example),
		ValidArgsFunction: completeNames(k.Names),
		RunE: func(cmd *cobra.Command, args []string) error {
			entries := k.Entries()
			if len(args) == 1 {
				entries = slices.DeleteFunc(entries, func(e choices.Entry) bool { return !strings.EqualFold(e.Name, args[0]) })
			}
			switch {
			case len(entries) == 0:
				return unknown(k.One, args[0], k.Names())
			case asJSON:
				out := json.NewEncoder(cmd.OutOrStdout())
				out.SetEscapeHTML(false)
				out.SetIndent("", " ")
				return out.Encode(struct {
					Version int             `json:"version"`
					Command string          `json:"command"`
					Entries []choices.Entry `json:"entries"`
				}{1, strings.TrimPrefix(line, "partwise "), entries})
			case len(args) == 0:
				return printTable(cmd.OutOrStdout(), tableOf(k), line+" NAME describes one.")
			}
			_, err := io.WriteString(cmd.OutOrStdout(), explain(entries[0], columns.Width(cmd.OutOrStdout())))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

func tableOf(k choices.Kind) columns.Table {
	t := columns.Table{Header: slices.Concat([]string{k.One, "title"}, k.Columns, []string{"settings"}), Limits: append([]int{0, 30}, slices.Repeat([]int{36}, len(k.Columns))...)}
	family := ""
	for _, e := range k.Entries() {
		if e.Family != family {
			family = e.Family
			t.Heading(strings.ToUpper(family[:1]) + family[1:])
		}
		row := []any{e.Name, e.Title}
		if family != "" {
			row[0] = " " + e.Name
		}
		for _, c := range k.Columns {
			fact, _ := lists.Find(e.Facts, func(f [2]string) bool { return f[0] == c })
			row = append(row, fact[1])
		}
		lines := lists.Map(e.Settings, func(s settings.Setting) string { return s.Name + ": " + cmp.Or(s.Default, "-") })
		t.Row(append(row, strings.Join(lines, "\n"))...)
	}
	return t
}

func explain(e choices.Entry, width int) string {
	out, facts := columns.Hanging("", e.Name+": "+e.Title, width), ""
	for _, f := range e.Facts {
		if f[1] != "" {
			facts += columns.Hanging(fmt.Sprintf("%-10s ", f[0]), f[1], width)
		}
	}
	if facts != "" {
		out += "\n" + facts
	}
	return out + explainSettings("settings", e.Settings, width) + explainSettings("settings of all methods", e.Shared, width)
}

func explainSettings(title string, list []settings.Setting, width int) (out string) {
	if len(list) > 0 {
		out = "\n" + title + "\n"
	}
	for _, s := range list {
		more := []string{strings.Join(s.Values, ", "), s.Range}
		if s.Default != "" {
			more = append(more, "default "+s.Default)
		}
		help := s.Help
		if more = slices.DeleteFunc(more, func(text string) bool { return text == "" }); len(more) > 0 {
			help += " (" + strings.Join(more, "; ") + ")"
		}
		out += columns.Hanging(fmt.Sprintf("  %-13s ", s.Name), help, width)
	}
	return out
}

func schemaCommand() *cobra.Command {
	cmd := newCommand("schema", func(cmd *cobra.Command, args []string) error {
		of := choices.ExperimentSchema()
		if len(args) > 0 {
			if args[0] != "results" {
				return unknown("schema", args[0], []string{"results"})
			}
			of = jsontext.SchemaOf(reflect.TypeFor[document]())
			of["$schema"], of["title"] = choices.SchemaDialect, "Results of partwise"
		}
		out := json.NewEncoder(cmd.OutOrStdout())
		out.SetIndent("", " ")
		return out.Encode(of)
	})
	cmd.ValidArgsFunction = completeWords("results")
	return cmd
}

func datasetsCommand() *cobra.Command {
	var root string
	cmd := newCommand("datasets", func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			t := columns.Table{Header: []string{"set", "samples", "classes", "content", "location"}, Limits: []int{0, 0, 0, 40, 44}}
			for _, s := range catalogue.Known() {
				documentOf(cmd).addSet(s, root)
				t.Row(s.Name, s.Samples, s.Classes, s.Content, plaintext.Line(locationOf(s, root)))
			}
			return printTable(cmd.OutOrStdout(), t, "partwise datasets NAME shows citation, licence and download.")
		}
		info, ok := catalogue.Lookup(args[0])
		if !ok {
			return unknown("set", args[0], knownNames())
		}
		documentOf(cmd).addSet(info, root)
		return printSet(cmd.OutOrStdout(), info, root)
	})
	cmd.ValidArgsFunction = completeNames(knownNames)
	rootFlag(cmd.PersistentFlags(), &root)
	cmd.AddCommand(getCommand(&root))
	return cmd
}

func getCommand(root *string) *cobra.Command {
	var from, mirror string
	var insecure bool
	cmd := newCommand("datasets get", func(cmd *cobra.Command, args []string) error {
		info, ok := catalogue.Lookup(args[0])
		switch {
		case !ok:
			return unknown("set", args[0], knownNames())
		case len(info.Forms) == 0:
			return say(cmd, "%s needs no download: partwise generates it\n", info.Name)
		case from != "" && from != "raw" && from != "mat":
			return usageError{fmt.Errorf("--from %s: expected raw or mat", from)}
		}
		dir, err := catalogue.DataDir()
		if dir = cmp.Or(*root, dir); dir == "" {
			return err
		}
		bars := &stages{w: cmd.ErrOrStderr(), unit: unitBytes}
		report := func(message string) {
			bars.end()
			plaintext.Fprintf(cmd.ErrOrStderr(), "%s\n", message)
		}
		d := catalogue.Downloader{From: from, Mirror: mirror, Insecure: insecure, Report: report, Progress: bars.show}
		err = d.Get(cmd.Context(), info.Name, dir)
		bars.end()
		guard.Check(interruptedError(cmd.Context(), err, "getting "+info.Name))
		documentOf(cmd).addSet(info, *root)
		return say(cmd, "%s is in %s\n", info.Name, dir)
	})
	cmd.ValidArgsFunction = completeNames(knownNames)
	cmd.Flags().StringVar(&from, "from", "", "form of the set: raw (images) or mat (MATLAB file)")
	cmd.Flags().StringVar(&mirror, "mirror", "", "download from this URL instead of the set's own")
	cmd.Flags().BoolVar(&insecure, "insecure", false, "allow plain HTTP for files without a published checksum")
	return cmd
}

// generated is the place of a set without files.
const generated = "generated"

func locationOf(s catalogue.Info, root string) string {
	if len(s.Forms) == 0 {
		return generated
	}
	path, err := catalogue.Find(s.Name, root, "")
	switch {
	case err == nil:
		return path
	case slices.ContainsFunc(s.Forms, func(f catalogue.Form) bool { return len(f.Files) > 0 }):
		return "not downloaded; partwise datasets get " + s.Name
	}
	return "not available"
}

func printSet(w io.Writer, s catalogue.Info, root string) error {
	facts := [][2]any{
		{"set", s.Name + ": " + s.Title}, {"samples", fmt.Sprintf("%d of %d classes", s.Samples, s.Classes)}, {"content", s.Content},
		{"cite", s.Citation}, {"licence", s.Licence}, {"home", s.Home}, {"location", plaintext.Line(locationOf(s, root))}, {"how", s.How},
	}
	for _, f := range s.Forms {
		for _, d := range f.Files {
			sum := "no published checksum"
			if d.SHA256 != "" {
				sum = "sha256 " + d.SHA256
			} else if d.MD5 != "" {
				sum = "md5 " + d.MD5
			}
			facts = append(facts, [2]any{"from " + f.From, fmt.Sprintf("%s (%s)", strings.Join(d.URLs, " or "), sum)})
		}
	}
	return printFacts(w, 90, facts)
}

// version is set by a build without a checkout (see the Makefile); otherwise it is the tag or revision.
var version = ""

func versionCommand() *cobra.Command {
	return newCommand("version", func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprintln(cmd.OutOrStdout(), versionText())
		return err
	})
}

func versionText() string { return describeVersion(buildInfo()) }

func buildInfo() *debug.BuildInfo {
	if info, ok := debug.ReadBuildInfo(); ok {
		return info
	}
	return new(debug.BuildInfo)
}

// describeVersion returns the version, and below it whatever may change results or is needed to build it again.
func describeVersion(info *debug.BuildInfo) string {
	settings := map[string]string{}
	for _, s := range info.Settings {
		settings[s.Key] = s.Value
	}
	var b strings.Builder
	fmt.Fprintf(&b, "partwise %s\n", releaseVersion(info))
	if revision := settings["vcs.revision"]; revision != "" {
		if t := settings["vcs.time"]; t != "" {
			revision += " of " + t
		}
		if settings["vcs.modified"] == "true" {
			revision += ", with uncommitted changes"
		}
		fmt.Fprintf(&b, "  revision   %s\n", revision)
	}
	build := "portable"
	if slices.Contains(strings.Split(settings["-tags"], ","), "opencv") {
		build = "with OpenCV"
	}
	fmt.Fprintf(&b, "  build      %s\n  go         %s %s/%s\n  processor  %s used by the inner loops",
		build, runtime.Version(), runtime.GOOS, runtime.GOARCH, cmp.Or(simd.Instructions(), "no vector instructions"))
	return b.String()
}

// releaseVersion returns the version of a build or of its module, such as v1.2.3 or, between two tags, one with the
// time and revision. If both are unknown, it is "unversioned".
func releaseVersion(info *debug.BuildInfo) string {
	return cmp.Or(version, models.VersionOf(info))
}

func licencesCommand() *cobra.Command {
	var text bool
	cmd := newCommand("licences", func(cmd *cobra.Command, args []string) error {
		linked := guard.Must(licences.Linked(buildInfo()))
		out := cmd.OutOrStdout()
		if len(args) == 0 && !text {
			t := columns.Table{Header: []string{"library", "version", "licence"}, Limits: []int{0, 0, 40}}
			for _, l := range linked {
				t.Row(l.Name, l.Version, cmp.Or(l.ID, "unknown"))
			}
			return printTable(out, t, "partwise itself is under Apache-2.0. partwise licences NAME prints one text, --text all texts.")
		}
		if len(args) == 1 {
			linked = slices.DeleteFunc(linked, func(l licences.Licence) bool {
				return !strings.Contains(strings.ToLower(l.Name), strings.ToLower(args[0]))
			})
		}
		if len(linked) == 0 {
			failUsage("no linked library is called %q; \"partwise licences\" lists them", args[0])
		}
		var b bytes.Buffer
		licences.Write(&b, linked)
		_, err := b.WriteTo(out)
		return err
	})
	cmd.Aliases = []string{"licenses"}
	cmd.Flags().BoolVar(&text, "text", false, "print all licence texts")
	return cmd
}

func manCommand() *cobra.Command {
	var dir string
	cmd := newCommand("man", func(cmd *cobra.Command, _ []string) error {
		if there, err := os.ReadDir(dir); err == nil && len(there) > 0 {
			return fmt.Errorf("%s is not empty; choose a new or empty folder", dir)
		}
		guard.Check(os.MkdirAll(dir, 0o777))
		n := readyForManual(cmd.Root())
		header := &doc.GenManHeader{Section: "1", Source: "partwise " + releaseVersion(buildInfo()), Manual: "partwise"}
		for _, s := range buildInfo().Settings {
			if t, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil && os.Getenv("SOURCE_DATE_EPOCH") == "" {
				header.Date = &t
			}
		}
		guard.Check(doc.GenManTree(cmd.Root(), header, dir))
		return say(cmd, "%d manual pages are in %s.\n", n, dir)
	})
	cmd.Flags().StringVar(&dir, "dir", "", "output folder, new or empty")
	_ = cmd.MarkFlagRequired("dir")
	return cmd
}

// readyForManual converts the help of a command and its subcommands to Markdown, and counts them.
func readyForManual(cmd *cobra.Command) int {
	cmd.DisableAutoGenTag = true                                // hides the name of the generating library
	cmd.Long = strings.ReplaceAll(cmd.Long, "\n  ", "\n      ") // examples
	n := 1
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() && !c.IsAdditionalHelpTopicCommand() {
			n += readyForManual(c)
		}
	}
	return n
}
