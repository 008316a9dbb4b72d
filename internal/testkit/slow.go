package testkit

import "testing"

// Slow skips, with -short, a test that the race detector makes long and that starts no
// goroutines which others do not start.
func Slow(t *testing.T) {
	t.Helper()
	if Race && testing.Short() {
		t.Skip("takes long under the race detector")
	}
}
