package cache

import (
	"fmt"
	"math"
	"testing"
)

// Keys are names of files on disk, so the same parts must always give the same key.
func TestKeyStays(t *testing.T) {
	type grid []struct{ Rows, Cols int }
	got := NewKey("kind", "a", []byte{1, 2}, 3, uint64(4), 0.1, true, []int{5}, grid{{4, 4}}, Key{}, []Key{{1}})
	if want := "bc9e97f6da14d7b5dcff1b7b087fb8d5aaa901fd9ae0024b3f8411d6d600df8f"; got.String() != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestKeysDiffer(t *testing.T) {
	type size struct{ Height, Width int }
	parts := [][]any{
		{}, {nil}, {nil, nil}, {""}, {"", ""}, {"ab"}, {"a", "b"}, {"b", "a"}, {"", "ab"}, {"ab", ""}, {"ab "},
		{[]byte("ab")}, {[]byte("a"), []byte("b")}, {[]byte{}}, {[]string{"ab"}}, {[]string{"a", "b"}}, {[]string{"a b"}},
		{1}, {"1"}, {1.0}, {int64(1)}, {uint64(1)}, {true}, {[]int{1}}, {[]int{1, 2}}, {1, 2}, {[]any{1, 2}},
		{0.1}, {math.Nextafter(0.1, 1)}, {float32(0.1)}, {math.Copysign(0, -1)}, {0.0},
		{size{1, 2}}, {size{2, 1}}, {struct{ Height, Width int }{1, 2}}, {[]size{{1, 2}}}, {[]size{{1, 2}, {}}},
		{Key{}}, {Key{1}}, {Key{}, Key{}}, {[]Key{}}, {[]Key{{}}}, {[]Key{{}, {}}}, {[]Key{{}}, []Key{{}}}, {make([]byte, 32)},
	}
	seen := map[Key]string{}
	note := func(k Key, what string) {
		t.Helper()
		if other, ok := seen[k]; ok {
			t.Errorf("%s and %s have one key", what, other)
		}
		seen[k] = what
	}
	for _, p := range parts {
		what := fmt.Sprintf("%#v", p)
		key := NewKey("kind", p...)
		note(key, what)
		if again := NewKey("kind", p...); again != key {
			t.Errorf("%s has two keys", what)
		}
	}
	note(NewKey("", "kind"), "no kind")
	note(NewKey("other"), "another kind")
}
