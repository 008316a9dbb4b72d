package factor

import (
	"context"
	"math"

	"github.com/seed4492f2cd/partwise/internal/memory"
)

// room reports that so many matrices of rows×columns values do not fit into the memory
// that the context allows. What says what they are.
func room(ctx context.Context, what string, matrices, rows, columns int) error {
	bytes := 8 * float64(matrices) * float64(rows) * float64(columns)
	if bytes > math.MaxInt64/2 {
		bytes = math.MaxInt64 / 2
	}
	return memory.FromContext(ctx).Check(int64(bytes), what)
}
