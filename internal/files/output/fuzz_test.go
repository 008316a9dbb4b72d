package output

import (
	"path/filepath"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/files/atomicfile"
)

// FuzzManifest: any manifest gives an error or names of files in the folder, and is read
// back unchanged after it is written.
func FuzzManifest(f *testing.F) {
	m := newManifest("groups")
	m.appended["log.txt"] = true
	m.files["index.html"] = []content{{"00000000000000000000000000000000000000000000000000000000000000ff", 3}}
	f.Add(m.encode())
	m.publishing = &publication{atomicfile.NewName(stagingSuffix), []string{"index.html", "groups/"}, map[string]content{"groups/1.png": m.files["index.html"][0]}}
	f.Add(m.encode())
	f.Add([]byte(`{"format":1,"command":"groups","version":""}` + "\n" + `{"file":"../x"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := decodeManifest(text)
		if err != nil {
			return
		}
		names := []string{}
		for name := range m.files {
			names = append(names, name)
		}
		for name := range m.appended {
			names = append(names, name)
		}
		if m.publishing != nil {
			names = append(names, m.publishing.staging)
			for name := range m.publishing.files {
				names = append(names, name)
			}
		}
		for _, name := range names {
			if !filepath.IsLocal(filepath.FromSlash(name)) || name == ManifestFile {
				t.Errorf("the manifest names %q", name)
			}
		}
		again, err := decodeManifest(m.encode())
		if err != nil || string(again.encode()) != string(m.encode()) {
			t.Errorf("written and read again: %v", err)
		}
	})
}
