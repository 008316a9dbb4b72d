package tagging

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const rdfStart = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:lr="http://ns.adobe.com/lightroom/1.0/">`

// inBoth returns an XMP file with the lists of keywords.
func inBoth(subject, hierarchical string) string {
	return "\ufeff<?xpacket begin='\ufeff'?><!-- < --><x:xmpmeta xmlns:x='adobe:ns:meta/'>" + rdfStart + "<rdf:Description rdf:about='a&amp;b' dc:other='1'><dc:subject>" + subject +
		"</dc:subject><lr:hierarchicalSubject>" + hierarchical + "</lr:hierarchicalSubject></rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end='w'?>   \n"
}

// TestAddKeyword: only the keywords are added, in the place and form of the existing ones.
func TestAddKeyword(t *testing.T) {
	const name, value, below = "a<b", "<rdf:li>a&lt;b</rdf:li>", "<rdf:li>partwise|a&lt;b</rdf:li>"
	for text, want := range map[string]string{
		inBoth("<rdf:Bag><rdf:li>x</rdf:li></rdf:Bag>", "<rdf:Seq></rdf:Seq>"):                        inBoth("<rdf:Bag><rdf:li>x</rdf:li>"+value+"</rdf:Bag>", "<rdf:Seq>"+below+"</rdf:Seq>"),
		inBoth("<rdf:Bag/>", "<rdf:Bag />"):                                                           inBoth("<rdf:Bag>"+value+"</rdf:Bag>", "<rdf:Bag >"+below+"</rdf:Bag>"),
		inBoth("\r\n <rdf:Bag>\r\n </rdf:Bag>", "<rdf:Bag>"+below+"</rdf:Bag>"):                       inBoth("\r\n <rdf:Bag>\r\n  "+value+"\r\n </rdf:Bag>", "<rdf:Bag>"+below+"</rdf:Bag>"),
		inBoth("<rdf:Bag><rdf:li><![CDATA[a<b]]></rdf:li></rdf:Bag>", "<rdf:Bag>"+below+"</rdf:Bag>"): "same",
		inBoth(`<r:Bag xmlns:r="`+rdf+`"><r:li/></r:Bag>`, "<rdf:Bag>"+below+"</rdf:Bag>"):            inBoth(`<r:Bag xmlns:r="`+rdf+`"><r:li/><r:li>a&lt;b</r:li></r:Bag>`, "<rdf:Bag>"+below+"</rdf:Bag>"),
	} {
		if want == "same" {
			want = text
		}
		got, err := addKeyword([]byte(text), name)
		if err != nil || string(got) != want {
			t.Errorf("%s\nbecomes (-want +got): %v\n%s", text, err, cmp.Diff(want, string(got)))
		}
	}
	for _, text := range []string{emptySidecar, `<rdf:RDF xmlns:rdf="` + rdf + `"/>`, rdfStart + "<rdf:Description><dc:creator><dc:subject/></dc:creator></rdf:Description></rdf:RDF>"} {
		got, err := addKeyword([]byte(text), name)
		again, errAgain := addKeyword(got, name)
		two, errTwo := addKeyword(got, "two")
		if err != nil || errAgain != nil || errTwo != nil || !bytes.Equal(got, again) || strings.Count(string(two), "<rdf:Description xmlns") != 1 {
			t.Errorf("%s\nbecomes\n%s\nand\n%s: %v, %v, %v", text, got, two, err, errAgain, errTwo)
		}
	}
	for text, want := range map[string]string{
		"":                 "no rdf:RDF",
		"notes":            "no rdf:RDF",
		"<a><b></a>":       "line 1",
		rdfStart + "\n<b>": "line 2",
		`<?xml version="1.0" encoding="UTF-16"?>` + emptySidecar[38:]:                        "UTF-16",
		rdfStart + "<rdf:Description dc:subject='x'/></rdf:RDF>":                             "subject is not a list",
		rdfStart + "<rdf:Description><dc:subject>x</dc:subject></rdf:Description></rdf:RDF>": "subject is not a list",
		rdfStart + "<rdf:Description><lr:hierarchicalSubject/></rdf:Description></rdf:RDF>":  "hierarchicalSubject is not a list",
	} {
		if got, err := addKeyword([]byte(text), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s becomes %s, error %v, want %q", text, got, err, want)
		}
	}
	if _, err := addKeyword([]byte(emptySidecar), "\x00"); err == nil {
		t.Error("a keyword that XML cannot hold")
	}
}

// FuzzAddKeyword: adding keeps all bytes in order, and adding again changes nothing.
func FuzzAddKeyword(f *testing.F) {
	f.Add(emptySidecar, "a")
	f.Add(inBoth("<rdf:Bag/>", "<rdf:Seq>\n</rdf:Seq>"), "a|b&")
	f.Add(inBoth("<Bag:Bag\nxmlns:Bag='"+rdf+"'/>", "<rdf:Bag><?x?></rdf:Bag>"), " ")
	f.Fuzz(func(t *testing.T, text, name string) {
		got, err := addKeyword([]byte(text), name)
		if err != nil {
			return
		}
		if again, err := addKeyword(got, name); err != nil || !bytes.Equal(got, again) {
			t.Errorf("%q, and again %q, %v", got, again, err)
		}
		rest := got
		for _, b := range []byte(strings.ReplaceAll(text, "/", "")) { // of <rdf:Bag/>
			at := bytes.IndexByte(rest, b)
			if at < 0 {
				t.Fatalf("%q became %q", text, got)
			}
			rest = rest[at+1:]
		}
	})
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
	return name
}

func ignore(int, int) {}

// tree returns the files below a folder with their text.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	for _, pattern := range []string{"*", "*/*"} {
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if text, err := os.ReadFile(name); err == nil {
				files[name] = string(text)
			}
		}
	}
	return files
}

// TestUndo tags photos, also with a stop after each file, and undoes that.
func TestUndo(t *testing.T) {
	dir := t.TempDir()
	old := inBoth("<rdf:Bag><rdf:li>x</rdf:li></rdf:Bag>", "<rdf:Bag></rdf:Bag>")
	tags := []Tag{{Sidecar: write(t, filepath.Join(dir, "a.xmp"), old), Name: "g"}, {Sidecar: filepath.Join(dir, "\xff.jpg.xmp"), Name: "h"},
		{Sidecar: filepath.Join(dir, "sub", "b.xmp"), Name: "g"}, {Sidecar: write(t, filepath.Join(dir, "bad.xmp"), "<"), Name: "g"},
		{Sidecar: filepath.Join(dir, "out", "c.xmp"), Name: "g"}}
	write(t, filepath.Join(dir, "sub", "b.jpg"), "an image")
	if err := os.Symlink(t.TempDir(), filepath.Join(dir, "out")); err != nil {
		t.Fatal(err)
	}
	before := tree(t, dir)
	for stop := range 4 {
		ctx, cancel := context.WithCancel(t.Context())
		r, err := Write(ctx, dir, tags, func(done, _ int) {
			if done == stop {
				cancel()
			}
		})
		switch {
		case stop == 0 && (err != nil || r.Created != 2 || r.Extended != 1 || len(r.Left) != 2):
			t.Errorf("%+v, %v", r, err)
		case stop == 1 && (err == nil || r.Created+r.Extended != 1):
			t.Errorf("stopped after one: %+v, %v", r, err)
		}
		if _, err := Write(t.Context(), dir, tags, ignore); err == nil || !strings.Contains(err.Error(), "undo these first") {
			t.Errorf("tagged twice: %v", err)
		}
		info, err := os.Stat(tags[0].Sidecar)
		if err != nil || info.Mode().Perm() != 0o640 {
			t.Errorf("%v, %v", info, err)
		}
		if r, err := Undo(t.Context(), dir, ignore); err != nil || len(r.Left) > 0 || r.Undone != 3 {
			t.Errorf("undo: %+v, %v", r, err)
		}
		if d := cmp.Diff(before, tree(t, dir)); d != "" {
			t.Errorf("stop %d: after undo (-before +after)\n%s", stop, d)
		}
		cancel()
	}

	// Sidecars that were changed since stay.
	if _, err := Write(t.Context(), dir, tags, ignore); err != nil {
		t.Fatal(err)
	}
	write(t, tags[0].Sidecar, "changed")
	r, err := Undo(t.Context(), dir, ignore)
	if text, _ := os.ReadFile(tags[0].Sidecar); err != nil || string(text) != "changed" || len(r.Left) != 1 || r.Undone != 2 {
		t.Errorf("%+v, %v, %q", r, err, text)
	}
	if _, err := Undo(t.Context(), dir, ignore); err == nil || !strings.Contains(err.Error(), "has no keywords of partwise") {
		t.Errorf("a second undo: %v", err)
	}
}

// TestHostileJournal: a foreign journal cannot name files outside of the folder, or files that are no sidecars.
func TestHostileJournal(t *testing.T) {
	const journalHead = `{"format":1}` + "\n"
	dir := t.TempDir()
	outside := write(t, filepath.Join(t.TempDir(), "x.xmp"), "")
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.jpg"), "")
	sum := []byte("\xe3\xb0\xc4\x42\x98\xfc\x1c\x14\x9a\xfb\xf4\xc8\x99\x6f\xb9\x24\x27\xae\x41\xe4\x64\x9b\x93\x4c\xa4\x95\x99\x1b\x78\x52\xb8\x55") // of ""
	for _, file := range []string{outside, "../x.xmp", "a.jpg", "link/x.xmp"} {
		line, err := json.Marshal(change{File: []byte(file), Sum: sum})
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, JournalFile), journalHead+string(line)+"\n")
		if r, err := Undo(t.Context(), dir, ignore); err == nil && len(r.Left) == 0 {
			t.Errorf("%s: %+v", file, r)
		}
		for _, name := range []string{outside, filepath.Join(dir, "a.jpg")} {
			if _, err := os.Stat(name); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	for _, text := range []string{"", "{}\n", journalHead + "{\n"} {
		write(t, filepath.Join(dir, JournalFile), text)
		if _, err := Undo(t.Context(), dir, ignore); err == nil || !strings.Contains(err.Error(), JournalFile+": line ") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestExiftool reads sidecars and the table with exiftool, where it is installed, and otherwise only as XML and CSV.
func TestExiftool(t *testing.T) {
	dir := t.TempDir()
	const name = `Früh & "spät", <1>`
	tags := []Tag{{Image: filepath.Join(dir, "a.jpg"), Sidecar: filepath.Join(dir, "a.jpg.xmp"), Name: name}, {Sidecar: filepath.Join(dir, "b.xmp"), Name: name}}
	write(t, tags[1].Sidecar, inBoth("<rdf:Bag><rdf:li>x</rdf:li></rdf:Bag>", "<rdf:Bag/>"))
	if _, err := Write(t.Context(), dir, tags, ignore); err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{name}, {"x", name}} {
		text, err := os.ReadFile(tags[i].Sidecar)
		if err != nil {
			t.Fatal(err)
		}
		list := parse(text).list(xml.Name{Space: dc, Local: "subject"})
		for _, value := range want {
			if list == nil || !list.has(value) {
				t.Errorf("%s: %v", text, list)
			}
		}
		exiftool, err := exec.LookPath("exiftool")
		if err != nil {
			continue
		}
		out, err := exec.Command(exiftool, "-json", "-sep", ";", "-Subject", "-HierarchicalSubject", tags[i].Sidecar).Output()
		var found []struct{ Subject, HierarchicalSubject any }
		if err == nil {
			err = json.Unmarshal(out, &found)
		}
		if err != nil || len(found) != 1 || found[0].Subject != strings.Join(want, ";") || found[0].HierarchicalSubject != "partwise|"+name {
			t.Errorf("exiftool reads %s, %v; want %q", out, err, want)
		}
	}
	var table bytes.Buffer
	if err := WriteCSV(&table, tags[:1]); err != nil {
		t.Fatal(err)
	}
	want := []string{"SourceFile,Subject,HierarchicalSubject", filepath.ToSlash(tags[0].Image) + `,"Früh & ""spät"", <1>","partwise|Früh & ""spät"", <1>"`, ""}
	if got := strings.Split(table.String(), "\n"); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
