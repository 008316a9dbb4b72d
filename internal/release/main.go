// Command release builds the portable program for all systems that it is
// released for, and packs each with its licences into an archive, beside which
// stand a bill of materials and the sums of all files. The same revision and
// the same Go give the same bytes.
//
//	go run ./internal/release -out dist -version v1.2.3
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed4492f2cd/partwise/internal/atomicfile"
	"github.com/seed4492f2cd/partwise/internal/licences"
	"github.com/seed4492f2cd/partwise/internal/sbom"
)

const (
	name    = "partwise"
	program = "./cmd/partwise"
	licence = "Apache-2.0"
	sums    = "SHA256SUMS"
)

// systems are those that releases are made for.
var systems = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

func main() {
	var r release
	var only, billOf string
	flag.StringVar(&r.out, "out", "dist", "folder that the release is written to")
	flag.StringVar(&r.version, "version", "", "version of the release (default: that of git describe)")
	flag.StringVar(&only, "only", strings.Join(systems, ","), "the systems to build for")
	flag.StringVar(&billOf, "sbom", "", "write the bill of materials of this program to the standard output, and do nothing else")
	flag.Parse()
	if err := r.run(strings.Split(only, ","), billOf); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is the making of a release.
type release struct {
	out, version string
	time         time.Time // of all files in the archives
	manual       []file    // the manual pages
}

func (r *release) run(systems []string, billOf string) error {
	if err := r.describe(); err != nil {
		return err
	}
	if billOf != "" {
		content, err := os.ReadFile(billOf)
		if err != nil {
			return err
		}
		bill, _, err := r.papers(content)
		if err != nil {
			return err
		}
		_, err = os.Stdout.Write(bill)
		return err
	}
	if err := os.MkdirAll(r.out, 0o777); err != nil {
		return err
	}
	var err error
	if r.manual, err = r.pages(); err != nil {
		return err
	}
	var lines []string
	for _, system := range systems {
		files, err := r.build(system)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		for _, f := range files {
			if err := atomicfile.Write(filepath.Join(r.out, f.name), f.content); err != nil {
				return err
			}
			lines = append(lines, sumOf(f.content)+"  "+f.name+"\n")
			fmt.Println(filepath.Join(r.out, f.name))
		}
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(a[sha256.Size*2:], b[sha256.Size*2:]) })
	return atomicfile.Write(filepath.Join(r.out, sums), []byte(strings.Join(lines, "")))
}

// describe fills in the version and the time: those of the revision, or what
// SOURCE_DATE_EPOCH says.
func (r *release) describe() error {
	if r.version == "" {
		out, err := exec.Command("git", "describe", "--tags", "--always", "--dirty").Output()
		if err != nil {
			return fmt.Errorf("git describe: %w; -version says it where there is no repository", err)
		}
		r.version = strings.TrimSpace(string(out))
	}
	if strings.Trim(r.version, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.+-_") != "" {
		return fmt.Errorf("the version %q is no part of a file's name", r.version)
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		out, err := exec.Command("git", "log", "-1", "--format=%ct").Output()
		if err != nil {
			return fmt.Errorf("git log: %w; SOURCE_DATE_EPOCH says the time where there is no repository", err)
		}
		seconds = strings.TrimSpace(string(out))
	}
	s, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || s < 0 {
		return fmt.Errorf("the time %q is no number of seconds", seconds)
	}
	r.time = time.Unix(s, 0).UTC()
	return nil
}

// pages returns the manual pages, which are the same for all systems.
func (r *release) pages() ([]file, error) {
	dir, err := os.MkdirTemp("", "partwise-manual-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	cmd := exec.Command("go", "run", "-ldflags", "-X main.version="+r.version, program, "man", "--dir", dir)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.time.Unix(), 10))
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("the manual pages: %w: %s", err, out)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var pages []file
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		pages = append(pages, file{name: e.Name(), content: text})
	}
	return pages, nil
}

// file is a file of the release or of an archive.
type file struct {
	name    string
	content []byte
	program bool
}

// build builds the program for a system and returns the archive and the bill
// of materials.
func (r *release) build(system string) ([]file, error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, errors.New("a system is for example linux/amd64")
	}
	tmp, err := os.MkdirTemp("", "partwise-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	binary := name
	if goos == "windows" {
		binary += ".exe"
	}
	path := filepath.Join(tmp, binary)
	// The revision is stamped into the program where git can tell it.
	vcs := "auto"
	if exec.Command("git", "status", "--porcelain").Run() != nil {
		vcs = "false"
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs="+vcs, "-ldflags", "-s -w -X main.version="+r.version, "-o", path, program)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch, "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	bill, texts, err := r.papers(content)
	if err != nil {
		return nil, err
	}
	base := strings.Join([]string{name, r.version, goos, goarch}, "-")
	inside := []file{{name: base + "/" + binary, content: content, program: true}, {name: base + "/THIRD_PARTY_LICENCES.txt", content: texts}}
	for _, f := range []string{"LICENSE", "README.md"} {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		inside = append(inside, file{name: base + "/" + f, content: text})
	}
	for _, f := range r.manual {
		inside = append(inside, file{name: base + "/man/man1/" + f.name, content: f.content})
	}
	pack, ending := r.tarGz, ".tar.gz"
	if goos == "windows" {
		pack, ending = r.zip, ".zip"
	}
	var archive bytes.Buffer
	if err := pack(&archive, inside); err != nil {
		return nil, err
	}
	return []file{{name: base + ending, content: archive.Bytes()}, {name: base + ".cdx.json", content: bill}}, nil
}

// papers returns the bill of materials of a program and the texts of the
// licences of what is linked into it.
func (r *release) papers(program []byte) (bill, texts []byte, err error) {
	info, err := buildinfo.Read(bytes.NewReader(program))
	if err != nil {
		return nil, nil, err
	}
	linked, err := licences.Linked(info)
	if err != nil {
		return nil, nil, err
	}
	of := map[string]string{}
	for _, l := range linked {
		if l.ID == "" {
			return nil, nil, fmt.Errorf("the licence of %s %s is not known: run go generate ./internal/licences", l.Name, l.Version)
		}
		of[l.Name] = l.ID
	}
	var out, text bytes.Buffer
	err = sbom.Write(&out, (*debug.BuildInfo)(info), sbom.Options{
		Name: name, Version: r.version, Licence: licence, SHA256: sumOf(program), Time: r.time,
		LicenceOf: func(path, _ string) string { return of[path] },
	})
	licences.Write(&text, linked)
	return out.Bytes(), text.Bytes(), err
}

func sumOf(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func (f *file) mode() int64 {
	if f.program {
		return 0o755
	}
	return 0o644
}

func (r *release) tarGz(w io.Writer, files []file) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	for _, f := range files {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: f.name, Size: int64(len(f.content)), Mode: f.mode(), ModTime: r.time, Format: tar.FormatUSTAR}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if _, err := t.Write(f.content); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func (r *release) zip(w io.Writer, files []file) error {
	z := zip.NewWriter(w)
	for _, f := range files {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: r.time}
		h.SetMode(os.FileMode(f.mode()))
		out, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if _, err := out.Write(f.content); err != nil {
			return err
		}
	}
	return z.Close()
}
