package datasets

import (
	"context"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed4492f2cd/partwise/internal/naming"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// mostFuzzed is the longest input of the fuzz targets: longer ones only cost time.
const mostFuzzed = 1 << 16

// checkMemory runs f and fails the test if it allocates more than bound bytes, within the error of measurement.
func checkMemory(t testing.TB, bound int64, f func()) {
	t.Helper()
	const wrongBy = 4 << 20
	if used := int64(testkit.Allocated(f)); used > bound+wrongBy {
		t.Errorf("%d bytes allocated, want at most %d", used, bound)
	}
}

func FuzzLabels(f *testing.F) {
	f.Add([]byte("file,class\na.png,x\nb/1.png,y\n"))
	f.Add([]byte("\ufeff3,\"x\ny\"\n1,\n"))
	f.Add([]byte("a.png,x\na.png,y"))
	f.Add([]byte("a.png;x"))
	f.Add([]byte("a.png,caf\xe9\r\nb/1.png,\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		file := writeFile(t, filepath.Join(t.TempDir(), "labels.csv"), data)
		for _, set := range []*Set{fileSet(), vectorSet(3, 1, 0, 0, 1, 2, math.NaN())} {
			var classes []string
			var err error
			checkMemory(t, 512*int64(len(data)), func() { classes, err = set.ReadClasses(file) })
			if err != nil {
				continue
			}
			set.setClasses(classes)
			some := false
			for i, l := range set.Labels {
				if got := classes[i]; l < 0 && got != "" || l >= 0 && set.Classes[l] != got {
					t.Errorf("sample %d of class %q has the label %d of %q", i, got, l, set.Classes)
				}
				some = some || l >= 0
			}
			if !some || !slices.IsSortedFunc(set.Classes, naming.CompareNatural) {
				t.Errorf("classes %q, labels %v", set.Classes, set.Labels)
			}
			for _, class := range set.Classes {
				if !utf8.ValidString(class) || strings.ContainsRune(class, 0) || strings.TrimSpace(class) != class {
					t.Errorf("the class %q", class)
				}
			}
		}
	})
}

func FuzzLinks(f *testing.F) {
	f.Add([]byte("first,second,kind\na.png,b/1.png,must\n\"c, d.png\", a.png, cannot\n"))
	f.Add([]byte("a.png,b/1.png,must\na.png,b/1.png,cannot\n"))
	f.Add([]byte("a.png,a.png,cannot\r\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		checkMemory(t, 512*int64(len(data)), func() { checkLinks(t, data, (*Set).ReadLinks) })
	})
}

func FuzzFeedback(f *testing.F) {
	f.Add([]byte("log,file,mark\n1,a.png,+\n1,b/1.png,+\n1,\"c, d.png\",-\n2,a.png,positive\n"))
	f.Add([]byte("1,a.png,+\n1,a.png,+\n1,a.png,−\n"))
	f.Add([]byte("1,a.png,+\n2,a.png,negative\n2,b/1.png,+\n1,b/1.png,+\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > mostFuzzed {
			return
		}
		checkMemory(t, 1024*int64(len(data)), func() { checkLinks(t, data, (*Set).ReadFeedback) })
	})
}

// checkLinks reads links and checks that they are valid and consistent.
func checkLinks(t *testing.T, data []byte, read func(*Set, context.Context, string) (*Links, error)) {
	set := fileSet()
	l, err := read(set, t.Context(), writeFile(t, filepath.Join(t.TempDir(), "links.csv"), data))
	if err != nil {
		return
	}
	if err := set.CheckLinks(l, false); err != nil {
		t.Error(err)
	}
}
