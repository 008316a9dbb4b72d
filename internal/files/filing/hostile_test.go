package filing

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// sandbox returns a folder of sorted files that contains a stranger's links to the outside, the folder of the original
// pictures, and other users' files beside both. In the text of the journal, {root} stands for the parent folder.
func sandbox(t *testing.T, root, journal string) (dir, pictures string) {
	t.Helper()
	dir, pictures = filepath.Join(root, "sorted"), filepath.Join(root, "pictures")
	for name, text := range map[string]string{
		"pictures/a.jpg": "a", "pictures/b.jpg": "b",
		"sorted/g/a.jpg": "a", "sorted/g/moved.jpg": "moved", "sorted/g/mine.jpg": "mine",
		"home/a.jpg": "a", "home/diary.txt": "diary", "home/.partwise-tmp-1": "x", "home/empty/": "",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(file, 0o777); err != nil {
				t.Fatal(err)
			}
			continue
		}
		write(t, file, text)
	}
	for link, target := range map[string]string{
		"sorted/out": "home", "sorted/g/deep": "home", "sorted/back": "sorted/g", "sorted/g/l.jpg": "pictures/a.jpg",
		"home/l.jpg": "pictures/a.jpg", "home/diary": "sorted/g/mine.jpg",
	} {
		if err := os.Symlink(filepath.Join(root, filepath.FromSlash(target)), filepath.Join(root, filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	write(t, filepath.Join(dir, JournalFile), rooted(journal, root))
	return dir, pictures
}

// rooted replaces {root} in a journal by a folder.
func rooted(journal, root string) string {
	quoted := strings.Trim(fmt.Sprintf("%q", filepath.ToSlash(root)), `"`)
	return strings.ReplaceAll(journal, "{root}", quoted)
}

// holds returns the number of regular files below dir with the given content.
func holds(t *testing.T, dir string) map[string]int {
	t.Helper()
	found := map[string]int{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || strings.HasPrefix(d.Name(), ".partwise-sorted") {
			return err
		}
		text, err := os.ReadFile(path)
		found[string(text)]++
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// checkUndo undoes a journal, with the given spelling of the folder. It fails the test if a file outside the folder and
// the pictures changes, or if the last file with some content is gone.
func checkUndo(t *testing.T, root, spelt, journal string) (*Result, error) {
	t.Helper()
	dir, pictures := sandbox(t, root, journal)
	home, before := tree(t, filepath.Join(root, "home")), holds(t, root)
	picturesBefore := tree(t, pictures)
	if spelt != "" {
		if strings.HasPrefix(spelt, "linked") {
			if err := os.Symlink(root, filepath.Join(root, "linked")); err != nil {
				t.Skip(err)
			}
		}
		t.Chdir(root)
		dir = spelt
	}
	u, err := Undo(t.Context(), dir, in(pictures), nil)
	dir = filepath.Join(root, "sorted")
	if after := tree(t, filepath.Join(root, "home")); after != home {
		t.Errorf("%s\nchanges files outside: now there is\n%s\nwant\n%s", journal, after, home)
	}
	picturesAfter := tree(t, pictures)
	for _, file := range strings.Split(picturesBefore, "\n") {
		if !strings.Contains(picturesAfter, file) {
			t.Errorf("%s\nchanges the picture %s", journal, file)
		}
	}
	after := holds(t, root)
	for text := range before {
		if after[text] == 0 {
			t.Errorf("%s\nloses the file that held %q", journal, text)
		}
	}
	for text := range after {
		if before[text] == 0 {
			t.Errorf("%s\nmakes a file that holds %q", journal, text)
		}
	}
	if _, err := os.Lstat(filepath.Join(dir, "g", "mine.jpg")); err != nil && !strings.Contains(journal, "mine") && !strings.Contains(journal, `\u`) {
		t.Errorf("%s\nremoves a file that it does not name: %v", journal, err)
	}
	return u, err
}

// hostile are journals by a stranger. left is the number of files that stay, or −1 for an error.
var hostile = []struct {
	way, from, to string
	left          int
}{
	{"copy", "{root}/home/a.jpg", "out/a.jpg", 1},         // one of two equal files behind a link
	{"copy", "{root}/home/diary.txt", "out/diary.txt", 1}, // a file by two paths
	{"copy", "{root}/home/diary.txt", "g/deep/diary.txt", 1},
	{"copy", "{root}/sorted/g/mine.jpg", "g/mine.jpg", 1}, // by one
	{"move", "{root}/sorted/g/mine.jpg", "g/mine.jpg", 1},
	{"copy", "{root}/sorted/back/mine.jpg", "g/mine.jpg", 1},
	{"copy", "{root}/home/diary", "g/mine.jpg", 1}, // a link to it
	{"copy", "{root}/pictures/../sorted/g/mine.jpg", "g/mine.jpg", 1},
	{"link", "{root}/pictures/a.jpg", "out/l.jpg", 1},
	{"link", "{root}/pictures/a.jpg", "g/deep/l.jpg", 1},
	{"move", "{root}/pictures/new.jpg", "out/diary.txt", 1}, // out of somebody's folder
	{"move", "{root}/home/new.jpg", "g/moved.jpg", 1},       // into one
	{"move", "{root}/pictures/../home/new.jpg", "g/moved.jpg", 1},
	{"copy", "{root}/home", "g/a.jpg", 1},
	{"copy", "/dev/zero", "g/a.jpg", 1},
	{"copy", "{root}/pictures/a.jpg", "../home/a.jpg", -1},
	{"copy", "{root}/pictures/a.jpg", "/etc/passwd", -1},
	{"copy", "{root}/pictures/a.jpg", "g/../../home/a.jpg", -1},
	{"copy", "{root}/pictures/a.jpg", "a.jpg", -1},
	{"copy", "{root}/pictures/a.jpg", "g/../a.jpg", -1},
	{"copy", "pictures/a.jpg", "g/a.jpg", -1},
	{"copy", "{root}/pictures/a.jpg", "g/mine.jpg/x", 1},
	{"copy", "{root}/pictures/a.jpg", "", -1},
	{"copy", "{root}/pictures/a.jpg", "out/empty/x", 1},
	// Lines of a valid journal.
	{"copy", "{root}/pictures/a.jpg", "g/a.jpg", 0},
	{"move", "{root}/pictures/moved.jpg", "g/moved.jpg", 0},
	{"link", "{root}/pictures/a.jpg", "g/l.jpg", 0},
}

func journalOf(way, from, to string) string {
	return fmt.Sprintf("{\"format\":1,\"way\":%q}\n{\"from\":%q,\"to\":%q}\n", way, from, to)
}

// TestHostileJournal checks that a stranger's journal and links change nothing outside of the folder, and remove no
// file without another copy.
func TestHostileJournal(t *testing.T) {
	for _, h := range hostile {
		for _, spelt := range []string{"", "sorted", "./sorted", "sorted/", "sorted/.", "linked/sorted"} {
			u, err := checkUndo(t, t.TempDir(), spelt, journalOf(h.way, h.from, h.to))
			if runtime.GOOS != "windows" && (len(u.Left) != max(h.left, 0) || (err != nil) != (h.left < 0)) {
				t.Errorf("%s: %+v: left %q, error %v", spelt, h, u.Left, err)
			}
		}
	}
	for name, journal := range map[string]string{
		"windows":   journalOf("copy", `C:\pictures\a.jpg`, `g\a.jpg`) + journalOf("copy", `C:/pictures/a.jpg`, `C:/x/a.jpg`),
		"deep":      "{\"format\":1,\"way\":\"copy\"}\n" + strings.Repeat("[", 1<<20),
		"two ways":  "{\"format\":1,\"way\":\"copy\",\"way\":\"move\"}\n",
		"long line": journalOf("copy", "{root}/pictures/a.jpg", "g/"+strings.Repeat("a/", 1<<16)),
		"NUL":       journalOf("copy", "{root}/pictures/a.jpg", "g/\x00"),
	} {
		if used := testkit.Allocated(func() { _, _ = checkUndo(t, t.TempDir(), "", journal) }); used > 64<<20 {
			t.Errorf("%s: %d bytes allocated", name, used)
		}
	}
}

func FuzzJournal(f *testing.F) {
	for _, h := range hostile {
		f.Add(journalOf(h.way, h.from, h.to))
	}
	var lines []string
	for _, h := range hostile[len(hostile)-3:] {
		lines = append(lines, strings.TrimPrefix(journalOf("copy", h.from, h.to), "{\"format\":1,\"way\":\"copy\"}\n"))
	}
	f.Add("{\"format\":1,\"way\":\"move\",\"made\":true}\n" + strings.Join(lines, ""))
	f.Fuzz(func(t *testing.T, journal string) {
		if len(journal) > 1<<14 {
			return
		}
		// An unreadable journal is rejected before any file changes; see the hostile journals.
		var err error
		if used := testkit.Allocated(func() { _, _, err = parseJournal([]byte(rooted(journal, "/")), "sorted files", ways, (*line).isValid) }); used > 1<<20+256*uint64(len(journal)) {
			t.Errorf("%d bytes allocated by reading", used)
		}
		if err != nil {
			return
		}
		root, err := os.MkdirTemp("", "filing-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(root)
		if used := testkit.Allocated(func() { _, _ = checkUndo(t, root, "", journal) }); used > 16<<20+256*uint64(len(journal)) {
			t.Errorf("%d bytes allocated", used)
		}
	})
}
