package cache

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// Key names an entry by the SHA-256 sum of its inputs.
type Key [sha256.Size]byte

// keyFormat changes with the way in which parts are digested.
const keyFormat = "partwise key 1"

// NewKey returns the key of a kind of blob and of its inputs. It digests the order, types and values of
// the parts: bytes and keys as they are, all else as Go prints it (%#v). So parts must not contain
// pointers, which differ between runs.
func NewKey(kind string, parts ...any) Key {
	h := sha256.New()
	// Every part follows its kind and length.
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
