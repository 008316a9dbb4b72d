package sorting

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/seed4492f2cd/partwise/internal/files/filename"
	"github.com/seed4492f2cd/partwise/internal/files/filing"
	"github.com/seed4492f2cd/partwise/report"
)

// TestPlaces checks that folders have the names of groups, and that no two are equal on any file system.
func TestPlaces(t *testing.T) {
	files := map[string]string{}
	var assigned []report.Assignment
	for i, name := range []string{"Summer 2019", "summer 2019", "Café", "CAFE\u0301", "AC/DC", "", "夏休み"} {
		sample := fmt.Sprintf("%d.jpg", i)
		files[sample] = "/photos/" + sample
		assigned = append(assigned, report.Assignment{Sample: sample, Group: i + 1, Name: name})
	}
	items, err := (&Groups{Assigned: assigned}).Places(files)
	var got []string
	for _, it := range items {
		got = append(got, path.Dir(it.To))
	}
	if want := []string{"Summer 2019", "summer 2019-2", "Café", "CAFE\u0301-2", "AC-DC", "group-6", "夏休み"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v; want %q", got, err, want)
	}
}

// FuzzPlaces sorts pictures by groups with any names. Each must get its own path below the target folder, on every
// system.
func FuzzPlaces(f *testing.F) {
	f.Add("a.jpg\nb/a.jpg", "cat\nCAT", 1, 2)
	f.Add("../../a.jpg\n..\\b.jpg", "../..\n/etc", 1, 1)
	f.Add("C:\\a.jpg\nC:b.jpg", "C:\\x\nNUL", 3, 4)
	f.Add(".partwise-sorted.jsonl\nx/.partwise-sorted.jsonl", ".\n..", 0, 999999999)
	f.Add("a\x00b\n\xff", "\x00\n\xff", 1, 2)
	f.Add("a.jpg\nA.JPG\nb/a.jpg\nb-a.jpg", "", 1, 1)
	f.Fuzz(func(t *testing.T, samples, names string, g, h int) {
		if len(samples)+len(names) > 1<<12 {
			return
		}
		files := map[string]string{}
		var assigned []report.Assignment
		name := strings.Split(names, "\n")
		for i, s := range strings.Split(samples, "\n") {
			if _, twice := files[s]; twice || path.Clean("/"+s) == "/" {
				continue // the name of no picture
			}
			files[s] = filepath.Join(string(filepath.Separator)+"pictures", filepath.FromSlash(path.Clean("/"+s)))
			a := report.Assignment{Line: i + 2, Sample: s, Group: max(0, g)}
			if i%2 == 1 {
				a.Group = max(0, h)
			}
			a.Name = name[i%len(name)]
			assigned = append(assigned, a)
		}
		items, err := (&Groups{Assigned: assigned, List: "assignments.csv"}).Places(files)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, it := range items {
			folder, file, both := strings.Cut(it.To, "/")
			if !both || strings.Contains(file, "/") || !filepath.IsLocal(filepath.FromSlash(it.To)) {
				t.Errorf("%q goes to %q", it.From, it.To)
			}
			if folder == "" || folder == filing.JournalFile || len(folder) > 255 || strings.ContainsFunc(folder, unicode.IsControl) {
				t.Errorf("the folder %q", folder)
			}
			if seen[filename.Key(it.To)] {
				t.Errorf("two go to %q", it.To)
			}
			seen[filename.Key(it.To)] = true
		}
	})
}
