package testkit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash"
	"math"
	"os"
	"reflect"
	"testing"
)

// SameDigests compares digests with those of a JSON file, which it writes first if update is set.
func SameDigests(t *testing.T, file string, got map[string]string, update bool) {
	t.Helper()
	if update {
		out, err := json.MarshalIndent(got, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(out, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	in, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(in, &want); err != nil {
		t.Fatal(err)
	}
	for name, digest := range got {
		if digest != want[name] {
			t.Errorf("%s has the digest %s, want %q of %s", name, digest, want[name], file)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %d digests, want %d; write it by -update", file, len(want), len(got))
	}
}

// Digest returns a short digest of the numbers and strings that values lead to, in little-endian order. It
// leaves out maps and functions, and reads every pointer.
func Digest(values ...any) string {
	h := sha256.New()
	for _, v := range values {
		digest(h, reflect.ValueOf(v), 0)
	}
	return fmt.Sprintf("%.4x", h.Sum(nil))
}

func digest(h hash.Hash, v reflect.Value, depth int) {
	if depth > 20 {
		panic("testkit: a value leads to itself")
	}
	number := func(bits uint64) { h.Write(binary.LittleEndian.AppendUint64(nil, bits)) }
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		x := v.Float()
		if x != x {
			x = math.NaN() // of one bit pattern
		}
		number(math.Float64bits(x))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		number(uint64(v.Int()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uint:
		number(v.Uint())
	case reflect.String:
		h.Write([]byte(v.String()))
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			digest(h, v.Elem(), depth+1)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			digest(h, v.Index(i), depth+1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			digest(h, v.Field(i), depth+1)
		}
	}
}
