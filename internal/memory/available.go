package memory

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/seed4492f2cd/partwise/internal/bytesize"
)

// unknown is taken for the memory of a machine that does not tell.
const unknown = 4 << 30

// Available returns how many bytes of memory the process may use: those of the
// machine, or of the group of processes that it is in where that has a limit.
func Available() int64 {
	n := installed()
	if n <= 0 {
		n = unknown
	}
	return n
}

// Parse reads a limit: a size such as 4GB or 512MB, or a share of the memory
// there is, such as 50%. It is at least Least.
func Parse(s string) (int64, error) {
	var n int64
	if share, ok := strings.CutSuffix(s, "%"); ok {
		x, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || !(x > 0 && x <= 100) {
			return 0, fmt.Errorf("%q is no share of the memory; want one above 0%% and up to 100%%", s)
		}
		n = int64(x / 100 * float64(Available()))
	} else {
		var err error
		if n, err = bytesize.Parse(s); err != nil {
			return 0, fmt.Errorf("%w, or a share such as 50%%", err)
		}
	}
	if n < Least {
		return 0, fmt.Errorf("%s of memory are too few; want %s or more", bytesize.Format(n), bytesize.Format(Least))
	}
	return n, nil
}
