// Package schema tests the JSON Schemas that partwise prints with another validator.
package schema

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

func output(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	if err != nil && !bytes.Contains(out, []byte(`"error":`)) {
		t.Fatalf("%s %s: %v", program, strings.Join(args, " "), err)
	}
	return out
}

func compiled(t *testing.T, text []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	c := jsonschema.NewCompiler()
	if err == nil {
		err = c.AddResource("schema.json", document)
	}
	if err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// asJSON returns the value of a YAML text as JSON has it.
func asJSON(t *testing.T, text []byte) (value any) {
	t.Helper()
	err := yaml.Unmarshal(text, &value)
	if err == nil {
		text, err = json.Marshal(value)
	}
	if err == nil {
		value, err = jsonschema.UnmarshalJSON(bytes.NewReader(text))
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestSchemas(t *testing.T) {
	program := filepath.Join(t.TempDir(), "partwise")
	if out, err := exec.Command("go", "build", "-C", "../..", "-ldflags=-w", "-o", program, "./cmd/partwise").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	experiment := compiled(t, output(t, program, "schema"))
	files, _ := filepath.Glob("../../docs/experiments/*.yaml")
	recipes, _ := filepath.Glob("../../pipeline/reproduce/recipes/*.yaml")
	read := 0
	for _, file := range append(files, recipes...) {
		if strings.HasSuffix(file, ".paper.yaml") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := experiment.Validate(asJSON(t, text)); err != nil {
			t.Errorf("%s: %#v", file, err)
		}
		read++
	}
	if read < 15 {
		t.Errorf("only %d experiment files", read)
	}
	for text, valid := range map[string]bool{
		"{}": true,
		"{classes: 2..10, repeats: 3, rank: k+1, labels: 30%, links: {file: pairs.csv}, seed: 1}":                                          true,
		"{classes: [2, 5], rank: [5, 10], labels: {share: 10%, min: 2}, cluster: {distance: cosine, k: 5..30}}":                            true,
		"{rank: {among: 2..60, by: stability}, significance: {by: bayes-t, rope: 2}, classifier: linear}":                                  true,
		"{features: [hog, {colour: hsv, weight: 0.2}], data: {set: orl, from: mat, shape: 28x20}}":                                         true,
		"{features: {sift: dense, words: {count: 10, by: lloyd}, grid: 1x1+2x2, power: 0.5}, data: [orl, yale]}":                           true,
		"{features: {network: true, whiten: auto, crop: {box: [0, 0, 32, 32]}}}":                                                           true,
		"{methods: [{name: ccf, init: nmf}, {name: gnmf, tune: {lambda: [1, 10], by: labelled}}, {name: mine, results: 'x/*', as: Mine}]}": true,
		"{methods: [{name: parts, penalty: graph+links, lambda: [1, 10]}, {name: nmf, fixed-basis: b.npz, restarts: 3, consensus: true}]}": true,
		"{repeat: 3}":                           false,
		"{repeats: 0}":                          false,
		"{seed: -1}":                            false,
		"{labels: some}":                        false,
		"{rank: kk}":                            false,
		"{classes: 1}":                          false,
		"{task: clusters}":                      false,
		"{features: {pixel: 3}}":                false,
		"{features: {power: 2}}":                false,
		"{cluster: {by: kmean}}":                false,
		"{methods: [nmff]}":                     false,
		"{methods: [{name: nmf, lamda: 3}]}":    false,
		"{methods: [{name: gnmf, lambda: -1}]}": false,
		"{methods: [{init: nmf}]}":              false,
		"{methods: []}":                         false,
	} {
		value := asJSON(t, []byte(text)).(map[string]any)
		for key, standard := range map[string]any{"data": "yale", "methods": []any{"nmf"}} {
			if value[key] == nil {
				value[key] = standard
			}
		}
		if err := experiment.Validate(value); (err == nil) != valid {
			t.Errorf("%s is valid: %v", text, err)
		}
	}
	if experiment.Validate(map[string]any{"data": "yale"}) == nil {
		t.Error("a file without methods is valid")
	}

	results := compiled(t, output(t, program, "schema", "results"))
	t.Setenv("PARTWISE_CACHE", t.TempDir())
	for _, args := range []string{
		"fit generated --rank 3 --out m.npz --json", "cluster generated -k 4 --json", "datasets --json", "reproduce --json", "fit --json",
		"run --set generated --classes 2 --repeats 2 --method nmf,iterations=5 --name one --json",
	} {
		if err := results.Validate(asJSON(t, output(t, program, strings.Fields(args)...))); err != nil {
			t.Errorf("partwise %s: %#v", args, err)
		}
	}
	if results.Validate(map[string]any{"version": 1, "command": "fit"}) == nil || results.Validate(map[string]any{"version": "1", "command": "fit", "seconds": 0.5}) == nil {
		t.Error("a wrong document is valid")
	}
}
