package models

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// TestNetworkOfModel: a model is refused if the file of its network has changed.
func TestNetworkOfModel(t *testing.T) {
	e := &spec.Experiment{Data: spec.Data{Set: testkit.CSV(t, 9, 10, 11)}}
	in, err := input.Prepare(t.Context(), e, input.PrepareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	m, err := NewModel(t.Context(), in, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	network := filepath.Join(t.TempDir(), "net.onnx")
	if err := os.WriteFile(network, []byte("one"), 0o666); err != nil {
		t.Fatal(err)
	}
	m.Features = spec.Features{Extractor: features.Network{File: network}}
	if m.digests, err = m.networks(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(t.Context(), in.Set); err != nil {
		t.Error(err)
	}
	if err := os.WriteFile(network, []byte("two"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(t.Context(), in.Set); err == nil || !strings.Contains(err.Error(), "net.onnx: not the network of the model: SHA-256 is") {
		t.Errorf("error %v", err)
	}
}
