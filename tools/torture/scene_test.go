//go:build linux

package torture

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// photoExt is the extension of the photographs.
const photoExt = ".pgm"

// greyImage returns a file of an image in grey.
func greyImage(width, height int, at func(x, y int) byte) []byte {
	out := fmt.Appendf(nil, "P5\n%d %d\n255\n", width, height)
	for y := range height {
		for x := range width {
			out = append(out, at(x, y))
		}
	}
	return out
}

// makeScene builds the program and makes its input. With the tag "torture" the program knows the sets of the server.
func makeScene() error {
	scene.program = filepath.Join(scene.dir, "partwise")
	build := exec.Command("go", "build", "-ldflags=-w", "-tags", "torture", "-o", scene.program, "./cmd/partwise")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, out)
	}
	// 5 photographs of each of 3 classes: noisy stripes of a direction.
	r := rand.New(rand.NewPCG(1, 2))
	for class, name := range []string{"across", "down", "slanting"} {
		folder := filepath.Join(scene.dir, "photos", name)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		for i := range 5 {
			photo := greyImage(72, 64, func(x, y int) byte {
				at := [3]int{y, x, x + y}[class]
				return byte(100*((at/(4+i))%2) + r.IntN(60))
			})
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprint(i+1, photoExt)), photo, 0o666); err != nil {
				return err
			}
		}
	}
	for name, repeats := range map[string]int{"half.yaml": 1, "whole.yaml": 2} {
		text := fmt.Sprintf(`name: torture
data: ../photos
features: {sift: dense, words: 12, grid: 2x2}
methods: [kmeans, {name: nmf, iterations: 30}]
classes: 2..3
repeats: %d
`, repeats)
		if err := os.WriteFile(filepath.Join(scene.dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return serve()
}

// serve serves two archives of 40 images, slowly enough to be interrupted.
func serve() error {
	r := rand.New(rand.NewPCG(3, 4))
	var zipped, tarred, gzipped bytes.Buffer
	zw, tw, gz := zip.NewWriter(&zipped), tar.NewWriter(&tarred), gzip.NewWriter(&gzipped)
	for i := range 40 {
		name := fmt.Sprintf("s%d/%d.pgm", i/10+1, i%10+1)
		content := greyImage(60, 50, func(int, int) byte { return byte(r.IntN(256)) })
		w, err := zw.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		err = errors.Join(err, tw.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content)), Typeflag: tar.TypeReg}))
		if _, failed := tw.Write(content); err != nil || failed != nil {
			return errors.Join(err, failed)
		}
	}
	err := errors.Join(zw.Close(), tw.Close())
	// The checksum of a gzipped file is of its content.
	scene.sets = fmt.Sprintf("one=one.zip:%x,two=two.tar.gz:%x", sha256.Sum256(zipped.Bytes()), sha256.Sum256(tarred.Bytes()))
	_, failed := gz.Write(tarred.Bytes())
	if err := errors.Join(err, failed, gz.Close()); err != nil {
		return err
	}
	files := map[string][]byte{"/one.zip": zipped.Bytes(), "/two.tar.gz": gzipped.Bytes()}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content, ok := files[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", `"`+r.URL.Path+`"`)
		http.ServeContent(slow{w}, r, r.URL.Path, time.Unix(1e9, 0), bytes.NewReader(content))
	}))
	scene.mirror = server.URL + "/"
	return nil
}

// slow sends 16 KiB in about 10 ms.
type slow struct{ http.ResponseWriter }

func (s slow) Write(p []byte) (n int, err error) {
	for len(p) > 0 && err == nil {
		part := p[:min(len(p), 16<<10)]
		p = p[len(part):]
		var m int
		m, err = s.ResponseWriter.Write(part)
		n += m
		time.Sleep(10 * time.Millisecond)
	}
	return n, err
}
