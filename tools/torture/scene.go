package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/files/filing"
)

// scene is what the jobs work on: a folder with the program, photographs and
// experiment files, and a server of archives.
type scene struct {
	dir     string
	program string
	mirror  string
	sets    string // the value of PARTWISE_TORTURE_SETS
	server  *http.Server
}

// newScene builds the program with build tags and what it is to work on in the folder
// dir. moduleDir is the folder of go.mod. With the tag "torture" the program knows the
// sets of the server.
func newScene(dir, moduleDir, tags string) (*scene, error) {
	s := &scene{dir: dir, program: filepath.Join(dir, "partwise")}
	build := exec.Command("go", "build", "-tags", tags, "-o", s.program, "./cmd/partwise")
	build.Dir = moduleDir
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build: %w\n%s", err, out)
	}
	if err := writePhotographs(filepath.Join(dir, "photos")); err != nil {
		return nil, err
	}
	for name, repeats := range map[string]int{"half.yaml": 1, "whole.yaml": 2} {
		text := fmt.Sprintf(`name: torture
data: ../photos
features: {sift: dense, words: 12, grid: 2x2}
methods: [kmeans, {name: nmf, iterations: 30}]
classes: 2..3
repeats: %d
`, repeats)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return nil, err
		}
	}
	return s, s.serve()
}

// writePhotographs writes 5 pictures of each of 3 classes: stripes of a direction
// with noise.
func writePhotographs(dir string) error {
	r := rand.New(rand.NewPCG(1, 2))
	for class, name := range []string{"across", "down", "slanting"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			return err
		}
		for i := range 5 {
			m := image.NewGray(image.Rect(0, 0, 72, 64))
			for y := range 64 {
				for x := range 72 {
					at := [3]int{y, x, x + y}[class]
					m.SetGray(x, y, color.Gray{Y: uint8(100*((at/(4+i))%2) + r.IntN(60))})
				}
			}
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, name, fmt.Sprintf("%d.png", i+1)), b.Bytes(), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// archives returns a .zip and a .tar.gz file of grey images.
func archives() (files map[string][]byte, err error) {
	r := rand.New(rand.NewPCG(3, 4))
	var z, t bytes.Buffer
	zw, gz := zip.NewWriter(&z), gzip.NewWriter(&t)
	tw := tar.NewWriter(gz)
	for class := range 4 {
		for i := range 10 {
			pixels := make([]byte, 60*50)
			for p := range pixels {
				pixels[p] = byte(r.IntN(256))
			}
			name := fmt.Sprintf("s%d/%d.pgm", class+1, i+1)
			content := append([]byte("P5\n60 50\n255\n"), pixels...)
			w, err := zw.Create(name)
			if err == nil {
				_, err = w.Write(content)
			}
			if err == nil {
				err = tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg})
			}
			if err == nil {
				_, err = tw.Write(content)
			}
			if err != nil {
				return nil, err
			}
		}
	}
	if err := errors.Join(zw.Close(), tw.Close(), gz.Close()); err != nil {
		return nil, err
	}
	return map[string][]byte{"one.zip": z.Bytes(), "two.tar.gz": t.Bytes()}, nil
}

// serve serves the archives slowly enough to be interrupted.
func (s *scene) serve() error {
	files, err := archives()
	if err != nil {
		return err
	}
	var sets []string
	for name, content := range files {
		summed := content
		if strings.HasSuffix(name, ".gz") { // the sum is that of what is gzipped
			gz, err := gzip.NewReader(bytes.NewReader(content))
			if err == nil {
				summed, err = io.ReadAll(gz)
			}
			if err != nil {
				return err
			}
		}
		set, _, _ := strings.Cut(name, ".")
		sets = append(sets, fmt.Sprintf("%s=%s:%s", set, name, sumOf(summed)))
	}
	s.sets = strings.Join(sets, ",")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.mirror = "http://" + listener.Addr().String() + "/"
	s.server = &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := strings.TrimPrefix(r.URL.Path, "/")
		content, ok := files[name]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"`+name+`"`)
		http.ServeContent(slow{w}, r, name, time.Unix(1e9, 0), bytes.NewReader(content))
	})}
	go s.server.Serve(listener)
	return nil
}

// slow sends 16 KiB in about 10 ms.
type slow struct{ http.ResponseWriter }

func (s slow) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		part := p[:min(len(p), 16<<10)]
		var m int
		m, err = s.ResponseWriter.Write(part)
		n, p = n+m, p[m:]
		if f, ok := s.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return n, err
}

func (s *scene) close() { s.server.Close() }

// command returns the program with its arguments in the folder dir, and the cache in
// the folder cache.
func (s *scene) command(dir, cache string, args []string) *exec.Cmd {
	full := make([]string, len(args))
	for i, a := range args {
		full[i] = strings.ReplaceAll(a, "MIRROR", s.mirror)
	}
	cmd := exec.Command(s.program, full...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PARTWISE_CACHE="+cache, "PARTWISE_DATA=", "PARTWISE_TORTURE_SETS="+s.sets,
		"HOME="+s.dir, "XDG_CACHE_HOME="+filepath.Join(s.dir, "user-cache"))
	return cmd
}

// tree is the SHA-256 sum of each file below a folder by its path, and "folder" for
// each folder.
type tree map[string]string

func readTree(dir string) (tree, error) {
	t := tree{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		switch {
		case err != nil || name == ".":
			return err
		case inCache(name) && strings.HasSuffix(name, ".tmp"):
			// The cache removes what a killed process left there by its age,
			// since another process may be writing it.
			return nil
		case d.Name() == filing.JournalFile: // it holds the paths of the folder
			return nil
		case d.IsDir():
			t[name] = "folder"
			return nil
		case !d.Type().IsRegular():
			t[name] = d.Type().String()
			return nil
		}
		content, err := os.ReadFile(path)
		t[name] = sumOf(content)
		return err
	})
	return t, err
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// differences says in words where the tree is not the one that is wanted.
func (t tree) differences(want tree) []string {
	var out []string
	for name, sum := range want {
		switch got, ok := t[name]; {
		case !ok:
			out = append(out, name+" is missing")
		case got != sum:
			out = append(out, name+" has other content")
		}
	}
	for name := range t {
		if _, ok := want[name]; !ok {
			out = append(out, name+" is left over")
		}
	}
	return out
}
