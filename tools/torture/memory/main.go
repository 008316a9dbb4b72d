//go:build linux || darwin

// Memory measures how much memory partwise takes under --memory: it makes large
// problems, runs the command on each with several limits, and prints a table of the
// peaks of the resident set. A run that takes more than its limit, and one that
// fails but is not refused, are faults, and the exit code is then 1.
//
//	go run ./torture/memory
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
)

// problem is something that takes much memory.
type problem struct {
	name string
	// make writes the data, and run returns the arguments of the command, but for
	// the limit and where the results go.
	make func(path string) error
	args func(path string) []string
	// limits are the limits to run it with.
	limits []string
}

func experiment(path string, args ...string) []string {
	return append([]string{"run", "--set", path, "--name", "memory", "--repeats", "1", "--cluster", "restarts=1"}, args...)
}

var problems = []problem{
	{"20,000 pictures, 32×32", pictures, func(path string) []string {
		return experiment(path, "--method", "nmf,iterations=10", "--features", "pixels=32")
	}, []string{"256MB", "1GB", "4GB"}},
	{"20,000 pictures, 4096×4096", pictures, func(path string) []string {
		return experiment(path, "--method", "nmf,iterations=10", "--features", "pixels=4096")
	}, []string{"1GB", "4GB"}},
	{"5,000 classes", classes, func(path string) []string {
		return experiment(path, "--method", "nmf,iterations=5", "--rank", "20")
	}, []string{"512MB", "3GB"}},
	{"200,000×1,000 sparse", sparseData, func(path string) []string {
		return experiment(path, "--method", "nmf,iterations=10", "--rank", "10")
	}, []string{"256MB", "1GB", "4GB"}},
	{"200,000×1,000 sparse, cf-ogl", sparseData, func(path string) []string {
		return experiment(path, "--method", "cf-ogl", "--rank", "10")
	}, []string{"4GB"}},
	{"rank 500 of 4,000×1,024", dense, func(path string) []string {
		return experiment(path, "--method", "nmf,iterations=5", "--rank", "500")
	}, []string{"256MB", "1GB"}},
	{"normalised cuts of 4,000×1,024", dense, func(path string) []string {
		return experiment(path, "--method", "ncut")
	}, []string{"512MB"}},
	{"four 100-megapixel PNGs of 16 bits", large, func(path string) []string {
		return []string{"features", path, "--features", "pixels=32,colour=true", "--no-cache"}
	}, []string{"512MB", "2.5GB", "8GB"}},
	{"the same by visual words", large, func(path string) []string {
		return []string{"features", path, "--features", "sift=dense,words=20,grid=1x1", "--no-cache"}
	}, []string{"512MB", "2.5GB"}},
}

func main() {
	binary := flag.String("partwise", "", "the command to measure (default one that is built)")
	only := flag.String("only", "", "measure the problems whose names hold this")
	asJSON := flag.Bool("json", false, "print a line of JSON for each run in place of the table")
	number := flag.Int("make", -1, "write the data of the problem of this number to the path that follows, and end")
	flag.Parse()
	if *number >= 0 {
		if err := problems[*number].make(flag.Arg(0)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	print := printRow
	if *asJSON {
		print = func(r row) { _ = json.NewEncoder(os.Stdout).Encode(r) }
	} else {
		fmt.Println("| problem | --memory | outcome | peak | time |")
		fmt.Println("|---|---:|---|---:|---:|")
	}
	if err := measure(*binary, *only, print); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// row is what came of one run. Its JSON is that of a row of the torture program.
type row struct {
	What     string   `json:"what"`
	Times    int      `json:"times"`
	Limit    string   `json:"limit"`
	Outcome  string   `json:"outcome"`
	Peak     int64    `json:"peak"` // bytes
	Seconds  float64  `json:"seconds"`
	Failures int      `json:"failures"`
	Examples []string `json:"examples,omitempty"`
}

func printRow(r row) {
	fmt.Printf("| %s | %s | %s | %s | %.1f s |\n", r.What, r.Limit, r.Outcome, bytesize.Format(r.Peak), r.Seconds)
}

// measure runs the problems whose names hold only and gives each row to print.
func measure(binary, only string, print func(row)) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "partwise-memory-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if binary == "" {
		binary = filepath.Join(dir, "partwise")
		build := exec.Command("go", "build", "-o", binary, "github.com/seed4492f2cd/partwise/cmd/partwise")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
	}
	var faults []error
	for i, p := range problems {
		if !strings.Contains(p.name, only) {
			continue
		}
		data := filepath.Join(dir, fmt.Sprintf("data%d", i))
		// In a process of its own: the peak of a process is at least what the one
		// that started it had.
		if out, err := exec.Command(self, "-make", fmt.Sprint(i), data).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", p.name, err, out)
		}
		if _, err := os.Stat(data); err != nil {
			data += ".npz"
		}
		for _, limit := range p.limits {
			r, err := one(binary, filepath.Join(dir, "out"), data, p, limit)
			if err != nil {
				return err
			}
			for _, e := range r.Examples {
				faults = append(faults, fmt.Errorf("%s with %s: %s", r.What, r.Limit, e))
			}
			print(r)
		}
		if err := os.RemoveAll(data); err != nil {
			return err
		}
	}
	return errors.Join(faults...)
}

// one runs a problem under a limit.
func one(binary, out, data string, p problem, limit string) (r row, err error) {
	defer os.RemoveAll(out)
	most, err := bytesize.Parse(limit)
	if err != nil {
		return r, err
	}
	args := append(p.args(data), "--memory", limit, "--out", out)
	if args[0] == "features" {
		args[len(args)-1] += ".npz"
		defer os.Remove(args[len(args)-1])
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	err = cmd.Run()
	took := time.Since(begin)
	if cmd.ProcessState == nil {
		return r, err
	}
	peak := cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss
	if runtime.GOOS == "linux" {
		peak <<= 10
	}
	r = row{What: p.name, Times: 1, Limit: limit, Outcome: "ran", Peak: peak, Seconds: took.Seconds()}
	switch said := strings.TrimSpace(stderr.String()); {
	case err == nil:
	case strings.Contains(said, "(--memory sets the limit)"):
		_, need, _ := strings.Cut(said, "this needs ")
		need, _, _ = strings.Cut(need, " of memory")
		r.Outcome = "refused: needs " + need
	default:
		r.Outcome = "failed"
		first, _, _ := strings.Cut(said, "\n")
		r.Examples = append(r.Examples, fmt.Sprintf("%v: %s", err, first))
	}
	if peak > most {
		r.Outcome += ", above the limit"
		r.Examples = append(r.Examples, "the peak is "+bytesize.Format(peak))
	}
	r.Failures = min(len(r.Examples), 1)
	return r, nil
}

// pictures writes 20,000 pictures of two classes.
func pictures(path string) error {
	src := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		folder := filepath.Join(path, fmt.Sprint("class", i%2))
		if i < 2 {
			if err := os.MkdirAll(folder, 0o777); err != nil {
				return err
			}
		}
		img := image.NewGray(image.Rect(0, 0, 32, 32))
		for j := range img.Pix {
			img.Pix[j] = uint8(100 + 100*((j/32+i)%2) + src.IntN(50))
		}
		var text bytes.Buffer
		if err := png.Encode(&text, img); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%05d.png", i)), text.Bytes(), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// vectors writes a set of vectors with classes.
func vectors(path string, x mat.Matrix, classes int) error {
	n, _ := x.Dims()
	set := &datasets.Set{Name: "memory", Vectors: x}
	for c := range classes {
		set.Classes = append(set.Classes, fmt.Sprint("class", c))
	}
	for i := range n {
		set.Names = append(set.Names, fmt.Sprint("row", i))
		set.Labels = append(set.Labels, i%classes)
	}
	return datasets.Write(context.Background(), path+".npz", set)
}

// random returns an n×m matrix whose rows depend on their classes.
func random(n, m, classes int) *mat.Dense {
	src := rand.New(rand.NewPCG(1, 2))
	x := mat.NewDense(n, m, nil)
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = src.Float64()
		}
		row[i%classes%m]++
	}
	return x
}

func classes(path string) error { return vectors(path, random(10_000, 64, 5_000), 5_000) }

func dense(path string) error { return vectors(path, random(4_000, 1_024, 10), 10) }

func sparseData(path string) error {
	const n, m, stored, classes = 200_000, 1_000, 20, 10
	src := rand.New(rand.NewPCG(1, 3))
	entries := make([]sparse.Entry, 0, n*stored)
	for i := range n {
		for range stored {
			j := src.IntN(m)
			if src.IntN(2) == 0 {
				j = j/classes*classes + i%classes
			}
			entries = append(entries, sparse.Entry{Row: i, Col: j, Value: 1 + src.Float64()})
		}
	}
	return vectors(path, sparse.FromEntries(n, m, entries), classes)
}

// large writes four pictures of 10,000×10,000 pixels of 16 bits, of stripes, so
// that their files are small.
func large(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	const side = 10_000
	img := image.NewRGBA64(image.Rect(0, 0, side, side))
	for i := range 4 {
		for x := range side {
			c := color.RGBA64{R: uint16(x/100*600 + i), G: uint16(i * 9000), B: 500, A: 0xffff}
			img.SetRGBA64(x, 0, c)
		}
		for y := 1; y < side; y++ {
			copy(img.Pix[y*img.Stride:(y+1)*img.Stride], img.Pix[:img.Stride])
		}
		f, err := os.Create(filepath.Join(path, fmt.Sprintf("%d.png", i)))
		if err != nil {
			return err
		}
		if err := errors.Join(png.Encode(f, img), f.Close()); err != nil {
			return err
		}
	}
	return nil
}
