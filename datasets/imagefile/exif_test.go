package imagefile

import (
	"encoding/binary"
	"math"
	"time"
)

// WithEXIF returns a JPEG file with an EXIF block: capture time, model of the camera and place in degrees, each unless it is
// zero.
func WithEXIF(file []byte, taken time.Time, model string, latitude, longitude float64) []byte {
	type entry struct {
		tag, kind uint16
		count     uint32
		data      []byte
	}
	text := func(tag uint16, s string) entry { return entry{tag, 2, uint32(len(s) + 1), append([]byte(s), 0)} }
	angle := func(tag uint16, x float64) entry {
		var data []byte
		for _, v := range []uint32{uint32(math.Round(1e6 * math.Abs(x))), 1e6, 0, 1, 0, 1} {
			data = binary.LittleEndian.AppendUint32(data, v)
		}
		return entry{tag, 5, 3, data}
	}
	block := []byte("II*\x00\x08\x00\x00\x00")
	directory := func(entries []entry) {
		rest := uint32(len(block) + 2 + 12*len(entries) + 4)
		var after []byte
		block = binary.LittleEndian.AppendUint16(block, uint16(len(entries)))
		for _, e := range entries {
			block = binary.LittleEndian.AppendUint16(block, e.tag)
			block = binary.LittleEndian.AppendUint16(block, e.kind)
			block = binary.LittleEndian.AppendUint32(block, e.count)
			if len(e.data) <= 4 {
				block = append(block, append(e.data, make([]byte, 4-len(e.data))...)...)
			} else {
				block = binary.LittleEndian.AppendUint32(block, rest+uint32(len(after)))
				after = append(after, e.data...)
			}
		}
		block = append(append(block, 0, 0, 0, 0), after...)
	}
	var exif, place []entry
	if !taken.IsZero() {
		exif = append(exif, text(0x9003, taken.Format("2006:01:02 15:04:05")))
	}
	if latitude != 0 || longitude != 0 {
		side := func(x float64, sides string) string { return sides[int(math.Float64bits(x)>>63):][:1] }
		place = []entry{text(1, side(latitude, "NS")), angle(2, latitude), text(3, side(longitude, "EW")), angle(4, longitude)}
	}
	// The pointers to the other directories come first, so their places are known after the first directory.
	first := []entry{text(0x0110, model), {0x8769, 4, 1, make([]byte, 4)}, {0x8825, 4, 1, make([]byte, 4)}}
	directory(first)
	for i, entries := range [][]entry{exif, place} {
		binary.LittleEndian.PutUint32(block[8+2+12*(i+1)+8:], uint32(len(block)))
		directory(entries)
	}
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1}, byte((len(block)+8)>>8), byte(len(block)+8))
	out = append(append(out, "Exif\x00\x00"...), block...)
	return append(out, file[2:]...)
}
