package catalogue

import (
	"cmp"
	"compress/gzip"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// sumSuffix ends the name of the file, beside the set, in which the first download wrote the sum of a file
// of which no sum is published. It has the form that sha256sum reads.
const sumSuffix = ".sha256"

// known tells whether a sum of the file is published.
func (f *Download) known() bool { return f.SHA256 != "" || f.MD5 != "" }

// sum is what the sum of a file has to be.
type sum struct {
	kind      string
	want      string // in hexadecimal; any if it is empty
	hash      func() hash.Hash
	ofContent bool // of a gzipped file, it is that of its content
	max       int64
	source    string // where it is from, if it is not published
}

// expect returns the sum that the file is to have: the published one, or the
// one that an earlier download noted in the folder dir, if there is one.
func (f *Download) expect(dir string) (sum, error) {
	s := sum{kind: "SHA-256", want: f.SHA256, hash: sha256.New, ofContent: true, max: cmp.Or(f.MaxUnpacked, defaultMaxUnpacked)}
	switch {
	case f.SHA256 != "":
		return s, nil
	case f.MD5 != "":
		s.kind, s.want, s.hash, s.ofContent = "MD5", f.MD5, md5.New, false
		return s, nil
	}
	noted := filepath.Join(dir, f.File+sumSuffix)
	text, err := os.ReadFile(noted)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err != nil {
		return s, err
	}
	want, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	if raw, err := hex.DecodeString(want); err != nil || len(raw) != sha256.Size {
		return s, fmt.Errorf("%s does not hold a SHA-256 sum", noted)
	}
	s.want, s.ofContent, s.source = strings.ToLower(want), false, noted
	return s, nil
}

// checkSum returns an error if the file is not there or has not the published
// sum, or else the one that was noted beside it.
func (f *Download) checkSum(path string) error {
	s, err := f.expect(filepath.Dir(path))
	if err != nil {
		return err
	}
	return s.check(path, strings.HasSuffix(path, ".gz"))
}

// check returns an error if the file cannot be read or has not the sum.
func (s sum) check(path string, gzipped bool) error {
	if s.want == "" {
		_, err := os.Stat(path)
		return err
	}
	got, err := s.of(path, gzipped && s.ofContent)
	if err != nil || got == s.want {
		return err
	}
	err = fmt.Errorf("%s has the %s sum %s, want %s", strings.TrimSuffix(filepath.Base(path), partSuffix), s.kind, got, s.want)
	if s.source != "" {
		err = fmt.Errorf("%w, which an earlier download noted in %s; remove that to accept the other file", err, s.source)
	}
	return err
}

// of returns the sum of a file, or of what is gzipped in it.
func (s sum) of(path string, unpack bool) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var r io.Reader = f
	if unpack {
		if r, err = gzip.NewReader(f); err != nil {
			return "", err
		}
	}
	h := s.hash()
	n, err := io.Copy(h, io.LimitReader(r, s.max+1))
	if err == nil && n > s.max {
		err = fmt.Errorf("it holds more than the %d bytes that it may", s.max)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// noteSum notes the sum of a file of which no sum is published in the folder
// dir, for later downloads, and reports it.
func (d *Downloader) noteSum(file *Download, path, dir string) error {
	if file.known() {
		return nil
	}
	noted := filepath.Join(dir, file.File+sumSuffix)
	if _, err := os.Lstat(noted); !errors.Is(err, fs.ErrNotExist) {
		return err // it has been checked against it
	}
	got, err := sum{hash: sha256.New, max: cmp.Or(file.MaxBytes, defaultMaxBytes)}.of(path, false)
	if err != nil {
		return err
	}
	d.report(fmt.Sprintf("no sum of %s is published to compare it with; its SHA-256 sum is %s, noted in %s", file.File, got, noted))
	return atomicfile.Write(noted, []byte(got+"  "+file.File+"\n"))
}
