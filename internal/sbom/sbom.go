// Package sbom writes the bill of materials of a Go program in the form
// CycloneDX 1.6.
package sbom

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"runtime/debug"
	"strings"
	"time"
)

// Options say what a program does not hold itself.
type Options struct {
	// Name and Version are the program's, Licence its SPDX expression.
	Name, Version, Licence string
	// SHA256 is the sum of the program's file, in hexadecimal.
	SHA256 string
	// Time is when the release was made.
	Time time.Time
	// LicenceOf returns the SPDX expression of a module, or "".
	LicenceOf func(path, version string) string
}

type document struct {
	Schema       string       `json:"$schema"`
	Format       string       `json:"bomFormat"`
	SpecVersion  string       `json:"specVersion"`
	Serial       string       `json:"serialNumber"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Timestamp string    `json:"timestamp"`
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	Hashes     []hash     `json:"hashes,omitempty"`
	Licences   []licence  `json:"licenses,omitempty"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type licence struct {
	Expression string `json:"expression"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

// Write writes the bill of materials of the program with the given build
// information: the same bytes for the same program and options.
func Write(w io.Writer, info *debug.BuildInfo, opt Options) error {
	if opt.Name == "" || opt.Version == "" || info.Main.Path == "" {
		return errors.New("the program has no name, version or module")
	}
	main := component{
		Type: "application", Ref: purl(info.Main.Path, opt.Version), Name: opt.Name, Version: opt.Version,
		Licences: licences(opt.Licence), PURL: purl(info.Main.Path, opt.Version),
	}
	if opt.SHA256 != "" {
		main.Hashes = []hash{{"SHA-256", opt.SHA256}}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED", "-tags", "-trimpath", "vcs.revision", "vcs.time", "vcs.modified":
			main.Properties = append(main.Properties, property{"build:" + s.Key, s.Value})
		}
	}
	goVersion := strings.TrimPrefix(info.GoVersion, "go")
	components := []component{{
		Type: "library", Ref: purl("std", goVersion), Name: "std", Version: goVersion, Licences: licences("BSD-3-Clause"), PURL: purl("std", goVersion),
	}}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		c := component{Type: "library", Ref: purl(m.Path, m.Version), Name: m.Path, Version: m.Version, PURL: purl(m.Path, m.Version)}
		if opt.LicenceOf != nil {
			c.Licences = licences(opt.LicenceOf(m.Path, m.Version))
		}
		if m.Sum != "" {
			c.Properties = []property{{"go.sum", m.Sum}}
		}
		components = append(components, c)
	}
	depends := dependency{Ref: main.Ref}
	for _, c := range components {
		depends.DependsOn = append(depends.DependsOn, c.Ref)
	}
	doc := document{
		Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{Timestamp: opt.Time.UTC().Format(time.RFC3339), Component: main},
		Components: components, Dependencies: []dependency{depends},
	}
	content, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	doc.Serial = serial(content)
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	out.SetEscapeHTML(false)
	return out.Encode(doc)
}

func licences(expression string) []licence {
	if expression == "" {
		return nil
	}
	return []licence{{expression}}
}

// purl returns the package URL of a Go module.
func purl(path, version string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return "pkg:golang/" + strings.Join(parts, "/") + "@" + url.QueryEscape(version)
}

// serial returns a UUID that is made of content (RFC 9562, version 8).
func serial(content []byte) string {
	sum := sha256.Sum256(content)
	id := sum[:16]
	id[6] = id[6]&0x0f | 0x80
	id[8] = id[8]&0x3f | 0x80
	h := hex.EncodeToString(id)
	return fmt.Sprintf("urn:uuid:%s-%s-%s-%s-%s", h[:8], h[8:12], h[12:16], h[16:20], h[20:])
}
