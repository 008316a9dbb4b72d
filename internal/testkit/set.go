package testkit

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// CSV writes a CSV set with a class of each of the sizes, which lie apart in eight
// features, and returns its path.
func CSV(t testing.TB, sizes ...int) string {
	t.Helper()
	src := rand.New(rand.NewPCG(1, 1))
	var text strings.Builder
	text.WriteString("a,b,c,d,e,f,g,h,class\n")
	for c, size := range sizes {
		for range size {
			for j := range 8 {
				x := 0.3 + src.Float64()
				if j%len(sizes) == c {
					x += 1
				}
				fmt.Fprintf(&text, "%.4f,", x)
			}
			fmt.Fprintf(&text, "class%d\n", c)
		}
	}
	path := filepath.Join(t.TempDir(), "set.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}
