package main

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGetUnpublishedSum: a file without a published sum does not come over plain
// http unasked, and its sum is said.
func TestGetUnpublishedSum(t *testing.T) {
	workplace(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.Error(w, "gone", http.StatusNotFound) }))
	t.Cleanup(s.Close)
	code, _, stderr := partwise("datasets", "get", "orl", "--from", "raw", "--data", "sets", "--mirror", s.URL)
	if code != exitFailed || !strings.Contains(stderr, "--insecure gets it all the same") {
		t.Errorf("exit code %d, said %q", code, stderr)
	}
	code, _, stderr = partwise("datasets", "get", "orl", "--from", "raw", "--data", "sets", "--mirror", s.URL, "--insecure")
	if code != exitFailed || !strings.Contains(stderr, "404") {
		t.Errorf("with --insecure: exit code %d, said %q", code, stderr)
	}
	if entries, err := os.ReadDir("sets"); err == nil && len(entries) > 0 {
		t.Errorf("the data folder holds %v", entries)
	}
}

// TestGetStopped: a download that is stopped says what is kept.
func TestGetStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "some")
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	dir := t.TempDir()
	cmd := getCommand(&dir)
	cmd.SetErr(io.Discard)
	cmd.SilenceUsage = true
	cmd.SetArgs([]string{"coil20", "--mirror", server.URL})
	want := "stopped while getting coil20: what came is kept in " + filepath.Join(dir, "coil20") + ", and the same command goes on from there"
	if err := cmd.ExecuteContext(ctx); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
