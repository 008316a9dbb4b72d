package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// inShards writes the features of the generated set in shards and returns their folder.
func inShards(t *testing.T, shards int, more ...string) string {
	t.Helper()
	dir := fmt.Sprintf("fea%d", shards)
	for i := range shards {
		must(t, append([]string{"features", "generated", "--features", "pixels=8", "--out", dir, "--shard", fmt.Sprintf("%d/%d", i, shards)}, more...)...)
	}
	return dir
}

// TestPasses: passes here, by xargs in another order with a worker that is killed, and by pass and merge give equal bytes.
func TestPasses(t *testing.T) {
	if _, err := exec.LookPath("xargs"); err != nil {
		t.Skip("no xargs")
	}
	t.Chdir(t.TempDir())
	t.Setenv(asProgram, "1")
	fea := inShards(t, 5, "--float32")
	// The first worker is killed in its pass.
	write(t, "worker.sh", "if mkdir killed 2>/dev/null; then \"$@\" & kill -9 $!; wait; exit 1; fi; exec \"$@\"\n")
	const command = "sort -r | xargs -P 2 -L 1 sh worker.sh"
	for _, learn := range []string{"fit " + fea + " --rank 4 --method nmf,tolerance=1e-15", "fit " + fea + " --rank 4 --method nmf-kl", "cluster " + fea + " -k 5"} {
		args := append(strings.Fields(learn), "--passes", "2", "--out")
		here := must(t, append(args, "here.npz", "--force")[:len(args)+1]...)
		os.RemoveAll("killed")
		code, there, stderr := partwise(append(args, "there.npz", "--run", command)...)
		if code != exitDone || strings.ReplaceAll(there, "there", "here") != here {
			t.Fatalf("%s: exit code %d, %s; said %s%s", learn, code, stderr, there, here)
		}
		if _, err := os.Stat("killed"); err != nil || read(t, "here.npz") != read(t, "there.npz") {
			t.Errorf("%s: the models differ, or no worker was killed (%v)", learn, err)
		}
		// One more pass continues, and equals pass and merge.
		must(t, "pass", "here.npz", fea, "--shard", "2/5", "--out", "sums")
		must(t, "pass", "here.npz", filepath.Join(fea, "rows-*.npz"), "--out", "sums")
		must(t, "merge", "here.npz", "sums", "--out", "next.npz", "--force")
		args[len(args)-2] = "3"
		must(t, append(args, "there.npz")...)
		if read(t, "next.npz") != read(t, "there.npz") {
			t.Errorf("%s: pass and merge differ from --passes 3", learn)
		}
		for _, file := range []string{"here.npz", "there.npz", "next.npz"} {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}
		if left, _ := filepath.Glob("*.npz.sums"); left != nil {
			t.Errorf("%s left %v", learn, left)
		}
	}
	place(t, "x.npz.sums/sums-00000-of-00005.npz", "mine")
	must(t, "cluster", fea, "-k", "5", "--passes", "0", "--out", "x.npz")
	if read(t, "x.npz.sums/sums-00000-of-00005.npz") != "mine" {
		t.Error("a file that is no sums was changed")
	}
}

// TestShards: shards give the features of all samples in order; whole ones stay, torn ones are written again, and models
// of passes serve apply and assign.
func TestShards(t *testing.T) {
	t.Chdir(t.TempDir())
	fea := inShards(t, 3)
	must(t, "features", "generated", "--features", "pixels=8", "--out", "whole.npz")
	must(t, "features", fea, "--out", "joined.csv")
	must(t, "features", "whole.npz", "--out", "whole.csv")
	if read(t, "joined.csv") != read(t, "whole.csv") {
		t.Error("the shards together differ from the whole")
	}
	shard := filepath.Join(fea, "rows-00001-of-00003.npz")
	text := read(t, shard)
	write(t, shard, text[:len(text)/2])
	if inShards(t, 3); read(t, shard) != text {
		t.Error("a torn shard stays")
	}
	if out := must(t, "features", "generated", "--features", "pixels=8", "--out", fea, "--shard", "1/3"); !strings.Contains(out, "already there") {
		t.Errorf("said %q about a shard that is there", out)
	}
	place(t, filepath.Join("mine", "rows-00000-of-00003.npz"), "not of partwise")
	for line, want := range map[string]string{
		"features generated --features pixels=8 --out mine --shard 0/3":        "already exists",
		"features generated --features pixels=9 --out " + fea + " --shard 1/3": "already exists",
		"features generated --out x --shard 3/3":                               "expected INDEX/COUNT",
		"features generated --out x.npz --shard 0/3":                           "expected a folder",
		"features generated --features pixels=8,whiten=1 --out x --shard 0/3":  "learns from all samples",
		"fit " + fea + " --method ccf --rank 3 --passes 1 --out x.npz":         "consists of samples",
		"fit " + fea + " --passes 1 --out x.npz":                               "needs a number in --rank",
		"fit " + fea + " --rank 2 --passes 1 --trace x.csv --out x.npz":        "cannot be used together",
		"fit " + fea + " --rank 2 --passes 1 --run false --out false.npz":      "left the sums of 3 of 3 shards",
		"fit whole.npz --rank 2 --passes 1 --out x.npz":                        "no shards",
		"merge whole.npz sums --out x2.npz":                                    "not a usable model",
		"pass whole.npz " + fea + " --out " + fea:                              "inside the data folder",
	} {
		if code, _, stderr := partwise(strings.Fields(line)...); code == exitDone || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, said %q; expected %q", line, code, stderr, want)
		}
	}
	if _, err := os.Stat("x"); err == nil {
		t.Error("a mistake in the data left a folder")
	}
	must(t, "cluster", fea, "-k", "4", "--passes", "3", "--out", "groups.npz")
	must(t, "fit", fea, "--rank", "3", "--passes", "3", "--out", "nmf.npz")
	must(t, "fit", fea, "--rank", "3", "--batch", "100", "--out", "batch.npz")
	all := ""
	for i := range 3 {
		assign := []string{"assign", "groups.npz", fea, "--shard", fmt.Sprintf("%d/3", i), "--out", "assigned"}
		must(t, assign...)
		if said := must(t, assign...); !strings.Contains(said, "is already there") {
			t.Errorf("again, assign said %q", said)
		}
		if code, _, stderr := partwise(append(assign, "--reject", "0.5")...); code == exitDone || !strings.Contains(stderr, "already exists") {
			t.Errorf("assign with another --reject: exit code %d, said %q", code, stderr)
		}
		must(t, "apply", "nmf.npz", fea, "--shard", fmt.Sprintf("%d/3", i), "--out", "codes")
		_, rows, _ := strings.Cut(read(t, "assigned", fmt.Sprintf("rows-%05d-of-00003.csv", i)), "\n")
		all += rows
	}
	must(t, "assign", "groups.npz", fea, "--out", "all.csv")
	if _, rows, _ := strings.Cut(read(t, "all.csv"), "\n"); rows != all {
		t.Error("the shards of assign differ from the whole")
	}
	if err := os.Remove(shard); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := partwise("fit", fea, "--rank", "2", "--out", "y.npz"); code != exitFailed || !strings.Contains(stderr, shard+": shard 1/3 is missing") {
		t.Errorf("a missing shard: exit code %d, said %q", code, stderr)
	}
}

// TestWordsInPasses: words are learned from descriptors in shards, and used by features in shards.
func TestWordsInPasses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, shard := range []string{"0/2", "1/2"} {
		must(t, "vocab", "generated", "--features", "sift=dense,words=8", "--shard", shard, "--out", "descriptors")
	}
	must(t, "vocab", "descriptors", "--count", "8", "--passes", "2", "--out", "words.npz")
	must(t, "features", "generated", "--features", "sift=dense,words={from:words.npz}", "--shard", "0/2", "--out", "fea")
}

// TestJoin: the trials of shards together give the files of one run.
func TestJoin(t *testing.T) {
	workplace(t)
	args := []string{"run", "docs/experiments/demo.yaml", "--classes", "2,3", "--repeats", "2", "--features", "pixels=6"}
	must(t, append(args, "--out", "whole")...)
	for _, shard := range []string{"0/3", "1/3", "2/3"} {
		must(t, append(args, "--shard", shard, "--out", "part"+shard[:1])...)
	}
	if code, _, stderr := partwise("join", "part0", "part2", "--out", "joined"); code != exitFailed || !strings.Contains(stderr, "trials are in none of the folders") {
		t.Errorf("without a part: exit code %d, said %q", code, stderr)
	}
	must(t, "join", "part2", "part0", "part1", "--out", "joined")
	want, got := files(t, "whole"), files(t, "joined")
	for name, text := range want {
		other, ok := got[name]
		if !ok || text != strings.ReplaceAll(other, "joined", "whole") && !strings.Contains(name, "manifest") {
			t.Errorf("%s differs", name)
		}
	}
}
