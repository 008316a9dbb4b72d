package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// openBrowser opens an address in the user's browser, where there is one. Other users of the
// computer see the arguments of programs and are not to learn the address: the browser is given a file,
// which only this user may read, that leads there. It stands in dir, since some browsers read
// no temporary folders, and what is returned removes it.
func openBrowser(dir, address string) (remove func()) {
	f, err := os.CreateTemp(dir, ".partwise-open-*.html") // of this user alone
	if err != nil {
		return func() {}
	}
	path := f.Name()
	remove = func() { _ = os.Remove(path) }
	_, err = fmt.Fprintf(f, `<!DOCTYPE html><meta charset="utf-8"><title>partwise explore</title>
<meta http-equiv="refresh" content="0; url=%s"><p><a href="%[1]s">The groups</a></p>
`, address)
	if err2 := f.Close(); err != nil || err2 != nil {
		return remove
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	name, args := "xdg-open", []string{path}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", path}
	}
	if cmd := exec.Command(name, args...); cmd.Start() == nil {
		go func() { _ = cmd.Wait() }()
	}
	return remove
}
