package main

import (
	"testing"
)

// TestCommandLine: what is said to do the same again does, in any shell.
func TestCommandLine(t *testing.T) {
	cmd := clusterCommand()
	if err := cmd.ParseFlags([]string{"--strict=false", "--pool", "-k", "3", "--method", "nmf,init=nmf", "--out", "x", "--pattern", "{class}-*"}); err != nil {
		t.Fatal(err)
	}
	const want = `cluster 'it'\''s' -k 3 --method nmf,init=nmf --pattern '{class}-*' --pool`
	if got := commandLine(cmd, []string{"it's"}); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
