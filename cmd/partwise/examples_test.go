package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stubs stand for the commands of schedulers: they run arrays and indexed jobs one after the other on this machine.
var stubs = map[string]string{
	"sbatch": `
n=0
while [ $# -gt 1 ]; do
  case $1 in
  --array=0-*) n=${1#--array=0-} ; export SLURM_ARRAY_TASK_COUNT=$((n + 1)) ;;
  --ntasks=*) export SLURM_NTASKS=${1#--ntasks=} ;;
  --parsable | --dependency=afterok:7) ;;
  *) echo "sbatch: unknown $1" >&2; exit 1 ;;
  esac
  shift
done
for i in $(seq 0 "$n"); do SLURM_ARRAY_TASK_ID=$i sh "$1" >&2 || exit 1; done
echo 7
`, "srun": `
while case $1 in --*) true ;; *) false ;; esac; do shift; done
exec "$@"
`, "kubectl": `
case $1 in
apply)
  cat >job
  args=$(sed -n 's/^ *args: \[\(.*\)\]$/\1/p' job | sed 's/", "/" "/g')
  for i in $(seq 0 $(($(sed -n 's/^ *completions: //p' job) - 1))); do
    (cd "$VOLUME" && eval "partwise $(echo "$args" | sed "s|\$(JOB_COMPLETION_INDEX)|$i|")") || exit 1
  done >log ;;
get) echo Complete ;;
logs) cat log ;;
delete) ;;
*) exit 1 ;;
esac
`,
}

// TestSchedulers: the examples for Slurm and Kubernetes, on stubs of their commands, give the files of plain commands.
func TestSchedulers(t *testing.T) {
	if _, err := exec.LookPath("xargs"); err != nil {
		t.Skip("no xargs")
	}
	examples, err := filepath.Abs("../../examples")
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range []string{"0/3", "1/3", "2/3"} {
		must(t, "features", "generated", "--features", "pixels=8", "--shard", shard, "--out", "features", "--float32")
	}
	must(t, "cluster", "features", "-k", "4", "--passes", "1", "--out", "model.npz")
	for _, shard := range []string{"0/3", "1/3", "2/3"} {
		must(t, "assign", "model.npz", "features", "--shard", shard, "--out", "groups")
	}
	for name, text := range stubs {
		place(t, filepath.Join("bin", name), "#!/bin/sh"+text)
		if err := os.Chmod(filepath.Join("bin", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(program, "bin/partwise"); err != nil {
		t.Skip(err)
	}
	for _, script := range []string{"slurm/submit.sh", "kubernetes/learn.sh"} {
		t.Run(filepath.Dir(script), func(t *testing.T) {
			out := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh", filepath.Join(examples, script))
			cmd.Env = append(os.Environ(), asProgram+"=1", "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"),
				"DATA=generated", "OUT="+out, "VOLUME="+out, "K=4", "SHARDS=3", "PASSES=1", "FEATURES=pixels=8")
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", script, err, text)
			}
			for _, name := range []string{"features/rows-00001-of-00003.npz", "groups/rows-00000-of-00003.csv", "groups/rows-00002-of-00003.csv"} {
				if read(t, name) != read(t, out, name) {
					t.Errorf("%s differs", name)
				}
			}
		})
	}
	readmes, err := filepath.Glob(filepath.Join(examples, "*", "README.md"))
	for _, file := range readmes {
		if n := strings.Count(read(t, file), "\n"); n > 25 {
			t.Errorf("%s has %d lines", file, n)
		}
	}
	if len(readmes) == 0 || err != nil {
		t.Errorf("no pages of examples (%v)", err)
	}
}
