package report

import (
	"slices"
	"testing"
)

func TestSafeNames(t *testing.T) {
	names := []string{"cnmf", "CNMF", "cnmf-2", "../../etc/passwd", "???", "!"}
	want := []string{"cnmf", "cnmf-2", "cnmf-2-2", "etc-passwd", "unnamed", "unnamed-2"}
	if got := safeNames(names); !slices.Equal(got, want) {
		t.Errorf("safe names %q, want %q", got, want)
	}
}
