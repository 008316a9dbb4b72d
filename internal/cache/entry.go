package cache

import (
	"encoding/binary"
	"hash/crc32"
)

// An entry's file is a header and the blob. The header holds the magic, whose
// last byte is the format's version, the key, the blob's length and the CRC-32C
// of all of this and of the blob.
//
// The sum guards against disks and crashes, not against people: who can write
// to the folder can put in it what they like. CRC-32C, for which processors have
// an instruction, costs a tenth of what reading the file does; SHA-256 would
// cost more than reading it.
const (
	magic      = "pwcache\x01"
	lengthAt   = len(magic) + len(Key{})
	sumAt      = lengthAt + 8
	headerSize = sumAt + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sum returns the sum of a header without its sum and the blob.
func sum(header, blob []byte) uint32 {
	return crc32.Update(crc32.Checksum(header[:sumAt], castagnoli), castagnoli, blob)
}

// encodeHeader returns what stands before the blob in a file.
func encodeHeader(key Key, blob []byte) []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, magic...)
	b = append(b, key[:]...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(blob)))
	return binary.LittleEndian.AppendUint32(b, sum(b, blob))
}

// decode returns the blob in a file, without copying, if the file is that of
// the key and undamaged.
func decode(key Key, file []byte) (blob []byte, ok bool) {
	if len(file) < headerSize {
		return nil, false
	}
	header, blob := file[:headerSize], file[headerSize:]
	if string(header[:len(magic)]) != magic || Key(header[len(magic):lengthAt]) != key ||
		binary.LittleEndian.Uint64(header[lengthAt:]) != uint64(len(blob)) ||
		binary.LittleEndian.Uint32(header[sumAt:]) != sum(header, blob) {
		return nil, false
	}
	return blob, true
}
