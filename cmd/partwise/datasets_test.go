package main

import (
	"net/http"
	"net/http/httptest"
	"os"
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
