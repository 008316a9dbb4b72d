package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/reproduce"
)

// program is a running partwise whose standard error is a terminal.
type program struct {
	*exec.Cmd
	t        *testing.T
	terminal *os.File
	said     strings.Builder
}

// start starts the program in the current folder.
func start(t *testing.T, args ...string) *program {
	t.Helper()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminals here: ", err)
	}
	t.Cleanup(func() { terminal.Close() })
	if err := unix.IoctlSetPointerInt(int(terminal.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(terminal.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	side, err := os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer side.Close()
	p := &program{Cmd: exec.CommandContext(t.Context(), os.Args[0], args...), t: t, terminal: terminal}
	p.Env = append(os.Environ(), asProgram+"=1")
	p.Stderr = side
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	return p
}

// read reads the output up to words, or to the end for "".
func (p *program) read(words string) {
	p.t.Helper()
	buf := make([]byte, 1024)
	for words == "" || !strings.Contains(p.said.String(), words) {
		n, err := p.terminal.Read(buf)
		p.said.Write(buf[:n])
		if err != nil { // EIO if the other side is closed
			if words != "" {
				p.t.Fatalf("it ended without %q: %s", words, p.said.String())
			}
			return
		}
	}
}

// end reads the rest and returns the exit code.
func (p *program) end() int {
	p.t.Helper()
	p.read("")
	var failed *exec.ExitError
	if err := p.Wait(); err != nil && !errors.As(err, &failed) {
		p.t.Fatal(err)
	}
	return p.ProcessState.ExitCode()
}

func (p *program) signal(s os.Signal) {
	p.t.Helper()
	if err := p.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// photographs makes a folder of n images of 640×480 pixels.
func photographs(t *testing.T, dir string, n int) {
	t.Helper()
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	source := datasets.Generated(1)
	for i := range n {
		pgm, row := []byte("P5 640 480 255\n"), mat.Row(nil, i, source.Vectors)
		for p := range 640 * 480 {
			pgm = append(pgm, byte(row[p%len(row)])^byte(p>>9))
		}
		write(t, filepath.Join(dir, fmt.Sprintf("%d.pgm", i)), string(pgm))
	}
}

// TestInterrupt: a signal in each stage stops cluster with a message about the cache, and the next run continues. A
// profile is complete.
func TestInterrupt(t *testing.T) {
	workplace(t)
	photographs(t, "big", 40)
	cache := t.TempDir()
	for _, test := range []struct {
		stage, line, want string
		signal            os.Signal
	}{
		{"reading", "cluster big -k 3 --features pixels=256", "stopped while reading: no results were replaced; run the same command again to resume from the cache", os.Interrupt},
		{"reading", "cluster big -k 3 --cache " + cache, "stopped while reading: no results were replaced; run the same command again to resume from the cache", os.Interrupt},
		{"describing images", "cluster big -k 3 --features sift --no-cache", "stopped while describing images: no results were replaced; run the same command again to resume from the cache", syscall.SIGTERM},
		{"describing images", "features big --out f.npz --features sift=dense,words=5 --cache " + cache, "stopped while describing images: no results were replaced; run the same command again to resume from the cache", os.Interrupt},
		{"factorising", "cluster photos -k 3 --features pixels=8 --method nmf,iterations=1000000 --profile stopped.pprof", "stopped while factorising: no results were replaced; run the same command again to resume from the cache", os.Interrupt},
		{"drawing", "cluster big -k 3 --features pixels=16 --method nmf --cache " + cache, "stopped while drawing: no results were replaced; run the same command again to resume from the cache", os.Interrupt},
	} {
		if testkit.Race && testing.Short() && strings.Contains(test.line, "--cache") {
			continue // the same stage without a cache stops alike
		}
		p := start(t, strings.Fields(test.line)...)
		p.read(test.stage)
		p.signal(test.signal)
		code := p.end()
		if said := p.said.String(); code != exitInterrupted || !strings.Contains(said, test.want) || !strings.Contains(said, "press Ctrl-C again to stop immediately") {
			t.Errorf("partwise %s: exit code %d, said %q", test.line, code, said)
		}
	}
	if _, err := os.Stat("results"); err == nil {
		t.Error("a run that was stopped left results")
	}
	checkProfile(t, "stopped.pprof")
}

// TestInterruptReproduce: a signal during the trials of a recipe keeps finished trials, and the same command ends with
// the files of an unbroken run.
func TestInterruptReproduce(t *testing.T) {
	workplace(t)
	recipeFiles(t)
	slow := strings.Replace(read(t, "tiny.yaml"), "iterations: 5}", "iterations: 500}", 1)
	write(t, "tiny.yaml", slow)
	p := start(t, strings.Fields("reproduce tiny.yaml --quick --out a --workers 1")...)
	p.read("trials")
	for log := ""; strings.Count(log, "\n") < 4; {
		time.Sleep(time.Millisecond)
		data, _ := os.ReadFile(filepath.Join("a", "results.jsonl"))
		log = string(data)
	}
	p.signal(os.Interrupt)
	code := p.end()
	if said := p.said.String(); code != exitInterrupted || !strings.Contains(said, "stopped: finished trials are in a; run the same command again to resume") {
		t.Errorf("exit code %d, said %q", code, said)
	}
	kept := strings.Count(read(t, "a", "results.jsonl"), "\n")
	if _, err := os.Stat(filepath.Join("a", reproduce.TextFile)); err == nil || kept < 4 {
		t.Errorf("%d lines of the log were kept, and the text is there: %t", kept, err == nil)
	}
	again := must(t, "reproduce", "tiny.yaml", "--quick", "--out", "a")
	whole := must(t, "reproduce", "tiny.yaml", "--quick", "--out", "b")
	if strings.ReplaceAll(again, " a", " b") != strings.ReplaceAll(whole, " a", " b") {
		t.Errorf("after a signal it printed\n%s\nand without\n%s", again, whole)
	}
	for _, file := range []string{reproduce.TextFile, reproduce.MarkdownFile, "results.jsonl"} {
		if read(t, "a", file) != read(t, "b", file) {
			t.Errorf("%s differs", file)
		}
	}
}

// TestProgressInOrder: finished work is not shown again after the next, also with an unknown total.
func TestProgressInOrder(t *testing.T) {
	workplace(t)
	photographs(t, "big", 4)
	p := start(t, strings.Fields("cluster big -k 2 --method nmf,iterations=5 --features sift=dense,words=5 --no-cache")...)
	code := p.end()
	said := p.said.String()
	if code != exitDone || !strings.Contains(said, "learning visual words") || strings.LastIndex(said, "learning visual words") > strings.Index(said, "factorising") {
		t.Errorf("exit code %d, said %q", code, said)
	}
}

// TestInterruptUnread: the second signal ends a program even if nobody reads its output.
func TestInterruptUnread(t *testing.T) {
	workplace(t)
	pipe := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	var full [2]int
	if err := unix.Pipe2(full[:], unix.O_NONBLOCK|unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	unread, said := os.NewFile(uintptr(full[0]), "unread"), os.NewFile(uintptr(full[1]), "said")
	defer unread.Close()
	for err := error(nil); err == nil; {
		_, err = unix.Write(full[1], []byte{0})
	}
	if err := unix.SetNonblock(full[1], false); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "run", pipe)
	cmd.Env, cmd.Stderr = append(os.Environ(), asProgram+"=1"), said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said.Close()
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program reads
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for range 1000 {
		cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
			if code := cmd.ProcessState.ExitCode(); code != exitInterrupted {
				t.Errorf("exit code %d", code)
			}
			return
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Error("signals do not end it")
	cmd.Process.Kill()
}

// TestSecondInterrupt: the second signal ends a program that ignores the first.
func TestSecondInterrupt(t *testing.T) {
	workplace(t)
	pipe := filepath.Join(t.TempDir(), "experiment.yaml")
	if err := unix.Mkfifo(pipe, 0o600); err != nil {
		t.Skip("no named pipes here: ", err)
	}
	p := start(t, "run", pipe)
	w, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until the program reads
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	io.WriteString(w, "name: x\n")
	p.signal(os.Interrupt)
	p.read("press Ctrl-C again to stop immediately")
	p.signal(os.Interrupt)
	if code := p.end(); code != exitInterrupted {
		t.Errorf("exit code %d, said %q", code, p.said.String())
	}
}
