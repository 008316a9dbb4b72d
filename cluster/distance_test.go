package cluster

import (
	"strings"
	"testing"
)

func TestParseDistance(t *testing.T) {
	for _, d := range distances {
		if got, err := ParseDistance(d.String()); err != nil || got != d {
			t.Errorf("%v is parsed as %v, %v", d, got, err)
		}
	}
	if _, err := ParseDistance("Manhattan"); err == nil || !strings.Contains(err.Error(), `"Manhattan"`) {
		t.Errorf("error %v does not name the distance", err)
	}
}
