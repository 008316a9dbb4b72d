package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Key names an entry by the SHA-256 sum of what it was made from.
type Key [sha256.Size]byte

// keyFormat changes with the way in which parts are digested.
const keyFormat = "partwise key 1"

// NewKey returns the key of the kind of a blob and of the parts that it was
// made from. Parts are told apart by their order, types and values: bytes and
// keys as they are, all else as Go writes it (%#v). So numbers, words, and
// slices, maps and structs of them will do, and pointers within them will not,
// which stand for another place in every run.
func NewKey(kind string, parts ...any) Key {
	h := sha256.New()
	// Every part is preceded by what it is and its length.
	put := func(what byte, part []byte) {
		h.Write(binary.LittleEndian.AppendUint64([]byte{what}, uint64(len(part))))
		h.Write(part)
	}
	put('f', []byte(keyFormat))
	put('k', []byte(kind))
	for _, part := range parts {
		switch p := part.(type) {
		case []byte:
			put('b', p)
		case []Key:
			all := make([]byte, 0, len(p)*len(Key{}))
			for i := range p {
				all = append(all, p[i][:]...)
			}
			put('l', all)
		default:
			put('v', fmt.Appendf(nil, "%T %#[1]v", p))
		}
	}
	return Key(h.Sum(nil))
}

// String returns the key as 64 hexadecimal digits.
func (k Key) String() string { return hex.EncodeToString(k[:]) }
