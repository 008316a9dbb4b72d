package heif

import (
	"encoding/binary"
	"io"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/number"
)

const mostMeta = 16 << 20 // bytes of the largest meta box

// Header is the description of the primary image in a file.
type Header struct {
	Width, Height int // upright
	turn          int // orientation as in EXIF, 1 to 8

	start, end int64 // of the metadata in the file
}

// ReadHeader reads boxes of a file up to the one of metadata (ISO/IEC 14496-12, 23008-12).
func ReadHeader(r io.Reader) (h Header, err error) {
	err = guard.Try(func() { h = readHeader(r) })
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return h, err
}

func readHeader(r io.Reader) Header {
	for at := int64(0); ; {
		var head [16]byte
		at += 8
		guard.Must(io.ReadFull(r, head[:8]))
		size := int64(binary.BigEndian.Uint32(head[:])) - 8
		if size == 1-8 {
			guard.Must(io.ReadFull(r, head[8:]))
			size = int64(binary.BigEndian.Uint64(head[8:])) - 16
			at += 8
		}
		switch isMeta := string(head[4:8]) == "meta"; {
		case size < 0:
			guard.Fail("it has no metadata of an image")
		case isMeta && size > mostMeta:
			guard.Fail("%d bytes of metadata, above the limit of %d", size, mostMeta)
		case isMeta:
			h := parseMeta(reader{data: guard.Must(number.ReadBytes(r, size, 0))})
			h.start, h.end = at, at+size
			return h
		}
		at += guard.Must(io.CopyN(io.Discard, r, size))
	}
}

// reader reads big-endian numbers. At the end of the data it returns 0 and sets short.
type reader struct {
	data  []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n > len(r.data) {
		r.data, r.short = nil, true
		return make([]byte, n)
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

// number reads a number of 1, 2 or 4 bytes.
func (r *reader) number(bytes int) int {
	n := 0
	for _, b := range r.take(bytes) {
		n = n<<8 | int(b)
	}
	return n
}

// box reads a box of up to 4 GB. ok is false at the end.
func (r *reader) box() (kind string, content reader, ok bool) {
	if len(r.data) < 8 {
		return "", content, false
	}
	size := r.number(4) - 8
	kind = string(r.take(4))
	if size < 0 || size > len(r.data) {
		r.short = true
		return "", content, false
	}
	return kind, reader{data: r.take(size)}, true
}

// parseMeta returns the header of the primary image from the content of a meta box.
func parseMeta(r reader) Header {
	h := Header{turn: 1}
	primary := -1
	var properties []reader
	var kinds []string
	var associations []reader
	r.take(4)
	for kind, content, ok := r.box(); ok; kind, content, ok = r.box() {
		switch kind {
		case "pitm":
			size := 2
			if content.number(4)>>24 > 0 {
				size = 4
			}
			primary = content.number(size)
		case "iprp":
			for kind, inner, ok := content.box(); ok; kind, inner, ok = content.box() {
				switch kind {
				case "ipco":
					for kind, property, ok := inner.box(); ok; kind, property, ok = inner.box() {
						kinds, properties = append(kinds, kind), append(properties, property)
					}
				case "ipma":
					associations = append(associations, inner)
				}
			}
		}
	}
	var of []int
	for _, a := range associations {
		of = append(of, a.propertiesOf(primary)...)
	}
	for _, i := range of {
		if i < 1 || i > len(properties) {
			continue
		}
		switch p := properties[i-1]; kinds[i-1] {
		case "ispe":
			p.take(4)
			h.Width, h.Height = p.number(4), p.number(4)
		case "irot": // anticlockwise
			h.turn = [...]int{1, 8, 3, 6}[p.number(1)&3]
		case "imir":
			mirrored := [...]map[int]int{{1: 4, 3: 2, 6: 7, 8: 5}, {1: 2, 3: 4, 6: 5, 8: 7}}[p.number(1)&1]
			if to, ok := mirrored[h.turn]; ok {
				h.turn = to
			}
		}
	}
	if h.Width == 0 || h.Height == 0 {
		guard.Fail("its metadata has no size of the image")
	}
	if h.turn >= 5 {
		h.Width, h.Height = h.Height, h.Width
	}
	return h
}

// propertiesOf returns the properties, from 1, of an item in an ipma box.
func (r *reader) propertiesOf(item int) (of []int) {
	form := r.number(4)
	idBytes, indexBytes := 2, 1
	if form>>24 > 0 {
		idBytes = 4
	}
	if form&1 != 0 {
		indexBytes = 2
	}
	for n := r.number(4); n > 0 && !r.short; n-- {
		id := r.number(idBytes)
		for m := r.number(1); m > 0; m-- {
			if index := r.number(indexBytes) &^ (0x80 << (8 * (indexBytes - 1))); id == item {
				of = append(of, index)
			}
		}
	}
	return of
}
