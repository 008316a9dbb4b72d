package report

import (
	"fmt"
	"strings"
	"testing"
)

func TestSafeNames(t *testing.T) {
	names := []string{"cnmf", "CNMF", "cnmf-2", "../../etc/passwd", "a & b <%>", "λ = 100", "", "???", strings.Repeat("x", 300)}
	want := []string{"cnmf", "cnmf-2", "cnmf-2-2", "etc-passwd", "a-b", "λ-100", "unnamed", "unnamed-2", strings.Repeat("x", longestName)}
	for i, got := range safeNames(names) {
		if got != want[i] {
			t.Errorf("%s is safe as %q, want %q", fmt.Sprintf("%.30q", names[i]), got, want[i])
		}
	}
}
