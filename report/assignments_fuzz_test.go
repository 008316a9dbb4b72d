package report

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// FuzzAssignments reads assignments.csv, which may be edited by hand or foreign.
func FuzzAssignments(f *testing.F) {
	f.Add([]byte("file,group,class,name,confidence\na.jpg,1,cat,cat,0.50\nb.jpg,2,,,0.00\n"))
	f.Add([]byte("\ufefffile,group\r\n\"a\"\"\n.jpg\",1\r\n'=b.jpg,3\r\n"))
	f.Add([]byte("group,file\n1,../../etc/passwd\n2,/etc/passwd\n3,C:\\x\n0,\n"))
	f.Add([]byte("file,group\na,99999999999999999999\n"))
	f.Add([]byte("file,group\na,-1\n"))
	f.Add([]byte("file,group,group\n\xff\x00,1\n"))
	f.Add(append([]byte("file,group\n"), bytes.Repeat([]byte("\"\n"), 1<<10)...))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		var found []Assignment
		var err error
		path := filepath.Join(t.TempDir(), AssignmentsFile)
		if err := os.WriteFile(path, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if used := testkit.Allocated(func() { found, err = ReadAssignmentsFile(path) }); used > 4<<20+256*uint64(len(text)) {
			t.Errorf("%d bytes allocated for %d", used, len(text))
		}
		if err != nil {
			return
		}
		if len(found) == 0 {
			t.Error("neither lines nor an error")
		}
		for i, a := range found {
			if a.Group < 0 || a.Line < 2 || i > 0 && a.Line <= found[i-1].Line {
				t.Errorf("%+v", a)
			}
			if !strings.Contains(strings.ReplaceAll(string(text), `""`, `"`), strings.TrimRight(strings.Split(a.Sample, "\n")[0], "\r")) {
				t.Errorf("the sample %q is not in the text", a.Sample)
			}
		}
	})
}
