package vocab

import (
	"context"
	"strings"
	"testing"
)

// TestInBlocksPanics: a panic in a worker is an error, not the program's end.
func TestInBlocksPanics(t *testing.T) {
	err := inBlocks(context.Background(), 2, 100, 10, func(_, lo, _ int) {
		if lo == 50 {
			panic("fault")
		}
	})
	if err == nil || !strings.Contains(err.Error(), "fault") || !strings.Contains(err.Error(), "parallel_test.go:") {
		t.Errorf("got %v", err)
	}
}
