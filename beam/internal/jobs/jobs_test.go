package jobs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gonum.org/v1/gonum/mat"

	_ "gocloud.dev/blob/memblob"

	"github.com/seed4492f2cd/partwise/beam/internal/store"
	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/demo"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/pipeline/models"
	"github.com/seed4492f2cd/partwise/pipeline/passes"
	"github.com/seed4492f2cd/partwise/pipeline/shards"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

var program string // partwise

func TestMain(m *testing.M) {
	flag.Parse()
	Init(false)
	dir, err := os.MkdirTemp("", "partwise-")
	if err == nil {
		program = filepath.Join(dir, "partwise")
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/partwise")
		build.Dir, build.Stderr = filepath.Join("..", "..", ".."), os.Stderr
		err = build.Run()
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

func partwise(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "PARTWISE_CACHE="+filepath.Join(t.TempDir(), "cache"))
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("partwise %s: %v\n%s", strings.Join(args, " "), err, text)
	}
}

// same fails unless both folders or files have the same content.
func same(t *testing.T, got, want string) {
	t.Helper()
	n := 0
	if err := filepath.WalkDir(want, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		n++
		a, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(want, path)
		if err != nil {
			return err
		}
		b, err := os.ReadFile(filepath.Join(got, relative))
		if err == nil && !bytes.Equal(a, b) {
			err = fmt.Errorf("%s differs from %s", filepath.Join(got, relative), path)
		}
		return err
	}); err != nil || n == 0 {
		t.Error(n, "files:", err)
	}
}

// failOnce makes the first element of a name that fails matches fail.
func failOnce(t *testing.T, fails string) {
	var done atomic.Bool
	before = func(name string) error {
		if strings.Contains(name, fails) && !done.Swap(true) {
			return errors.New("the worker fails once")
		}
		return nil
	}
	t.Cleanup(func() { before = func(string) error { return nil } })
}

// rows writes 1,000 samples near 4 centres in shards, and returns their folder.
func rows(t *testing.T, shards int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	set := &datasets.Set{Name: "rows", Vectors: mat.NewDense(1000, 12, nil)}
	centres := mat.NewDense(4, 12, nil)
	centres.Apply(func(int, int, float64) float64 { return 10 * random.Float64() }, centres)
	set.Vectors.(*mat.Dense).Apply(func(i, j int, _ float64) float64 { return centres.At(i%4, j) * (0.8 + 0.4*random.Float64()) }, set.Vectors)
	for i := range 1000 {
		set.Names, set.Labels = append(set.Names, fmt.Sprint("sample ", i)), append(set.Labels, -1)
	}
	dir := filepath.Join(t.TempDir(), "fea")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range shards {
		of := vectorfile.Shard{Index: i, Of: shards}
		part, err := set.Shard(of)
		if err == nil {
			err = vectorfile.Write(t.Context(), filepath.Join(dir, of.File("rows", ".npz")), part.Content())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Models have the bytes of partwise, also after a failure.
func TestLearn(t *testing.T) {
	for _, shards := range []int{1, 5, 20} {
		dir := rows(t, shards)
		paths, err := vectorfile.Shards(dir)
		if err != nil {
			t.Fatal(err)
		}
		for method, most := range map[string]int{"nmf": 4, "nmf-kl": 4, "kmeans": 3} {
			if shards == 20 && method != "nmf" {
				continue // 20 shards have two levels of sums
			}
			t.Run(fmt.Sprint(method, shards), func(t *testing.T) {
				want, got := filepath.Join(t.TempDir(), "want.npz"), filepath.Join(t.TempDir(), "got.npz")
				command, size := "fit", "--rank"
				if method == spec.KMeans {
					command, size = "cluster", "-k"
				}
				partwise(t, command, dir, "--method", method, size, "4", "--passes", fmt.Sprint(most), "--out", want)
				m, err := MethodOf(method)
				if err != nil {
					t.Fatal(err)
				}
				l := passes.Learner{Method: m, Run: passes.Run{Rank: 4}, Paths: paths, Passes: most, Program: "unversioned", Report: func(*passes.State) error { return nil }}
				unroll := 3
				if method == "nmf" && shards == 5 {
					unroll = 1
					l.Passes = 2
					if err := Learn(t.Context(), l, got, unroll); err != nil {
						t.Fatal(err)
					}
					l.Passes = most
					failOnce(t, "rows-00003")
					if err := Learn(t.Context(), l, got, unroll); err == nil || !strings.Contains(err.Error(), "fails once") {
						t.Errorf("got error %v, expected the failure of the worker", err)
					}
				}
				if err := Learn(t.Context(), l, got, unroll); err != nil {
					t.Fatal(err)
				}
				same(t, got, want)
			})
		}
	}
}

// photographs writes 20 generated images and one that is no image.
func photographs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	pixels, _, _, _ := demo.Images(1)
	for i := range 20 {
		img := image.NewGray(image.Rect(0, 0, demo.Side, demo.Side))
		copy(img.Pix, pixels[i*36*demo.Side*demo.Side:])
		var text bytes.Buffer
		if err := png.Encode(&text, img); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d.png", i)), text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "bad.png"), []byte("\x89PNG\r\n\x1a\nno image"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Files of shards have the bytes of partwise, also after a failure and again.
func TestShards(t *testing.T) {
	photos, dir := photographs(t), t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	of := func(i, n int) string { return fmt.Sprintf("%d/%d", i, n) }
	for i := range 3 {
		partwise(t, "features", photos, "--features", "pixels=8", "--shard", of(i, 3), "--out", in("want"))
		partwise(t, "vocab", photos, "--features", "sift=dense,words=5", "--seed", "2", "--shard", of(i, 3), "--out", in("words-want"))
	}
	job := Shard{Command: Features, Data: photos, Features: "pixels=8", Out: in("got")}
	failOnce(t, "1/3")
	if err := RunShards(t.Context(), job, 3); err == nil || !strings.Contains(err.Error(), "fails once") {
		t.Errorf("got error %v, expected the failure of the worker", err)
	}
	if err := os.WriteFile(filepath.Join(in("got"), "rows-00002-of-00003.npz"), []byte("PK\x03\x04torn"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := RunShards(t.Context(), job, 3); err != nil {
		t.Fatal(err)
	}
	same(t, in("got"), in("want"))
	first := filepath.Join(in("got"), "rows-00000-of-00003.npz")
	before, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	if err := RunShards(t.Context(), job, 3); err != nil {
		t.Fatal(err)
	}
	if after, err := os.Stat(first); err != nil || !os.SameFile(before, after) {
		t.Errorf("a complete shard was written again (%v)", err)
	}
	job.Features = "pixels=4"
	if err := RunShards(t.Context(), job, 3); err == nil || !strings.Contains(err.Error(), "rows-0000") {
		t.Errorf("other settings: got error %v, expected one for the existing files", err)
	}
	if err := RunShards(t.Context(), Shard{Command: Vocab, Data: photos, Features: "sift=dense,words=5", Seed: 2, Out: in("words")}, 3); err != nil {
		t.Fatal(err)
	}
	same(t, in("words"), in("words-want"))

	partwise(t, "cluster", in("want"), "-k", "3", "--passes", "2", "--out", in("groups.npz"))
	for i := range 3 {
		partwise(t, "assign", in("groups.npz"), in("want"), "--shard", of(i, 3), "--out", in("assigned-want"))
	}
	job = Shard{Command: Assign, Model: in("groups.npz"), Data: in("got"), Out: in("assigned"), Reject: models.DefaultReject}
	for range 2 {
		if err := RunShards(t.Context(), job, 3); err != nil {
			t.Fatal(err)
		}
	}
	same(t, in("assigned"), in("assigned-want"))
}

// table reads a list of pictures without outliers, for which duplicates has no features.
func table(t *testing.T, path string) [][]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(lines[0], "outlier")
	for i := range lines {
		lines[i][at] = ""
	}
	return lines
}

// duplicates finds the copies of partwise: exact, mirrored and cut.
func TestDuplicates(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, img image.Image) {
		var text bytes.Buffer
		if err := png.Encode(&text, img); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 12 {
		random := rand.New(rand.NewPCG(5, uint64(i)))
		img, mirrored := image.NewRGBA(image.Rect(0, 0, 160, 120)), image.NewRGBA(image.Rect(0, 0, 160, 120))
		for range 60 { // rectangles
			c := color.RGBA{uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256)), 255}
			x, y := random.IntN(160), random.IntN(120)
			draw.Draw(img, image.Rect(x, y, x+10+random.IntN(40), y+10+random.IntN(40)), image.NewUniform(c), image.Point{}, draw.Src)
		}
		for at := range 160 * 120 {
			mirrored.Set(159-at%160, at/160, img.At(at%160, at/160))
		}
		write(fmt.Sprintf("%02d.png", i), img)
		switch i % 4 {
		case 0:
			write(fmt.Sprintf("%02d-again.png", i), img)
		case 1:
			write(fmt.Sprintf("%02d-mirrored.png", i), mirrored)
		case 2:
			write(fmt.Sprintf("%02d-cut.png", i), img.SubImage(image.Rect(4, 4, 156, 116)))
		}
	}
	results, out := filepath.Join(t.TempDir(), "results"), filepath.Join(t.TempDir(), "copies.csv")
	partwise(t, "cluster", dir, "-k", "2", "--features", "pixels=8", "--out", results)
	failOnce(t, "2/3")
	if _, err := Duplicates(t.Context(), Shard{Data: dir, Out: out}, 3); err == nil || !strings.Contains(err.Error(), "fails once") {
		t.Errorf("got error %v, expected the failure of the worker", err)
	}
	if copies, err := Duplicates(t.Context(), Shard{Data: dir, Out: out}, 3); err != nil || copies < 8 {
		t.Errorf("%d copies, error %v", copies, err)
	}
	if got, want := table(t, out), table(t, filepath.Join(results, "pictures.csv")); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got %v\nexpected %v", got, want)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(out), shards.Beside+filepath.Base(out))); err == nil {
		t.Error("the looks are left")
	}
	if _, err := Duplicates(t.Context(), Shard{Data: dir, Out: "mem://album/copies.csv"}, 2); err != nil {
		t.Error(err)
	}
	for name, left := range map[string]bool{"copies.csv": true, shards.Beside + "copies.csv/" + linksFile: false, shards.Beside + "copies.csv/" + fileOf(0, 2): false} {
		path, err := store.Fetch(t.Context(), "mem://album/"+name, t.TempDir())
		if _, none := os.Stat(path); err != nil || (none == nil) != left {
			t.Errorf("%s in the bucket: %v, %v", name, none, err)
		}
	}
	if _, err := Duplicates(t.Context(), Shard{Data: dir, Out: out}, 3); !errors.Is(err, fs.ErrExist) {
		t.Errorf("again: got error %v, expected one for the existing file", err)
	}
}

// Shards, models and outputs in a bucket give the same bytes, and none is replaced without Force.
func TestBucket(t *testing.T) {
	fea, dir, ctx := rows(t, 3), t.TempDir(), t.Context()
	paths, err := vectorfile.Shards(fea)
	if err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		url := "mem://bucket/fea/" + filepath.Base(path)
		if err := store.Publish(ctx, path, url); err != nil {
			t.Fatal(err)
		}
		paths[i] = url
	}
	here, groups := filepath.Join(dir, "here"), filepath.Join(dir, "groups.npz")
	partwise(t, "cluster", fea, "-k", "3", "--passes", "2", "--seed", "1", "--out", groups)
	l := passes.Learner{Method: spec.Method{Name: spec.KMeans}, Run: passes.Run{Rank: 3, Seed: 1}, Paths: paths, Passes: 2, Program: "unversioned", Report: func(*passes.State) error { return nil }}
	if err := Learn(ctx, l, "mem://bucket/groups.npz", 1); err != nil {
		t.Fatal(err)
	}
	job := Shard{Command: Assign, Model: "mem://bucket/groups.npz", Data: "mem://bucket/fea", Out: "mem://bucket/out", Reject: models.DefaultReject}
	if err := RunShards(ctx, job, 3); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		partwise(t, "assign", groups, fea, "--shard", fmt.Sprintf("%d/3", i), "--out", here)
		for _, prefix := range []string{"", shards.Beside} {
			name := prefix + vectorfile.Shard{Index: i, Of: 3}.File("rows", ".csv")
			there, err := store.Fetch(ctx, "mem://bucket/out/"+name, dir)
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(there)
			if want, wantErr := os.ReadFile(filepath.Join(here, name)); err != nil || wantErr != nil || !bytes.Equal(got, want) {
				t.Errorf("%s differs: %v, %v", name, err, wantErr)
			}
		}
	}
	job.Reject = 0.5
	if err := RunShards(ctx, job, 3); err == nil || !strings.Contains(err.Error(), "rows-0000") {
		t.Errorf("another setting: got error %v, expected one for the existing files", err)
	}
}

// A mistake is one error before a pipeline runs.
func TestMistakes(t *testing.T) {
	for want, job := range map[string]Shard{
		`features "pixls=8"`:    {Command: Features, Features: "pixls=8", Data: "x", Out: t.TempDir()},
		"features of the words": {Command: Vocab, Features: "pixels=8", Data: "x", Out: t.TempDir()},
	} {
		if err := RunShards(context.Background(), job, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, expected %q", err, want)
		}
	}
}

// Flags with which no job can end are one error, and a dry run writes nothing.
func TestRunners(t *testing.T) {
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "none")
	t.Setenv("CLOUDSDK_COMPUTE_REGION", "")
	t.Setenv("PATH", "") // gcloud
	here := t.TempDir()
	reset := func() {
		for _, name := range []string{"runner", "endpoint", "async", "dry_run", "project", "region", "staging_location", "environment_type"} {
			_ = flag.Set(name, flag.Lookup(name).DefValue)
		}
	}
	t.Cleanup(reset)
	for _, c := range []struct{ flags, out, data, want string }{
		{"runner=foo", here, "", `--runner "foo": expected dataflow, flink, portable, prism, spark`},
		{"runner=PrismRunner", here, "", ""},
		{"runner=SparkRunner", here, "", "--runner spark needs --endpoint"},
		{"runner=flink endpoint=x async=true", here, "", "waits for its jobs"},
		{"runner=prism dry_run=true", here, "", "runner prism cannot print a job"},
		{"runner=dataflow", here, "", "--runner dataflow needs --project"},
		{"runner=dataflow project=p", here, "", "--runner dataflow needs --region"},
		{"runner=dataflow project=p region=r", here, "", "--runner dataflow needs --staging_location"},
		{"runner=dataflow environment_type=LOOPBACK", here, "", "Dataflow has DOCKER only"},
		{"runner=dataflow project=p region=r staging_location=gs://b/s", here, "gs://b/fea", here + ": the workers of Dataflow cannot"},
		{"runner=dataflow project=p region=r staging_location=gs://b/s", "gs://b/x", here, here + ": the workers of Dataflow cannot"},
		{"runner=dataflow project=p region=r staging_location=gs://b/s dry_run=true", "gs://b/x", "generated", "dry run"},
	} {
		reset()
		for _, f := range strings.Fields(c.flags) {
			name, value, _ := strings.Cut(f, "=")
			if err := flag.Set(name, value); err != nil {
				t.Fatal(err)
			}
		}
		err := Check(t.Context(), c.out, []string{c.data})
		if c.want == "dry run" && err == nil {
			err = RunShards(t.Context(), Shard{Command: Features, Data: c.data, Features: "pixels=8", Out: c.out}, 2)
		}
		if got := fmt.Sprint(err); !strings.Contains(got, cmp.Or(c.want, "<nil>")) {
			t.Errorf("%s: got error %v, expected %q", c.flags, err, c.want)
		}
	}
}
