package main

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/pipeline"
)

// TestFeatures: what is written is what an experiment works on, in every form, and
// saved words make the same histograms again.
func TestFeatures(t *testing.T) {
	workplace(t)
	const sift = "sift={step: 4, bins: 2},words=9,grid=2x2"
	var first *datasets.Set
	for _, file := range []string{"f.npz", "f.mat", "f.csv"} {
		out := must(t, "features", "photos", "--pattern", "{class}-*", "--features", sift, "--words", "words-"+file[2:]+".npz", "--out", file)
		if !strings.Contains(out, "36 features") || !strings.Contains(out, "are in "+file) {
			t.Errorf("said %q", out)
		}
		set, err := datasets.Open(t.Context(), file, datasets.OpenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = set
		}
		if !mat.Equal(set.Vectors, first.Vectors) || len(set.Classes) != len(first.Classes) || set.Names[0] != first.Names[0] {
			t.Errorf("%s holds something else than f.npz", file)
		}
	}
	must(t, "features", "photos", "--features", "sift={step: 4, bins: 2},words={from: words-npz.npz},grid=2x2", "--no-cache", "--out", "again.npz")
	again, err := datasets.Open(t.Context(), "again.npz", datasets.OpenOptions{})
	if err != nil || !mat.Equal(again.Vectors, first.Vectors) {
		t.Errorf("saved words make other histograms: %v", err)
	}
	if out := must(t, "cluster", "photos", "-k", "2", "--features", sift); !strings.Contains(out, "in 2 groups") {
		t.Errorf("said %q", out)
	}

	for _, c := range []struct {
		args []string
		want string
		code int
	}{
		{[]string{"features", "photos"}, "--out", exitUsage},
		{[]string{"features", "photos", "--out", "f.txt"}, "f.txt", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--words", "w.npz"}, "--words", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words=0"}, "whole number", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words=9", "--cache", "c", "--no-cache"}, "--no-cache", exitUsage},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words={from: missing.npz}"}, "missing.npz", exitFailed},
		{[]string{"features", "photos", "--out", "new.npz", "--features", "sift=dense,words=100000"}, "100000", exitFailed},
	} {
		var stdout, stderr strings.Builder
		if code := run(c.args, &stdout, &stderr); code != c.code || !strings.Contains(stderr.String(), c.want) || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("%v: exit code %d, said %q; want code %d and a line with %q", c.args, code, stderr.String(), c.code, c.want)
		}
	}

	// A photograph that is smaller than a patch is named, or left out.
	if err := os.WriteFile(filepath.Join("photos", "tiny.pgm"), []byte("P5 3 3 255\nabcabcabc"), 0o666); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	if code := run([]string{"features", "photos", "--features", sift, "--strict", "--out", "new.npz"}, &stdout, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "tiny.pgm: no descriptors: the image has 3×3 pixels") {
		t.Errorf("exit code %d, said %q", code, stderr.String())
	}
	stderr.Reset()
	if code := run([]string{"features", "photos", "--features", sift, "--out", "new.npz"}, &stdout, &stderr); code != exitDone || !strings.Contains(stderr.String(), "skipped 1 of 73 files: 1 without features; see new.npz.skipped.csv") {
		t.Errorf("exit code %d, said %q", code, stderr.String())
	}
}

// TestFeaturesTogether: several features are joined, what is written says which columns are
// whose, and with the scales that cluster keeps there are the same again.
func TestFeaturesTogether(t *testing.T) {
	workplace(t)
	const sift, colour = "sift={step: 4, bins: 2},words=9,grid=2x2,normalise=l1", "colour,grid=2x2,normalise=l1,weight=0.5"
	if out := must(t, "features", "photos", "--features", sift+"+"+colour, "--words", "w.npz", "--out", "f.csv"); !strings.Contains(out, "324 features") || !strings.Contains(out, ", of weight 0.5.") {
		t.Errorf("said %q", out)
	}
	text := read(t, "f.csv")
	heading, _, _ := strings.Cut(text, "\n")
	if columns := strings.Split(heading, ","); columns[2] != "sift1" || columns[37] != "sift36" || columns[38] != "colour1" || columns[len(columns)-1] != "colour288" {
		t.Errorf("the columns are %s", heading)
	}
	must(t, "cluster", "photos", "-k", "2", "--features", sift+"+"+colour)
	lines := strings.Split(strings.TrimSpace(read(t, filepath.Join("results", "photos-groups", "features.csv"))), "\n")
	if len(lines) != 3 || lines[0] != "feature,columns,scale" || !strings.HasPrefix(lines[1], "sift,36,") || !strings.HasPrefix(lines[2], "colour,288,") {
		t.Fatalf("the scales are %q", lines)
	}
	again := strings.Replace(sift, "9", "{from: w.npz}", 1) + ",scale=" + strings.Split(lines[1], ",")[2] + "+" + strings.Replace(colour, "weight=0.5", "scale="+strings.Split(lines[2], ",")[2], 1)
	must(t, "features", "photos", "--features", again, "--out", "again.csv")
	if read(t, "again.csv") != text {
		t.Error("with the same words and scales there are other features")
	}
	must(t, "cluster", "photos", "-k", "2", "--features", "hog")
	if _, err := os.Stat(filepath.Join("results", "photos-groups", "features.csv")); !os.IsNotExist(err) {
		t.Errorf("the scales of other features are left: %v", err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"features", "photos", "--features", "hog+colour", "--words", "v.npz", "--out", "new.npz"}, "--words is for"},
		{[]string{"cluster", "photos", "-k", "2", "--features", "hog+sift+sift"}, "visual words are among the features twice"},
		{[]string{"cluster", "photos", "-k", "2", "--batch", "10", "--features", "hog+colour"}, "not in blocks"},
		{[]string{"cluster", "photos", "-k", "2", "--method", "ntf", "--features", "pixels+pixels"}, "is for images"},
	} {
		if code, _, stderr := partwise(c.args...); code == exitDone || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, said %q, want a line with %q", c.args, code, stderr, c.want)
		}
	}
}

// cancelling cancels a context when it is written to that something was skipped, which is known when the features are made.
type cancelling struct{ context.CancelFunc }

func (c cancelling) Write(p []byte) (int, error) {
	if bytes.Contains(p, []byte("skipped")) {
		c.CancelFunc()
	}
	return len(p), nil
}

// TestFeaturesStopped: stopped while it writes, features says what is kept.
func TestFeaturesStopped(t *testing.T) {
	workplace(t)
	write(t, "photos/bad.png", "of which a note tells before the file is written")
	ctx, cancel := context.WithCancel(t.Context())
	cmd := featuresCommand()
	cmd.SetErr(cancelling{cancel})
	cmd.SetArgs([]string{"photos", "--out", "f.npz"})
	cmd.SilenceUsage = true
	err := cmd.ExecuteContext(ctx)
	if err == nil || err.Error() != "stopped while writing f.npz: the file is as it was, nothing is kept, and the same command begins again" {
		t.Errorf("error %v", err)
	}
}

// TestFewSmallPictures: photographs are compared by the network also where icons are among
// them, as long as they are no more than half.
func TestFewSmallPictures(t *testing.T) {
	dir := t.TempDir()
	add := func(name string, side int) string {
		path := filepath.Join(dir, name)
		var file bytes.Buffer
		if err := png.Encode(&file, image.NewGray(image.Rect(0, 0, 200, side))); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	set := &datasets.Set{Files: []string{add("a.png", 64), add("b.png", 300), add("icon.png", 16), add("small.png", 63)}}
	if of := (pipeline.Features{Auto: true}).Resolve(set); !of.OfNetwork() {
		t.Errorf("features %v of photographs and icons", of)
	}
	set.Files = append(set.Files, add("third.png", 1))
	if of := (pipeline.Features{Auto: true}).Resolve(set); of.OfNetwork() {
		t.Errorf("features %v of icons and photographs", of)
	}
}
