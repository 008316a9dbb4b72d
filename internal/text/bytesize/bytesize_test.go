package bytesize

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]int64{
		"1B": 1, "512MB": 512e6, "4GB": 4e9, "4 gb": 4e9, "1.5kB": 1500, "2KiB": 2048, "1TiB": 1 << 40, "0.5GiB": 1 << 29,
	} {
		if got, err := Parse(text); err != nil || got != want {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GB", "4", "-4GB", "4XB", "0GB", "0.1B", "NaNGB", "InfGB", "1e30GB", "1e-30GB", "4GB4", "1e400TB"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q passes for %d", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 B", 999: "999 B", 1000: "1.0 kB", 9_949: "9.9 kB", 9_950: "10 kB", 999_499: "999 kB",
		1_000_000: "1.0 MB", 123_456_789: "123 MB", 4e9: "4.0 GB", 5e15: "5.0 PB",
	} {
		if got := Format(n); got != want {
			t.Errorf("%d is %q, want %q", n, got, want)
		}
	}
}
