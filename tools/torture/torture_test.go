package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// TestShare is a small share of what make torture does: kills, a disk that is full and
// one that is read-only.
func TestShare(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs programs")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("it builds the program")
	}
	module, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	s, err := newScene(t.TempDir(), module, "")
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	list, _ := jobsHere(s.dir)
	list = slices.DeleteFunc(list, func(j *job) bool {
		return !slices.Contains([]string{"cluster", "features to .npz", "sort --move", "sort --undo from another disk, power failure"}, j.name)
	})
	var log bytes.Buffer
	rows, err := crash(t.Context(), s, list, 30, 2, 1, &log)
	if err == nil {
		var more []Row
		more, _, err = disk(t.Context(), s, list[1:2], 50, 2, &log)
		rows = append(rows, more...)
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	for _, r := range rows {
		if r.Times == 0 {
			t.Errorf("%s was not tried", r.What)
		}
		for _, e := range r.Examples {
			t.Errorf("%s: %s", r.What, e)
		}
	}
}

// TestPage: the page in docs is that of the record beside it.
func TestPage(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	record, err := readRecord(filepath.Join(docs, "reliability.json"))
	if err != nil {
		t.Fatal(err)
	}
	if len(record.Parts) == 0 {
		t.Skip("nothing has been measured")
	}
	page, err := os.ReadFile(filepath.Join(docs, "reliability.md"))
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != record.page() {
		t.Error("docs/reliability.md is not what reliability.json gives; make torture writes both")
	}
}

// TestDifferences: each way in which a folder can differ is found.
func TestDifferences(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a": "1", "b": "2"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	if d := got.differences(got); len(d) > 0 {
		t.Errorf("a folder differs from itself: %q", d)
	}
	want := tree{"a": sumOf([]byte("1")), "b": sumOf([]byte("3")), "c": "folder"}
	if d := got.differences(want); len(d) != 2 {
		t.Errorf("got %q, want that b is other and c is missing", d)
	}
	if d := got.differences(tree{"a": sumOf([]byte("1"))}); len(d) != 1 || d[0] != "b is left over" {
		t.Errorf("got %q, want that b is left over", d)
	}
}

// TestTargets: the fuzz targets of the sources are found.
func TestTargets(t *testing.T) {
	module, err := moduleDir()
	if err != nil {
		t.Fatal(err)
	}
	all, err := targets(module)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []target{{"pipeline/experimentfile", "FuzzParse"}, {"vocab", "FuzzLoad"}, {"internal/sparse", "FuzzBinary"}} {
		if !slices.Contains(all, want) {
			t.Errorf("%s is not found", want)
		}
	}
}

// TestCount reads what go test prints.
func TestCount(t *testing.T) {
	var r Row
	err := r.count([]byte(`{"Action":"run","Package":"p","Test":"A"}
{"Action":"pass","Package":"p","Test":"A"}
{"Action":"fail","Package":"p","Test":"B"}
{"Action":"skip","Package":"p","Test":"C"}
{"Action":"fail","Package":"p"}`))
	if err != nil || r.Times != 2 || r.Failures != 1 || r.Skipped != 1 || len(r.Examples) != 1 {
		t.Errorf("got %+v, %v", r, err)
	}
}
