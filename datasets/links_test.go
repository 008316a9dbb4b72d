package datasets

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	limits "github.com/seed4492f2cd/partwise/internal/memory"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

func linkSet(t *testing.T, text string) (*Set, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "links.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return &Set{Name: "s", Names: []string{"a.png", "b.png", "c.png", "d.png"}, Files: make([]string, 4)}, file
}

func TestReadLinks(t *testing.T) {
	s, file := linkSet(t, "first,second,kind\na.png,b.png,must\nc.png, a.png, cannot\n")
	got, err := s.ReadLinks(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&Links{Must: [][2]int{{0, 1}}, Cannot: [][2]int{{2, 0}}, File: file, MustLines: []int{2}, CannotLines: []int{3}}, got); diff != "" {
		t.Error(diff)
	}
	for _, text := range []string{"a.png;b.png;must\nc.png;a.png;cannot\n", "a.png\tb.png\tmust\r\nc.png\ta.png\tcannot", "image1;image2;link\na.png;b.png;must\ns/c.png;./a.png;cannot\n"} {
		s, file := linkSet(t, text)
		if again, err := s.ReadLinks(t.Context(), file); err != nil || !cmp.Equal(got, again, cmpopts.IgnoreFields(Links{}, "File", "MustLines", "CannotLines")) {
			t.Errorf("%q gives %v, %v", text, again, err)
		}
	}
	for text, want := range map[string]string{
		"a.png,x.png,must":  `line 1: no sample is called "x.png"`,
		"a.png,b.png,maybe": `line 1: "maybe": expected must or cannot`,
		"a.png,b.png":       "line 1: 2 fields",
		"a.png,b.png,must\nb.png,c.png,must\na.png,c.png,cannot": "cannot-link (a.png, c.png) of line 3 contradicts must-links, such as (a.png, b.png) of line 1",
	} {
		s, file := linkSet(t, text)
		if _, err := s.ReadLinks(t.Context(), file); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%q gives %v, want %q", text, err, want)
		}
	}
}

// TestLinksAgainstLabels: contradictions of links and labels are found through any path, and the error names the
// links and their lines.
func TestLinksAgainstLabels(t *testing.T) {
	for _, test := range []struct{ labels, links, want string }{
		{"a.png,x\nb.png,x\n", "a.png,b.png,must\nc.png,d.png,cannot\n", ""},
		{"a.png,x\n\nb.png,x\n", "c.png,d.png,must\na.png,b.png,cannot\n", "cannot-link (a.png, b.png) of line 2 contradicts the class x of both samples"},
		{"a.png,x\nb.png,y\n", "a.png,b.png,must\n", "must-links join the classes x and y, such as (a.png, b.png) of line 1"},
		{"a.png,y\nb.png,x\n", "c.png,a.png,must\nb.png,c.png,must\n", "must-links join the classes x and y, such as (c.png, a.png) of line 1"},
		{"a.png,x\nb.png,x\n", "a.png,c.png,must\nb.png,d.png,must\nd.png,c.png,cannot\n", "cannot-link (d.png, c.png) of line 3 contradicts must-links, such as (a.png, c.png) of line 1"},
	} {
		s, file := linkSet(t, test.links)
		labels := filepath.Join(t.TempDir(), "labels.csv")
		if err := os.WriteFile(labels, []byte(test.labels), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := s.ReadLabels(labels); err != nil {
			t.Fatal(err)
		}
		l, err := s.ReadLinks(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		err = s.CheckLinks(l, true)
		if test.want == "" {
			if err != nil {
				t.Error(err)
			}
			continue
		}
		want := "links " + file + ": " + test.want
		if err == nil || err.Error() != want {
			t.Errorf("%q and %q give %v, want %s", test.labels, test.links, err, want)
		}
		if err := s.CheckLinks(l, false); err != nil {
			t.Errorf("without labels: %v", err)
		}
	}
}

func TestReadFeedback(t *testing.T) {
	s, file := linkSet(t, "log,file,mark\n1,a.png,+\n1,b.png,+\n1,c.png,-\n2,d.png,positive\n2,c.png,negative\n")
	got, err := s.ReadFeedback(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	want := &Links{Must: [][2]int{{0, 1}}, Cannot: [][2]int{{0, 2}, {1, 2}, {3, 2}}, File: file}
	byPair := cmpopts.SortSlices(func(a, b [2]int) bool { return a[0]*10+a[1] < b[0]*10+b[1] })
	if diff := cmp.Diff(want, got, byPair); diff != "" {
		t.Error(diff)
	}
	// Duplicates count once.
	s, file = linkSet(t, "1,a.png,+\n1,a.png,+\n1,c.png,-\n1,c.png,-\n")
	if got, err = s.ReadFeedback(t.Context(), file); err != nil || len(got.Must) != 0 || len(got.Cannot) != 1 {
		t.Errorf("marks that are repeated give %v, %v", got, err)
	}
	// A log may have the name of a header.
	s, file = linkSet(t, "a,a.png,+\na,c.png,-\n")
	if got, err = s.ReadFeedback(t.Context(), file); err != nil || len(got.Cannot) != 1 {
		t.Errorf("a log called a gives %v, %v", got, err)
	}
	s, file = linkSet(t, "1,a.png,+\n2,a.png,-\n1,a.png,−\n")
	if _, err := s.ReadFeedback(t.Context(), file); err == nil || !strings.Contains(err.Error(), `line 3: the log "1" marks "a.png" with the opposite sign in line 1`) {
		t.Errorf("a log that contradicts itself: %v", err)
	}
	s, file = linkSet(t, "1,a.png,+\n1,b.png,+\n2,b.png,+\n2,a.png,-\n")
	if _, err := s.ReadFeedback(t.Context(), file); err == nil || !strings.Contains(err.Error(), "contradicts must-link") {
		t.Errorf("two logs that contradict each other: %v", err)
	}
}

// The links of feedback grow with the square of the marks, so their number is limited before they are made.
func TestFeedbackOfManySamples(t *testing.T) {
	const n = 9000
	s := &Set{Name: "s", Files: make([]string, n)}
	var text strings.Builder
	for i := range n {
		s.Names = append(s.Names, fmt.Sprintf("%d.png", i))
		fmt.Fprintf(&text, "all,%d.png,+\n", i)
	}
	file := writeFile(t, filepath.Join(t.TempDir(), "feedback.csv"), []byte(text.String()))
	used := testkit.Allocated(func() {
		if _, err := s.ReadFeedback(t.Context(), file); err == nil || !strings.Contains(err.Error(), `more than 33554432 links; the log "all" marks 9000 samples + and`) {
			t.Errorf("error %v", err)
		}
	})
	if used > 64<<20 {
		t.Errorf("%d bytes of memory", used)
	}
}

// Links that exceed the memory budget are refused before they are made, and allowed ones stay within it.
func TestManyLinks(t *testing.T) {
	if testkit.Race {
		t.Skip("the memory of the race detector counts too")
	}
	const n = 2000
	s := &Set{Name: "s", Files: make([]string, n)}
	var marks, pairs strings.Builder
	for i := range n {
		s.Names = append(s.Names, fmt.Sprintf("%d.png", i))
		fmt.Fprintf(&marks, "all,%d.png,+\n", i)
	}
	for i := range 600_000 {
		fmt.Fprintf(&pairs, "%d.png,%d.png,must\n", i%n, i*7%n)
	}
	tight, wide := limits.New(limits.Least), limits.New(256<<20)
	for name, test := range map[string]struct {
		text string
		read func(context.Context, string) (*Links, error)
		most uint64 // bytes of memory for a refusal
	}{"feedback": {marks.String(), s.ReadFeedback, 4 << 20}, "links": {pairs.String(), s.ReadLinks, 100 << 20}} {
		var err error
		file := writeFile(t, filepath.Join(t.TempDir(), "links.csv"), []byte(test.text))
		used := testkit.Allocated(func() { _, err = test.read(limits.NewContext(t.Context(), tight), file) })
		var tooMany *limits.LimitError
		if !errors.As(err, &tooMany) || used > test.most {
			t.Errorf("%s: error %v, %d bytes of memory", name, err, used)
		}
		var l *Links
		used = testkit.Allocated(func() { l, err = test.read(limits.NewContext(t.Context(), wide), file) })
		if err != nil || used > 100<<20+72*uint64(len(l.Must)) {
			t.Errorf("%s: %v, %d bytes of memory", name, err, used)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ReadLinks(ctx, writeFile(t, filepath.Join(t.TempDir(), "links.csv"), []byte(pairs.String()))); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
