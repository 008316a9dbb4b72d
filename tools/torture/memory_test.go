//go:build linux

package torture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/vectorfile"
	"github.com/seed4492f2cd/partwise/internal/sparse"
	"github.com/seed4492f2cd/partwise/internal/text/bytesize"
)

// data are the data sets of the large problems, by file name.
var data = map[string]func(path string) error{
	"images":  images,
	"classes": func(path string) error { return vectors(path, random(10_000, 64, 5_000), 5_000) },
	"dense":   func(path string) error { return vectors(path, random(4_000, 1_024, 10), 10) },
	"sparse":  sparseData,
	"large":   largeImages,
}

const runOne = "run --name memory --repeats 1 --cluster restarts=1 --set "

// problems are commands that need much memory, with their limits. Commands that are refused at once also run without
// the flag memory.
var problems = []struct {
	name, data, command string
	refused, runs       []string
}{
	{"20,000 images, 32×32", "images", runOne + "DATA --method nmf,iterations=10 --features pixels=32",
		nil, []string{"256MB", "1GB", "4GB"}},
	{"20,000 images, 4096×4096", "images", runOne + "DATA --method nmf,iterations=10 --features pixels=4096",
		nil, []string{"1GB", "4GB"}},
	{"5,000 classes", "classes", runOne + "DATA --method nmf,iterations=5 --rank 20",
		[]string{"512MB"}, []string{"3GB"}},
	{"200,000×1,000 sparse", "sparse", runOne + "DATA --method nmf,iterations=10 --rank 10",
		nil, []string{"256MB", "1GB", "4GB"}},
	{"200,000×1,000 sparse, cf-ogl", "sparse", runOne + "DATA --method cf-ogl --rank 10",
		nil, []string{"4GB"}},
	{"rank 500 of 4,000×1,024", "dense", runOne + "DATA --method nmf,iterations=5 --rank 500",
		[]string{"256MB"}, []string{"1GB"}},
	{"normalised cuts of 4,000×1,024", "dense", runOne + "DATA --method ncut",
		[]string{"512MB"}, nil},
	{"four 100-megapixel PNGs of 16 bits", "large", "features DATA --features pixels=32,colour=true --no-cache",
		nil, []string{"512MB", "2.5GB", "8GB"}},
	{"the same PNGs, visual words", "large", "features DATA --features sift=dense,words=20,grid=1x1 --no-cache",
		nil, []string{"512MB", "2.5GB"}},
}

// makeVariable names a data set for a process of this test that makes it and ends.
const makeVariable = "TORTURE_MAKE"

func makeData(path string) error { return data[filepath.Base(path)](path) }

// TestMemory runs large problems under --memory. A run must keep its peak memory within the limit, or be refused with
// the bytes that it needs.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	for _, p := range problems {
		limits := p.refused
		if *memory {
			limits = append(limits, p.runs...)
		}
		for _, limit := range limits {
			t.Run(p.name+"/"+limit, func(t *testing.T) {
				path := filepath.Join(dir, p.data)
				if _, err := os.Stat(path + ".npz"); err == nil {
					path += ".npz"
				} else if _, err := os.Stat(path); err != nil {
					// In its own process, because a process inherits its parent's peak.
					cmd := exec.Command(os.Args[0])
					cmd.Env = append(os.Environ(), makeVariable+"="+path)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v: %s", err, out)
					}
					if _, err := os.Stat(path); err != nil {
						path += ".npz"
					}
				}
				out := filepath.Join(t.TempDir(), "out")
				if strings.HasPrefix(p.command, "features") {
					out += ".npz"
				}
				args := words(strings.Replace(p.command, "DATA", path, 1) + " --memory " + limit + " --out " + out)
				outcome, peak := underLimit(t, args, limit)
				t.Logf("%s: %s, peak %d MiB", limit, outcome, peak>>20)
			})
		}
	}
}

func underLimit(t *testing.T, args []string, limit string) (outcome string, peak int64) {
	t.Helper()
	most, err := bytesize.Parse(limit)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	cmd := exec.CommandContext(ctx, scene.program, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	begin := time.Now()
	err = cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	outcome = fmt.Sprintf("ran %v", time.Since(begin).Round(time.Second/10))
	said := strings.TrimSpace(stderr.String())
	if err != nil {
		_, need, refused := strings.Cut(said, ": needs ")
		need, _, _ = strings.Cut(need, " of memory")
		if !refused || !strings.Contains(said, "(--memory sets the limit)") {
			t.Fatalf("%v: %s", err, said)
		}
		outcome = "refused, needs " + need
	}
	peak = cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
	if peak > most {
		t.Errorf("%s: the peak is %s", outcome, bytesize.Format(peak))
	}
	return outcome, peak
}

// images writes 20,000 images of two classes.
func images(path string) error {
	src := rand.New(rand.NewPCG(1, 1))
	for i := range 20_000 {
		folder := filepath.Join(path, fmt.Sprint("class", i%2))
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		content := greyImage(32, 32, func(_, y int) byte { return byte(100 + 100*((y+i)%2) + src.IntN(50)) })
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%05d.pgm", i)), content, 0o666); err != nil {
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
	return vectorfile.Write(context.Background(), path+".npz", set.Content())
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

// largeImages writes four 16-bit images of 10,000×10,000 pixels with stripes, so that their files are small.
func largeImages(path string) error {
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	const side = 10_000
	img := image.NewRGBA64(image.Rect(0, 0, side, side))
	for i := range 4 {
		for x := range side {
			img.SetRGBA64(x, 0, color.RGBA64{R: uint16(x/100*600 + i), G: uint16(i * 9000), B: 500, A: 0xffff})
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
