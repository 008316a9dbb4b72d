package sbom

import (
	"bytes"
	"encoding/json"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func example() (*debug.BuildInfo, Options) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.0", Main: debug.Module{Path: "example.org/program"},
		Deps: []*debug.Module{
			{Path: "example.org/~a/b+c", Version: "v1.0.0", Sum: "h1:abc="},
			{Path: "example.org/old", Version: "v1", Replace: &debug.Module{Path: "example.org/new", Version: "v2.0.0+incompatible"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "CGO_CFLAGS", Value: "-O2"}},
	}
	return info, Options{
		Name: "program", Version: "v1.2.3", Licence: "Apache-2.0", SHA256: strings.Repeat("0", 64), Time: time.Unix(0, 0),
		LicenceOf: func(path, _ string) string { return map[string]string{"example.org/new": "MIT OR BSD-3-Clause"}[path] },
	}
}

// TestWrite checks what the schema of CycloneDX 1.6 requires of the fields that
// are written.
func TestWrite(t *testing.T) {
	info, opt := example()
	var out, again bytes.Buffer
	if err := Write(&out, info, opt); err != nil {
		t.Fatal(err)
	}
	if err := Write(&again, info, opt); err != nil || !bytes.Equal(out.Bytes(), again.Bytes()) {
		t.Errorf("a second time other bytes are written (%v)", err)
	}
	var doc struct {
		Format   string `json:"bomFormat"`
		Spec     string `json:"specVersion"`
		Serial   string `json:"serialNumber"`
		Version  int
		Metadata struct {
			Timestamp string
			Component map[string]any
		}
		Components   []map[string]any
		Dependencies []struct {
			Ref       string
			DependsOn []string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Format != "CycloneDX" || doc.Spec != "1.6" || doc.Version < 1 {
		t.Errorf("it is %s %s, version %d", doc.Format, doc.Spec, doc.Version)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$`).MatchString(doc.Serial) {
		t.Errorf("the serial number is %q", doc.Serial)
	}
	if _, err := time.Parse(time.RFC3339, doc.Metadata.Timestamp); err != nil {
		t.Error(err)
	}
	refs := map[string]bool{}
	for _, c := range append(doc.Components, doc.Metadata.Component) {
		ref, _ := c["bom-ref"].(string)
		if ref == "" || refs[ref] {
			t.Errorf("the reference %q is empty or twice there", ref)
		}
		refs[ref] = true
		if c["name"] == "" || c["version"] == "" || c["type"] != "library" && c["type"] != "application" {
			t.Errorf("the component %v", c)
		}
		if p, _ := c["purl"].(string); !regexp.MustCompile(`^pkg:golang/[^@\s]+@[^@\s]+$`).MatchString(p) {
			t.Errorf("the package URL %q", p)
		}
		if hashes, ok := c["hashes"].([]any); ok {
			h := hashes[0].(map[string]any)
			if h["alg"] != "SHA-256" || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(h["content"].(string)) {
				t.Errorf("the hash %v", h)
			}
		}
	}
	if len(doc.Components) != 3 {
		t.Errorf("%d components, want the standard library and two modules", len(doc.Components))
	}
	for _, d := range doc.Dependencies {
		for _, ref := range append(d.DependsOn, d.Ref) {
			if !refs[ref] {
				t.Errorf("the reference %q is that of no component", ref)
			}
		}
	}
	for _, want := range []string{`"example.org/new"`, `"MIT OR BSD-3-Clause"`, "pkg:golang/example.org/new@v2.0.0%2Bincompatible", "pkg:golang/std@1.26.0", `"h1:abc="`, "1970-01-01T00:00:00Z", "build:GOOS"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in it", want)
		}
	}
	for _, not := range []string{"example.org/old", "CGO_CFLAGS"} {
		if strings.Contains(out.String(), not) {
			t.Errorf("%s is in it", not)
		}
	}
	opt.SHA256 = strings.Repeat("1", 64)
	again.Reset()
	if err := Write(&again, info, opt); err != nil || strings.Contains(again.String(), doc.Serial) {
		t.Errorf("another program has the same serial number (%v)", err)
	}
}

func TestWriteRefuses(t *testing.T) {
	for _, change := range []func(*debug.BuildInfo, *Options){
		func(_ *debug.BuildInfo, o *Options) { o.Name = "" },
		func(_ *debug.BuildInfo, o *Options) { o.Version = "" },
		func(i *debug.BuildInfo, _ *Options) { i.Main.Path = "" },
	} {
		info, opt := example()
		change(info, &opt)
		if err := Write(&bytes.Buffer{}, info, opt); err == nil {
			t.Error("no error")
		}
	}
}
