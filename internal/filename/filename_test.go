package filename

import (
	"strings"
	"testing"
)

func TestSafe(t *testing.T) {
	for name, want := range map[string]string{
		"cnmf":                                "cnmf",
		"CNMF":                                "cnmf",
		"cnmf-2":                              "cnmf-2",
		"../../etc/passwd":                    "etc-passwd",
		"a & b <%>":                           "a-b",
		"λ = 100":                             "λ-100",
		"":                                    "unnamed",
		"???":                                 "unnamed",
		"NUL":                                 "nul-",
		"com1":                                "com1-",
		"icon":                                "icon",
		"com10":                               "com10",
		strings.Repeat("x", 300):              strings.Repeat("x", longest),
		strings.Repeat("x", longest-1) + " y": strings.Repeat("x", longest-1),
	} {
		if got := Safe(name); got != want {
			t.Errorf("%.30q is safe as %q, want %q", name, got, want)
		}
	}
}
