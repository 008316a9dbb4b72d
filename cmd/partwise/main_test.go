package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed4492f2cd/partwise/cluster"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/eval"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/pipeline/choices"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
	"github.com/seed4492f2cd/partwise/report"
)

// asProgram is the environment variable that turns the test binary into the program, for tests that need a process.
const asProgram = "PARTWISE_TEST_AS_PROGRAM"

// TestMain keeps tests away from the user's cache.
func TestMain(m *testing.M) {
	lineEvery = 24 * time.Hour // a slow machine prints as much as a fast one
	if os.Getenv(asProgram) != "" {
		main()
	}
	debug.SetGCPercent(400) // many short commands in one process
	dir, err := os.MkdirTemp("", "partwise-test-")
	if err == nil {
		err = os.Setenv("PARTWISE_CACHE", dir)
	}
	if err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// shared is a buffer that several goroutines may write to.
type shared struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

func TestDescribeVersion(t *testing.T) {
	const revision = "0123456789abcdef0123456789abcdef01234567"
	of := func(version string, settings ...string) *debug.BuildInfo {
		info := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(settings); i += 2 {
			info.Settings = append(info.Settings, debug.BuildSetting{Key: settings[i], Value: settings[i+1]})
		}
		return info
	}
	for _, test := range []struct {
		name string
		info *debug.BuildInfo
		want []string
		not  string
	}{
		{"release", of("v1.2.3", "vcs.revision", revision, "vcs.time", "2026-01-02T03:04:05Z", "vcs.modified", "false"),
			[]string{"partwise v1.2.3\n", revision + " of 2026-01-02T03:04:05Z\n", "portable\n", runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, "used by the inner loops"}, "uncommitted"},
		{"changed", of("v1.2.3+dirty", "vcs.revision", revision, "vcs.modified", "true"), []string{"partwise v1.2.3+dirty\n", revision + ", with uncommitted changes\n"}, " of "},
		{"opencv", of("v1.2.3", "-tags", "opencv,customenv"), []string{"with OpenCV\n"}, "portable"},
		{"another tag", of("v1.2.3", "-tags", "noopencv"), []string{"portable\n"}, "OpenCV"},
		{"no checkout", of("(devel)"), []string{"partwise unversioned\n"}, "devel"},
		{"nothing known", of(""), []string{"partwise unversioned\n"}, "revision"},
	} {
		got := describeVersion(test.info)
		for _, want := range test.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is not in\n%s", test.name, want, got)
			}
		}
		if strings.Contains(got, test.not) {
			t.Errorf("%s: %q is in\n%s", test.name, test.not, got)
		}
	}

	t.Cleanup(func() { version = "" })
	version = "v3.0.0"
	if got := describeVersion(of("(devel)")); !strings.HasPrefix(got, "partwise v3.0.0\n") {
		t.Errorf("a version set by the build: got\n%s", got)
	}
}

// TestManual: each command has a page that names its flags and does not change with time; existing files are not
// replaced.
func TestManual(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("SOURCE_DATE_EPOCH", "1700000000")
	must(t, "man", "--dir", "first/man1")
	must(t, "man", "--dir", "second")
	pages, err := filepath.Glob("first/man1/*.1")
	if err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		text := read(t, page)
		pages[i] = filepath.Base(page)
		if text != read(t, "second", pages[i]) {
			t.Errorf("%s differs from one time to the next", page)
		}
		if !strings.Contains(text, `"Nov 2023"`) || strings.Contains(text, "Auto generated") {
			t.Errorf("%s begins with %.200s", page, text)
		}
	}
	var check func(cmd *cobra.Command, name string)
	check = func(cmd *cobra.Command, name string) {
		if !slices.Contains(pages, name+".1") {
			t.Errorf("there is no page of %s, only %v", name, pages)
		}
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" {
				check(c, name+"-"+c.Name())
			}
		}
	}
	check(rootCommand(), "partwise")
	cluster := read(t, "second", "partwise-cluster.1")
	for _, want := range []string{`\fB--labels\fP`, ".EX\n  partwise cluster photos -k 10\n"} {
		if !strings.Contains(cluster, want) {
			t.Errorf("the page of cluster is without %q", want)
		}
	}
	if root := read(t, "second", "partwise.1"); !strings.Contains(root, ".EX\n  partwise cluster photos -k 10\n") {
		t.Errorf("the example of partwise is no example:\n%s", root)
	}

	if code, _, stderr := partwise("man", "--dir", "second"); code != exitFailed || !strings.Contains(stderr, "second is not empty; choose a new or empty folder") {
		t.Errorf("a folder with pages: exit code %d, said %q", code, stderr)
	}
	if code, _, stderr := partwise("man"); code != exitUsage || !strings.Contains(stderr, "--dir is missing") {
		t.Errorf("no folder: exit code %d, said %q", code, stderr)
	}
}

func TestLicences(t *testing.T) {
	list := must(t, "licences")
	texts := must(t, "licences", "--text")
	for _, want := range []string{"Go standard library", "github.com/spf13/cobra", "github.com/ajstarks/svgo", "CC-BY-4.0", "FTL OR GPL-2.0-or-later", "OFL-1.1"} {
		if !strings.Contains(list, want) {
			t.Errorf("%q is not listed", want)
		}
	}
	for _, want := range []string{"The FreeType Project LICENSE", "SIL OPEN FONT LICENSE", "Creative Commons Attribution 4.0", "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION"} {
		if !strings.Contains(texts, want) {
			t.Errorf("the texts do not hold %q", want)
		}
	}
	if one := must(t, "licences", "SVGO"); !strings.Contains(one, "Creative Commons") || strings.Contains(one, "cobra") {
		t.Errorf("licences SVGO printed %.200q", one)
	}
	if code, _, stderr := partwise("licences", "none-such"); code != exitUsage || !strings.Contains(stderr, `no linked library is called "none-such"; "partwise licences" lists them`) {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
}

// TestCommandLine: the printed command line repeats the command, in any shell.
func TestCommandLine(t *testing.T) {
	cmd := clusterCommand()
	if err := cmd.ParseFlags([]string{"--strict=false", "--pool", "-k", "3", "--method", "nmf,init=nmf", "--out", "x", "--pattern", "{class}-*"}); err != nil {
		t.Fatal(err)
	}
	const want = `cluster 'it'\''s' -k 3 --method nmf,init=nmf --pattern '{class}-*' --pool`
	if got := commandLine(cmd, []string{"it's"}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// inEnvironment runs the command in its own process with more variables.
func inEnvironment(t *testing.T, environment []string, args ...string) (stdout, stderr string) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = append(append(os.Environ(), asProgram+"=1"), environment...)
	var output, messages bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &messages
	if err := cmd.Run(); err != nil {
		t.Fatalf("partwise %s in %v: %v\n%s", strings.Join(args, " "), environment, err, messages.String())
	}
	return output.String(), messages.String()
}

// files returns the files below a folder and their content.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found[strings.TrimPrefix(path, dir)] = read(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestLocales: all files and all output to files have equal bytes in every locale.
func TestLocales(t *testing.T) {
	workplace(t)
	commands := [][]string{
		{"run", "--set", "generated", "--classes", "2,3", "--repeats", "2", "--features", "pixels=4", "--method", "kmeans", "--method", "gnmf,lambda=[1,10],iterations=3", "--name", "λ ± 猫 …", "--out", "out/run"},
		{"cluster", "photos", "-k", "3", "--features", "pixels=4", "--out", "out/groups"},
		{"features", "photos", "--features", "pixels=2", "--out", "out/photos.csv"},
		{"methods"},
		{"list", "features"},
		{"datasets"},
	}
	locales := [][]string{
		{"LC_ALL=C", "LANG=C"},
		{"LC_ALL=ja_JP.UTF-8", "LANG=ja_JP.UTF-8"},
		{"LC_ALL=zh_CN.GB18030", "RUNEWIDTH_EASTASIAN=1"},
	}
	var want map[string]string
	for _, locale := range locales {
		if err := os.RemoveAll("out"); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir("out", 0o777); err != nil {
			t.Fatal(err)
		}
		printed := ""
		for _, args := range commands {
			out, _ := inEnvironment(t, locale, args...)
			printed += out
		}
		got := files(t, "out")
		got["standard output"] = printed
		if want == nil {
			want = got
			continue
		}
		if len(got) != len(want) {
			t.Errorf("%v: %d files, and %d in %v", locale, len(got), len(want), locales[0])
		}
		for name, text := range want {
			if got[name] != text {
				t.Errorf("%v: %s is not as in %v", locale, name, locales[0])
			}
		}
	}
	if len(want) < 20 || !strings.Contains(want["/run/tables/ac.txt"], "±") {
		t.Errorf("%d files", len(want))
	}
}

// TestInertNames: names of files, classes, methods and experiments reach the terminal as text only, and tables return
// them unchanged.
func TestInertNames(t *testing.T) {
	workplace(t)
	picture := read(t, "photos", firstFile(t, "photos"))
	classes := []string{"=cmd|calc", "a\x1b[2J\x1b]0;x\x07", "one\npartwise: two"}
	for i, class := range classes {
		for _, file := range []string{"@1.png", "\x1b[31m2.png", "-3\n.png"} {
			if err := os.MkdirAll(filepath.Join("mine", class), 0o777); err != nil {
				t.Fatal(err)
			}
			place(t, filepath.Join("whole", class, file), picture)
			write(t, filepath.Join("mine", class, file), picture[:len(picture)-i])
		}
	}
	write(t, "mine/"+classes[1]+"/\x1b[5m.png", "no picture")
	write(t, "\x1b[2J.yaml", "name: \"x\\e[2J\"\nmethods: [nmf, {name: kmeans, as: \"\\e[1mk\"}]\ndata: whole\nclasses: 2\nrepeats: 2\nfeatures: {pixels: 4}\n")
	write(t, "bad.yaml", "name: x\n\x1b[2J: y\n")
	write(t, "given.csv", "=cmd|calc/@1.png,x\x1b[2J\n")
	for _, args := range [][]string{
		{"cluster", "mine", "-k", "2", "--features", "pixels=4", "--out", "found\x1b[2J"},
		{"cluster", "mine", "-k", "2", "--features", "pixels=4", "--labels", "given.csv", "--out", "labelled"},
		{"cluster", "mine", "-k", "2"},
		{"cluster", "\x1b[2J\npartwise: done"},
		{"run", "\x1b[2J.yaml", "--out", "run\x1b[2J"},
		{"report", "run\x1b[2J"},
		{"report", "none\x1b[2J"},
		{"run", "bad.yaml"},
		{"run", "--set", "mine", "--method", "\x1b[2J"},
		{"features", "mine", "--features", "pixels=2", "--out", "x\x1b[2J.csv"},
		{"cache", "--cache", "c\x1b[2J"},
		{"datasets", "get", "\x1b[2J"},
		{"\x1b[2J"},
		{"cluster", "--\x1b[2J"},
	} {
		code, stdout, stderr := partwise(args...)
		for _, text := range []string{stdout, stderr} {
			if at := strings.IndexFunc(strings.ReplaceAll(text, "\n", ""), unicode.IsControl); at >= 0 || strings.Contains(text, "\npartwise: done") {
				t.Errorf("partwise %q: exit code %d, printed %q and said %q", args, code, stdout, stderr)
				break
			}
		}
	}
	if table := read(t, "found\x1b[2J", report.AssignmentsFile); strings.Contains(table, ",=cmd") || !strings.Contains(table, "'=cmd|calc/@1.png") {
		t.Errorf("%s holds formulas:\n%s", report.AssignmentsFile, table)
	}
	if err := os.Mkdir("flat", 0o777); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"=1.png", "'@2.png", "+3.png", "4.png"} {
		write(t, filepath.Join("flat", name), read(t, "photos", photos(t)[i]))
	}
	must(t, "cluster", "flat", "-k", "2", "--method", "kmeans", "--features", "pixels=4", "--out", "found-flat")
	table := read(t, "found-flat", report.AssignmentsFile)
	set, err := datasets.Open(t.Context(), "flat", datasets.OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := set.ReadLabels(filepath.Join("found-flat", report.AssignmentsFile)); err != nil {
		t.Errorf("%v in\n%s", err, table)
	}
}

func photos(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("photos")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTimesFlag: with --times the page shows the times, and no other file differs.
func TestTimesFlag(t *testing.T) {
	workplace(t)
	const heading, list = `id="times"`, ".partwise.jsonl" // which has the sum of the page
	for _, c := range []struct{ line, want string }{
		{"run --set generated --classes 2 --labels 30% --repeats 2 --features pixels=4 --method kmeans --method ccf,init=nmf,iterations=3 --name x", "of which initial factors"},
		{"cluster photos -k 2 --features pixels=4 --method gnmf,iterations=3", "of which set-up"},
	} {
		args := strings.Fields(c.line)
		must(t, append(args, "--out", args[0])...)
		must(t, append(args, "--out", args[0]+"-times", "--times")...)
		want, got := files(t, args[0]), files(t, args[0]+"-times")
		if page := got["/index.html"]; !strings.Contains(page, heading) || !strings.Contains(page, c.want) || strings.Contains(page, "--times") {
			t.Errorf("partwise %s --times: the page shows no times, or is not repeated without them", c.line)
		}
		if strings.Contains(want["/index.html"], heading) {
			t.Errorf("partwise %s: the page shows times", c.line)
		}
		for name := range got {
			if name != "/index.html" && name != "/"+list && got[name] != want[name] {
				t.Errorf("partwise %s --times: %s differs", c.line, name)
			}
		}
		if len(got) != len(want) {
			t.Errorf("partwise %s --times: %d files, and %d without it", c.line, len(got), len(want))
		}
	}
}

// Work that exceeds --memory is refused with the numbers, and leaves nothing behind.
func TestMemoryFlag(t *testing.T) {
	dir := t.TempDir()
	data, out := filepath.Join(dir, "data.csv"), filepath.Join(dir, "out")
	if err := os.WriteFile(data, []byte("x,y,class\n"+strings.Repeat("1,2,a\n2,1,b\n", 2500)), 0o666); err != nil {
		t.Fatal(err)
	}
	call := func(args ...string) (code int, stderr string) {
		var stdoutText, stderrText shared
		code = run(args, &stdoutText, &stderrText)
		return code, stderrText.String()
	}
	code, stderr := call("run", "--set", data, "--name", "x", "--method", "ncut", "--classes", "2", "--repeats", "1", "--out", out, "--memory", "256MB")
	if code != exitFailed || !strings.Contains(stderr, "ncut") || !strings.Contains(stderr, "256 MB") || !strings.Contains(stderr, "--memory") {
		t.Errorf("exit code %d and %q, want a refusal", code, stderr)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused run left a folder")
	}
	code, stderr = call("cluster", data, "-k", "2", "--method", "ncut", "--out", out, "--memory", "256MB")
	if code != exitFailed || !strings.Contains(stderr, "256 MB") {
		t.Errorf("exit code %d and %q, want a refusal", code, stderr)
	}
	for _, size := range []string{"much", "4", "1MB", "200%", "-4GB"} {
		code, stderr = call("features", data, "--out", out+".npz", "--memory", size)
		if code != exitUsage || !strings.HasPrefix(stderr, "partwise: --memory: ") {
			t.Errorf("--memory %s: exit code %d and %q", size, code, stderr)
		}
	}
}

// checkProfile fails the test unless a file is a complete CPU profile in pprof's format.
func checkProfile(t *testing.T, file string) {
	t.Helper()
	z, err := gzip.NewReader(strings.NewReader(read(t, file)))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	for _, name := range []string{"samples", "cpu", "nanoseconds"} { // of the values of a sample
		if !bytes.Contains(text, []byte(name)) {
			t.Errorf("%s has no %q", file, name)
		}
	}
}

// TestProfile: computing commands write a profile, also on failure, and results do not change.
func TestProfile(t *testing.T) {
	workplace(t)
	for i, c := range []struct {
		line string
		code int
	}{
		{"cluster photos -k 2 --features pixels=4 --out groups", exitDone},
		{"features photos --features pixels=2 --out f.npz", exitDone},
		{"features photos --features pixels=2 --shard 0/1 --out shards", exitDone},
		{"fit shards --rank 2 --passes 1 --out m.npz", exitDone},
		{"run --set generated --classes 2 --repeats 1 --features pixels=4 --method kmeans --name x", exitDone},
		{"report results/x", exitDone},
		{"cluster photos -k 99 --features pixels=4 --out more", exitFailed},
	} {
		file := string(rune('a' + i))
		if code, _, stderr := partwise(append(strings.Fields(c.line), "--profile", file)...); code != c.code {
			t.Errorf("partwise %s: exit code %d, said %q", c.line, code, stderr)
		}
		checkProfile(t, file)
	}
	if strings.Contains(read(t, "groups/index.html"), "--profile") {
		t.Error("the page holds --profile")
	}
}

// TestProfileReplacesNothing: an existing or unwritable file ends the command before any work.
func TestProfileReplacesNothing(t *testing.T) {
	workplace(t)
	write(t, "mine", "mine\n")
	before := contents(t, ".")
	if err := os.Symlink("nowhere", "link"); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
	for file, want := range map[string]string{
		"mine": "mine: file exists", "link": "link: file exists", "photos": "photos: file exists",
		"none/p": "none/p: no such file", "mine/p": "mine/p: not a directory",
	} {
		code, stdout, stderr := partwise("cluster", "photos", "-k", "2", "--features", "pixels=4", "--profile", file)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("--profile %s: exit code %d, printed %q and said %q", file, code, stdout, stderr)
		}
	}
	if code, _, _ := partwise("cluster", "photos", "-k", "1", "--profile", "p"); code != exitUsage {
		t.Errorf("exit code %d of a mistake", code)
	}
	if at, err := os.Readlink("link"); err != nil || at != "nowhere" {
		t.Errorf("the link was changed: %q, %v", at, err)
	}
	if err := os.Remove("link"); err != nil {
		t.Fatal(err)
	}
	after := contents(t, ".")
	if len(after) != len(before) {
		t.Errorf("%d files, and %d before", len(after), len(before))
	}
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was changed", name)
		}
	}
}

// TestCompletion: shells get the valid values of flags and arguments, files if these are expected, and nothing else.
func TestCompletion(t *testing.T) {
	const (
		noFiles    = ":4"
		noSpace    = ":6" // and no files
		extensions = ":8"
		folders    = ":16"
	)
	// of joins the names of a list that begin with begun, each after before.
	of := func(names []string, before, begun string) (found string) {
		for _, name := range names {
			if strings.HasPrefix(name, begun) {
				found += before + name + " "
			}
		}
		return found
	}
	methods, solvers := choices.Names("methods"), choices.Names("solvers")
	scores := slices.DeleteFunc(choices.Names("scores"), func(name string) bool {
		return !slices.ContainsFunc(eval.Scores(), func(s eval.Score) bool { return s.Name == name && s.Optional })
	})
	for line, want := range map[string]string{
		"cluster mi":                                ":0",
		"cluster ya":                                of(knownNames(), "", "ya") + ":0",
		"features sce":                              of(knownNames(), "", "sce") + ":0",
		"cluster mixed --method cn":                 of(methods, "", "cn") + noSpace,
		"cluster mixed --method gnmf,lam":           "gnmf,lambda= " + noSpace,
		"cluster mixed --method ccf,init=":          of(factor.Init("").Values(), "ccf,init=", "") + noSpace,
		"cluster mixed --method ccf,init=nmf,ini":   noSpace,
		"cluster mixed --method ccf,solver=":        of(solvers, "ccf,solver=", "") + noSpace,
		"cluster mixed --solver ":                   "best " + of(solvers, "", "") + noFiles,
		"cluster mixed --cluster nc":                of(spec.Clusterers(), "", "nc") + noSpace,
		"cluster mixed --cluster ncut,b":            noSpace,
		"cluster mixed --cluster by=nc":             of(spec.Clusterers(), "by=", "nc") + noSpace,
		"cluster mixed --cluster ncut,distance=c":   of(cluster.Distance(0).Values(), "ncut,distance=", "c") + noSpace,
		"cluster mixed --cluster refine=":           "refine=true refine=false " + noSpace,
		"cluster mixed --features si":               "sift sift=dense sift=keypoints " + noSpace,
		"cluster mixed --features colour=":          "colour=hsv " + noSpace,
		"cluster mixed --features sift,wo":          "sift,words= " + noSpace,
		"cluster mixed --features sift+col":         "sift+colour sift+colour=hsv " + noSpace,
		"cluster mixed --features sift,normalise=l": of(slices.Sorted(slices.Values(features.Norm(0).Values())), "sift,normalise=", "l") + noSpace,
		"cluster mixed --labels ":                   "csv tsv txt " + extensions,
		"cluster mixed --truth ":                    "csv tsv txt " + extensions,
		"cluster mixed --out ":                      folders,
		"cluster mixed --data ":                     folders,
		"cluster mixed -k ":                         "auto " + noFiles,
		"cluster mixed --seed ":                     noFiles,
		"features mixed --out ":                     "npz mat csv " + extensions,
		"reproduce cnmf-":                           of(append(reproduce.Names(), reproduce.Beyond), "", "") + noFiles,
		"reproduce --doc ":                          "md " + extensions,
		"reproduce --budget ":                       "10m 40m 2h " + noFiles,
		"run ":                                      "yaml yml " + extensions,
		"run --task ":                               of(eval.Task(0).Values(), "", "") + noFiles,
		"run --split ":                              "folders " + noFiles,
		"run --scores V":                            of(scores, "", "V") + noFiles,
		"run --labels 2":                            "none 10% 20% 30% " + noFiles,
		"run --set ya":                              of(knownNames(), "", "ya") + noSpace,
		"run --set yale,from=":                      "yale,from=raw yale,from=mat " + noSpace,
		"run --classifier ":                         "neighbours linear c= scale= " + noSpace,
		"run --classifier linear,sc":                "linear,scale= " + noSpace,
		"run --neighbours 3,distance=":              of(cluster.Distance(0).Values(), "3,distance=", "") + noSpace,
		"assign --out ":                             "csv " + extensions,
		"fit --rank ":                               "auto " + noFiles,
		"report ":                                   folders,
		"compare x ":                                folders,
	} {
		out := completed(t, append([]string{"__complete"}, strings.Split(line, " ")...)...)
		if got := strings.Join(strings.Fields(out), " "); got != want {
			t.Errorf("%q gives %q, want %q", line, got, want)
		}
	}
}

// completed is must for a command with messages on stderr.
func completed(t *testing.T, args ...string) string {
	t.Helper()
	code, stdout, stderr := partwise(args...)
	if code != exitDone {
		t.Fatalf("partwise %s: exit code %d, said %q", strings.Join(args, " "), code, stderr)
	}
	return stdout
}

// TestCompletedValues: the command accepts each completed value of a method, solver, clusterer or feature.
func TestCompletedValues(t *testing.T) {
	root := rootCommand()
	var run *cobra.Command
	for _, c := range root.Commands() {
		if c.Name() == "run" {
			run = c
		}
	}
	run.Flags().VisitAll(func(f *pflag.Flag) {
		complete, ok := run.GetFlagCompletionFunc(f.Name)
		if !ok || f.Name == "method" || f.Name == "set" || f.Name == "out" || f.Name == "data" || f.Name == "cache" {
			return
		}
		values, directive := complete(run, nil, "")
		if directive&cobra.ShellCompDirectiveFilterFileExt != 0 {
			return
		}
		for _, v := range values {
			if strings.HasSuffix(v, "=") || strings.Contains(v, "keypoints") || f.Name == "memory" || f.Name == "cache-size" {
				continue
			}
			if err := setKey(&spec.Experiment{}, f.Name, v); err != nil {
				t.Errorf("--%s %s: %v", f.Name, v, err)
			}
		}
	})
	for _, name := range choices.Names("methods") {
		if err := setMethods(&spec.Experiment{}, []string{name}); err != nil && name != "largest" {
			t.Errorf("--method %s: %v", name, err)
		}
	}
}

// TestNamesWithoutCase: names of every list are case-insensitive.
func TestNamesWithoutCase(t *testing.T) {
	same := func(flag, before, name, after string) {
		t.Helper()
		var one, other spec.Experiment
		for e, name := range map[*spec.Experiment]string{&one: name, &other: strings.ToUpper(name)} {
			value := before + name + after
			set := func() error { return setKey(e, flag, value) }
			if flag == "method" {
				set = func() error { return setMethods(e, []string{value}) }
			}
			if err := set(); err != nil {
				t.Errorf("--%s %s: %v", flag, value, err)
			}
		}
		if diff := cmp.Diff(fmt.Sprintf("%+v", one), fmt.Sprintf("%+v", other)); diff != "" {
			t.Errorf("--%s %s%s differs in capitals: %s", flag, before, name, diff)
		}
	}
	for _, name := range spec.MethodNames() {
		same("method", "", name, "")
	}
	for _, name := range choices.Names("solvers") {
		same("method", "nmf,solver=", name, "")
	}
	for _, name := range choices.Names("penalties") {
		same("method", "parts,penalty=", name, "")
	}
	for _, name := range choices.Names("clusterers") {
		same("cluster", "", name, "")
		same("method", "nmf,cluster=", name, "")
	}
	for _, name := range choices.Names("features") {
		same("features", "", name, "")
	}
	for _, k := range choices.Kinds {
		for _, name := range k.Names() {
			if must(t, "list", k.Name, name) != must(t, "list", k.Name, strings.ToUpper(name)) {
				t.Errorf("partwise list %s prints another text for %s in capitals", k.Name, name)
			}
		}
	}
	if must(t, "datasets", "orl") != must(t, "datasets", "ORL") {
		t.Error("partwise datasets prints another text for ORL than for orl")
	}
}

// TestHelpFits: help on a terminal fits its width, except examples and synopses.
func TestHelpFits(t *testing.T) {
	for _, room := range []int{80, 120} {
		var each func(cmd *cobra.Command)
		each = func(cmd *cobra.Command) {
			for _, sub := range cmd.Commands() {
				each(sub)
			}
			fitHelp(cmd, room)
			var b strings.Builder
			cmd.SetOut(&b)
			if err := cmd.Help(); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				line = strings.TrimRight(line, "\n")
				copied := strings.HasPrefix(line, "  partwise") || strings.HasPrefix(line, "      --method kmeans") || strings.HasPrefix(line, "Use \"partwise")
				if n := text.StringWidthWithoutEscSequences(line); n > room && !copied {
					t.Errorf("%s --help in %d: %d letters: %s", cmd.CommandPath(), room, n, line)
				}
			}
		}
		each(rootCommand())
	}
}

// TestHelpIsShort: help fits a screen of 45 lines of 100 letters, with at most three lines of text before the usage.
func TestHelpIsShort(t *testing.T) {
	var each func(cmd *cobra.Command)
	each = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			each(sub)
		}
		var b strings.Builder
		cmd.SetOut(&b)
		if err := cmd.Help(); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimRight(b.String(), "\n"), "\n")
		if n := strings.Count(cmd.Long, "\n"); len(lines) > 48 || n > 2 {
			t.Errorf("%s --help has %d lines, %d of them text", cmd.CommandPath(), len(lines), n+1)
		}
		for _, line := range lines {
			if n := text.StringWidthWithoutEscSequences(line); n > 100 {
				t.Errorf("%s --help: %d letters: %s", cmd.CommandPath(), n, line)
			}
		}
	}
	each(rootCommand())
}

// TestOneCommand: a command alone is the same as in the whole program.
func TestOneCommand(t *testing.T) {
	for _, want := range rootCommand().Commands() {
		got := rootCommand(want.Name(), "--help").Commands()
		if want.Name() != "man" && (len(got) != 1 || got[0].Name() != want.Name() || got[0].UsageString() != want.UsageString()) {
			t.Errorf("%s alone: %v", want.Name(), got)
		}
	}
}
