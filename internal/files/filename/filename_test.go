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

// TestFolder checks that only characters that file systems cannot store are changed in a name.
func TestFolder(t *testing.T) {
	for _, test := range []struct{ name, want, windows string }{
		{"Summer 2019", "Summer 2019", "Summer 2019"},
		{"Früh am Tag, 夏休み, לילה, 🌻", "Früh am Tag, 夏休み, לילה, 🌻", "Früh am Tag, 夏休み, לילה, 🌻"},
		{"cafe\u0301", "cafe\u0301", "cafe\u0301"},
		{"Who?", "Who?", "Who-"},
		{" a: b. ", " a: b. ", " a- b"},
		{"AC/DC", "AC-DC", "AC-DC"},
		{"a\x00b\nc\u0085", "a-b-c-", "a-b-c-"},
		{"caf\xe9", "caf-", "caf-"},
		{"../../etc", "..-..-etc", "..-..-etc"},
		{"..", "unnamed", "unnamed"},
		{"", "unnamed", "unnamed"},
		{". .", ". .", "unnamed"},
		{"Nul", "Nul", "Nul-"},
		{"COM1.tar.gz", "COM1.tar.gz", "COM1-.tar.gz"},
		{"icon", "icon", "icon"},
		{strings.Repeat("夏", 100), strings.Repeat("夏", 80), strings.Repeat("夏", 80)},
	} {
		if got := Folder(test.name, false); got != test.want {
			t.Errorf("%.30q is %q, want %q", test.name, got, test.want)
		}
		if got := Folder(test.name, true); got != test.windows {
			t.Errorf("%.30q is %q on Windows, want %q", test.name, got, test.windows)
		}
	}
}

// TestKey checks that names that some file system treats as equal have the same key.
func TestKey(t *testing.T) {
	for _, same := range [][2]string{{"Café", "CAFE\u0301"}, {"a", "A"}, {"Straße", "STRASSE"}} {
		if Key(same[0]) != Key(same[1]) {
			t.Errorf("%q and %q have the keys %q and %q", same[0], same[1], Key(same[0]), Key(same[1]))
		}
	}
	if Key("cafe") == Key("café") {
		t.Error("cafe and café have one key")
	}
}
