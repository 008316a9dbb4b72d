package sparse

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendBinary implements encoding.BinaryAppender: rows, columns and the number of values, then for each row how many
// it has, their columns and the values.
func (m *CSR) AppendBinary(b []byte) ([]byte, error) {
	for _, n := range []int{m.rows, m.cols, len(m.Values)} {
		if n > math.MaxInt32 {
			return b, fmt.Errorf("sparse: %d is more than can be written", n)
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	for i := range m.rows {
		b = binary.LittleEndian.AppendUint32(b, uint32(m.RowStart[i+1]-m.RowStart[i]))
	}
	for _, j := range m.Columns {
		b = binary.LittleEndian.AppendUint32(b, uint32(j))
	}
	return binary.Append(b, binary.LittleEndian, m.Values)
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. It takes at most 4 bytes of memory for each of b.
func (m *CSR) UnmarshalBinary(b []byte) error {
	const head = 12
	if len(b) < head {
		return fmt.Errorf("sparse: %d bytes are no matrix", len(b))
	}
	next := func() int {
		n := binary.LittleEndian.Uint32(b)
		b = b[4:]
		return int(n)
	}
	size := len(b)
	r, c, nnz := next(), next(), next()
	if r > size || nnz > size || c > math.MaxInt32 || size != head+4*r+12*nnz {
		return fmt.Errorf("sparse: %d bytes hold no %d×%d matrix of %d values", size, r, c, nnz)
	}
	starts, columns, values := make([]int, r+1), make([]int, nnz), make([]float64, nnz)
	for i := range r {
		starts[i+1] = starts[i] + next()
	}
	if starts[r] != nnz {
		return fmt.Errorf("sparse: rows of %d values in all, and there are %d", starts[r], nnz)
	}
	for p := range columns {
		columns[p] = next()
	}
	if _, err := binary.Decode(b, binary.LittleEndian, values); err != nil {
		return err
	}
	read, err := New(r, c, starts, columns, values)
	if err == nil {
		*m = *read
	}
	return err
}
