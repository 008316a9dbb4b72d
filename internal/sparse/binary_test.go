package sparse

import (
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/testkit"
)

func TestBinary(t *testing.T) {
	for _, want := range []*CSR{
		FromEntries(0, 0, nil),
		FromEntries(3, 5, nil),
		FromEntries(3, 4, []Entry{{0, 1, 0.1}, {0, 3, -2}, {2, 0, 1e300}}),
	} {
		b, err := want.AppendBinary([]byte("x"))
		if err != nil {
			t.Fatal(err)
		}
		b = b[1:]
		got := &CSR{}
		if err := got.UnmarshalBinary(b); err != nil {
			t.Fatal(err)
		}
		r, c := want.Dims()
		if gr, gc := got.Dims(); gr != r || gc != c {
			t.Errorf("%d×%d, want %d×%d", gr, gc, r, c)
		} else if r > 0 && !mat.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		for cut := range len(b) {
			if got.UnmarshalBinary(b[:cut]) == nil {
				t.Fatalf("%d of %d bytes pass for a matrix", cut, len(b))
			}
		}
	}
}

func FuzzBinary(f *testing.F) {
	b, _ := FromEntries(3, 4, []Entry{{0, 1, 0.1}, {0, 3, -2}, {2, 0, 1}}).AppendBinary(nil)
	f.Add(b)
	f.Add([]byte{255, 255, 255, 127, 1, 0, 0, 0, 255, 255, 255, 127})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m CSR
		var err error
		testkit.AllocatesAtMost(t, 1<<20+4*uint64(len(b)), func() { err = m.UnmarshalBinary(b) })
		if err != nil {
			return
		}
		if again, err := m.AppendBinary(nil); err != nil || string(again) != string(b) {
			t.Fatal("a matrix read and written is not the same bytes")
		}
	})
}
