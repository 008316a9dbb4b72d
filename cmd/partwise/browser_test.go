package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestOpenBrowser: the browser learns the address by a file that nobody else may read, which
// goes at the end.
func TestOpenBrowser(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("browsers are opened by another program")
	}
	const address = "http://127.0.0.1:1/0123456789abcdef/"
	t.Chdir(t.TempDir())
	for _, dir := range []string{"bin", "results"} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	bin, err := filepath.Abs("bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	script := "#!/bin/sh\nstat -c %a \"$1\" > " + bin + "/said.new\necho \"$1\" >> " + bin + "/said.new\ncat \"$1\" >> " + bin + "/said.new\nmv " + bin + "/said.new " + bin + "/said\n"
	if err := os.WriteFile("bin/xdg-open", []byte(script), 0o777); err != nil {
		t.Fatal(err)
	}
	remove := openBrowser("results", address)
	for range 1000 {
		if _, err := os.Stat("bin/said"); err == nil {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	mode, rest, _ := strings.Cut(read(t, "bin", "said"), "\n")
	path, text, _ := strings.Cut(rest, "\n")
	if mode != "600" || !filepath.IsAbs(path) || strings.Contains(path, "0123456789abcdef") || strings.Count(text, address) != 2 {
		t.Errorf("the browser is given %s of mode %s with %q", path, mode, text)
	}
	if remove(); len(listed(t, "results")) > 0 {
		t.Errorf("there is yet %v", listed(t, "results"))
	}
	// No browser and no folder are no faults.
	t.Setenv("PATH", "")
	openBrowser("results", address)()
	openBrowser("nowhere", address)()
}
