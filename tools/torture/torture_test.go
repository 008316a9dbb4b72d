//go:build linux

// Package torture tests the built program under kills, power failures, full or read-only disks, and limited memory.
// Without flags it runs a small part; make torture runs everything.
package torture

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var (
	kills  = flag.Int("kills", 20, "how often commands are killed")
	seed   = flag.Uint64("seed", 1, "seed of the moments of the kills")
	step   = flag.Int("step", 0, "fill disks up to every n-th free size; 0: one size for each job, 0 or 5 free units in turn")
	memory = flag.Bool("memory", false, "run the problems that take much memory")
)

// scene is the common input of all tests: a folder with the program, photographs and experiment files, and a server of
// archives.
var scene struct{ dir, program, mirror, sets string }

func TestMain(m *testing.M) {
	flag.Parse()
	if path, ok := os.LookupEnv(makeVariable); ok { // see TestMemory
		if err := makeData(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	var err error
	if scene.dir, err = os.MkdirTemp("", "torture"); err == nil {
		err = makeScene()
	}
	code := 1
	if err == nil {
		code = m.Run()
	} else {
		fmt.Fprintln(os.Stderr, err)
	}
	os.RemoveAll(scene.dir)
	os.Exit(code)
}

// outcome is the end of a command. Its code is −1 after a kill.
type outcome struct {
	code    int
	printed string
	took    time.Duration
}

// patience is the time limit of a command that is not killed.
const patience = 5 * time.Minute

// runCommand runs the program in a folder and kills it after some time. Unless limit is "", its files may have at most
// this number of blocks of 512 bytes.
func runCommand(t *testing.T, dir, cache string, args []string, killAfter time.Duration, limit string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), killAfter)
	defer cancel()
	words := []string{scene.program}
	if limit != "" {
		words = []string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -f %s && exec "$@"`, limit), "sh", scene.program}
	}
	for _, a := range args {
		words = append(words, strings.ReplaceAll(a, "MIRROR", scene.mirror))
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PARTWISE_CACHE="+cache, "PARTWISE_DATA=", "PARTWISE_TORTURE_SETS="+scene.sets,
		"HOME="+scene.dir, "XDG_CACHE_HOME="+filepath.Join(scene.dir, "user-cache"))
	begin := time.Now()
	printed, err := cmd.CombinedOutput()
	o := outcome{code: -1, printed: string(printed), took: time.Since(begin)}
	if cmd.ProcessState != nil {
		o.code = cmd.ProcessState.ExitCode()
	} else if ctx.Err() == nil {
		t.Fatal(err)
	}
	return o
}

// lastLines returns the end of what a command printed.
func (o outcome) lastLines() string {
	lines := strings.Split(strings.TrimSpace(o.printed), "\n")
	return fmt.Sprintf("exit code %d: %s", o.code, strings.Join(lines[max(0, len(lines)-3):], " / "))
}

// TestKills kills each job's command at random moments, up to three times in a row. Then the command must run to its
// end and leave the bytes of an unbroken run.
func TestKills(t *testing.T) {
	for i, j := range jobs {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			j.prepare(t)
			r := rand.New(rand.NewPCG(*seed, uint64(i)))
			dir := j.state + "-killed"
			done := 0
			for done < (*kills+len(jobs)-1-i)/len(jobs) {
				done += killSeries(t, j, dir, r)
			}
			t.Logf("%d kills", done)
		})
	}
}

// killSeries returns the number of kills.
func killSeries(t *testing.T, j *job, dir string, r *rand.Rand) (done int) {
	x := j.start(t, dir)
	defer x.remove()
	var moments []time.Duration
	defer func() {
		if t.Failed() {
			t.Logf("the kills were at %v", moments)
		}
	}()
	for range 1 + r.IntN(3) {
		moment := time.Duration(r.Float64() * 1.05 * float64(j.took))
		moments = append(moments, moment)
		o := x.run(j.args, moment)
		if j.whole != "" {
			if err := failPower(dir, j.whole); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case o.code == -1 || o.code == 0 && j.whole != "":
			done++
			if r.IntN(2) == 0 { // otherwise the next one finds the files of this one
				x.undo()
			}
		case o.code != 0 && !x.mayRefuse():
			t.Fatalf("started after a kill: %s", o.lastLines())
		}
		x.checkOwned()
	}
	x.finish()
	return done
}
