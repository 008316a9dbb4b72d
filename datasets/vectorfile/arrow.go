package vectorfile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// arrowReader reads Arrow's IPC format ("Arrow Columnar Format" 1.5) as a stream of messages. The library arrow-go
// allocates what damaged metadata claim, such as 64 GB for one wrong bit. Here, Go's checks of indices find damage.
type arrowReader struct {
	in           *input
	r            io.Reader
	left         int64 // the most bytes that follow
	order        binary.ByteOrder
	fields       []*arrowField
	rows         int
	values       map[int]*arrowField // of dictionaries
	dictionaries map[int]*arrowArray

	// The unread arrays of a batch.
	nodes, buffers, variadic, body []byte
	codec                          int // 0 is LZ4, 1 Zstandard, −1 none
}

// arrowField is the type of a column, or of the items of a list.
type arrowField struct {
	name, kind  string
	number      number.Kind // of the numbers, or of the offsets of lists and texts
	size, scale int         // the size of lists or decimals
	item        *arrowField
	index       number.Kind // of indices into a dictionary, or None
	dictionary  int
	arrays      []*arrowArray
}

// arrowArray has some values of a column. A list, and an index into a dictionary, is a span of items.
type arrowArray struct {
	n      int
	valid  []byte // a bit for each value, or nil if none is null
	number func(i int) float64
	word   func(i int) string
	span   func(i int) (from, to int)
	items  *arrowArray
}

var isArrowFile, isArrowStream = startsWith("ARROW1\x00\x00"), startsWith("\xff\xff\xff\xff")

func isArrow(head []byte) bool { return isArrowFile(head) || isArrowStream(head) }

// readArrow reads an Arrow stream, or an Arrow file (Feather 2), whose footer has the schema and the places of messages.
func readArrow(in *input) *Content {
	r, most, packed := in.unpacked()
	a := &arrowReader{in: in, r: r, left: most, values: map[int]*arrowField{}, dictionaries: map[int]*arrowArray{}}
	if head, _ := r.Peek(8); isArrowFile(head) {
		failIf(packed, "a gzipped Arrow file; unpack it")
		a.file()
	} else {
		for a.message() {
		}
	}
	return in.table(a.rows, lists.Map(a.fields, (*arrowField).column))
}

// file reads a file by its footer.
func (a *arrowReader) file() {
	const end = 10 // the length of the footer before it, and ARROW1
	a.seek(a.in.size - end)
	tail := a.read(end)
	failIf(string(tail[4:]) != "ARROW1", "the Arrow file is incomplete")
	size := int64(binary.LittleEndian.Uint32(tail))
	a.seek(a.in.size - end - size)
	footer := rootTable(a.read(size))
	a.schema(footer.table(1))
	for field := range 2 {
		for block := range slices.Chunk(footer.vector(2+field, 24), 24) {
			a.seek(int64(binary.LittleEndian.Uint64(block)))
			a.message()
		}
	}
}

// seek continues at a place of the file.
func (a *arrowReader) seek(at int64) {
	failIf(at < 0 || at > a.in.size, "the Arrow file is damaged: byte %d of %d", at, a.in.size)
	a.r, a.left = a.in.section(at, a.in.size-at), a.in.size-at
}

// read returns the next n bytes.
func (a *arrowReader) read(n int64) []byte {
	failIf(n < 0 || n > a.left, "the Arrow file is incomplete: %w", truncatedError(n, a.left))
	a.in.reserve(n, "a part of the file")
	a.left -= n
	data, err := number.ReadBytes(a.r, n, min(n, a.in.size))
	guard.Check(guard.Wrap(err, "the Arrow file is incomplete"))
	return data
}

// message reads the next message, and returns false for the mark of the end.
func (a *arrowReader) message() bool {
	failIf(a.left < 8, "the Arrow stream has no mark of its end; the program that writes it must close its writer")
	prefix := a.read(8)
	failIf(!isArrowStream(prefix), "the Arrow file is damaged, or of a version before 0.15")
	size := int32(binary.LittleEndian.Uint32(prefix[4:]))
	if size == 0 {
		return false
	}
	head := a.read(int64(size))
	m := rootTable(head)
	a.body = a.read(int64(m.number(3, number.Int64)))
	kind, content := m.number(1, number.Uint8), m.table(2)
	failIf((kind == 1) != (a.fields == nil), "the Arrow file is damaged: its schema is not the first message")
	switch kind {
	case 1:
		a.schema(content)
	case 2:
		id := content.number(0, number.Int64)
		failIf(content.number(2, number.Uint8) != 0, "changes of dictionaries are not supported")
		a.batch(content.table(1))
		a.dictionaries[id] = a.load(a.values[id], false)
	case 3:
		a.batch(content)
		rows := content.number(0, number.Int64)
		for _, f := range a.fields {
			x := a.load(f, true)
			failIf(x.n != rows, "column %q: %d rows, expected %d", f.name, x.n, rows)
			f.arrays = append(f.arrays, x)
		}
		a.rows += rows
	default:
		guard.Fail("Arrow messages of type %d are not supported", kind)
	}
	return true
}

func (a *arrowReader) schema(t flatTable) {
	a.order = binary.LittleEndian
	if t.number(0, number.Int16) == 1 {
		a.order = binary.BigEndian
	}
	a.fields = a.readFields(t, 1, 0)
}

var arrowTypes = strings.Fields("none null int float binary utf8 bool decimal date time timestamp interval list struct union fixedsizebinary " +
	"fixedsizelist map duration largebinary largeutf8 largelist runendencoded binaryview utf8view listview largelistview")

// readFields reads the tables Field in a field of t, inside depth lists.
func (a *arrowReader) readFields(t flatTable, field, depth int) (out []*arrowField) {
	failIf(depth > 8, "lists inside %d lists", depth)
	for _, of := range t.tables(field) {
		f := &arrowField{name: string(of.vector(0, 1)), kind: arrowTypes[of.number(2, number.Uint8)], number: number.Int32}
		a.in.reserve(int64(512+len(f.name)), "the names of columns")
		if strings.HasPrefix(f.kind, "large") {
			f.number = number.Int64
		}
		switch t := of.table(3); f.kind {
		case "int":
			f.number = integer(t)
		case "float":
			f.number = []number.Kind{number.Float16, number.Float32, number.Float64}[t.number(0, number.Int16)]
		case "decimal":
			f.scale, f.size = t.number(1, number.Int32), cmp.Or(t.number(2, number.Int32), 128)/8
		case "list", "largelist", "fixedsizelist":
			f.size = t.number(0, number.Int32)
			f.item = a.readFields(of, 5, depth+1)[0]
		case "null", "bool", "binary", "utf8", "largebinary", "largeutf8", "binaryview", "utf8view":
		default:
			guard.Fail("column %q: values of type %s; expected numbers or text (remove the column)", f.name, f.kind)
		}
		if of.has(4) {
			encoding := of.table(4)
			if f.dictionary, f.index = encoding.number(0, number.Int64), number.Int32; encoding.has(1) {
				f.index = integer(encoding.table(1))
			}
			a.values[f.dictionary] = f
		}
		out = append(out, f)
	}
	return out
}

// integer returns the kind of a table Int.
func integer(t flatTable) number.Kind {
	kinds, signed := []number.Kind{number.Uint8, number.Uint16, number.Uint32, number.Uint64}, t.number(1, number.Uint8)&1
	return kinds[slices.Index([]int{8, 16, 32, 64}, t.number(0, number.Int32))] + number.Kind(signed)
}

// batch begins to read the arrays of a table RecordBatch.
func (a *arrowReader) batch(t flatTable) {
	a.nodes, a.buffers, a.variadic, a.codec = t.vector(1, 16), t.vector(2, 16), t.vector(4, 8), -1
	if t.has(3) {
		a.codec = t.table(3).number(0, number.Int8)
	}
}

// next removes the first 8 bytes of a list of integers, and returns their value.
func next(list *[]byte) int {
	value := binary.LittleEndian.Uint64(*list)
	*list = (*list)[8:]
	return int(value)
}

// load reads the next array, of values or of indices into a dictionary.
func (a *arrowReader) load(f *arrowField, useDictionary bool) *arrowArray {
	a.in.reserve(512, "the arrays of columns")
	x := &arrowArray{n: next(&a.nodes), number: func(int) float64 { return math.NaN() }}
	x.word = func(i int) string { return strconv.FormatFloat(x.number(i), 'f', -1, 64) }
	failIf(x.n < 0 || x.n > number.MaxBytes, "the Arrow file is damaged: %d values", x.n)
	nulls := next(&a.nodes)
	if f.kind == "null" && f.index == number.None {
		return x
	}
	if x.valid = a.buffer(); nulls == 0 {
		x.valid = nil
	}
	if f.index != number.None && useDictionary {
		index := f.index.In(a.buffer(), a.order)
		x.span = func(i int) (from, to int) { return int(index(i)), int(index(i)) + 1 }
		x.items = a.dictionaries[f.dictionary]
		failIf(x.items == nil, "column %q: its dictionary %d is missing", f.name, f.dictionary)
		return x
	}
	if f.kind == "fixedsizelist" {
		x.span = func(i int) (from, to int) { return i * f.size, (i + 1) * f.size }
		x.items = a.load(f.item, true)
		return x
	}
	raw := a.buffer()
	switch f.kind {
	case "bool":
		x.number = func(i int) float64 { return float64(raw[i/8] >> (i % 8) & 1) }
		x.word = func(i int) string { return strconv.FormatBool(x.number(i) == 1) }
	case "decimal":
		x.number = func(i int) float64 {
			digits := slices.Clone(raw[i*f.size : (i+1)*f.size])
			if a.order == binary.ByteOrder(binary.LittleEndian) {
				slices.Reverse(digits)
			}
			return decimal(digits) / math.Pow10(f.scale)
		}
	case "list", "largelist":
		start := f.number.In(raw, a.order)
		x.span = func(i int) (from, to int) { return int(start(i)), int(start(i + 1)) }
		x.items = a.load(f.item, true)
	case "binary", "utf8", "largebinary", "largeutf8":
		start, text := f.number.In(raw, a.order), a.buffer()
		x.word = func(i int) string { return string(text[int(start(i)):int(start(i+1))]) }
	case "binaryview", "utf8view": // a length, and up to 12 bytes, or a prefix, a buffer and a place in it
		var buffers [][]byte
		for range next(&a.variadic) {
			buffers = append(buffers, a.buffer())
		}
		part := number.Int32.In(raw, a.order)
		x.word = func(i int) string {
			n, from := int(part(4*i)), 16*i+4
			if n > 12 {
				raw, from := buffers[int(part(4*i+2))], int(part(4*i+3))
				return string(raw[from : from+n])
			}
			return string(raw[from : from+n])
		}
	default:
		x.number = f.number.In(raw, a.order)
	}
	return x
}

// buffer returns the next buffer, unpacked.
func (a *arrowReader) buffer() []byte {
	raw := a.body[next(&a.buffers):]
	raw = raw[:next(&a.buffers)]
	if a.codec < 0 || len(raw) == 0 {
		return raw
	}
	n := int64(next(&raw))
	if n == -1 { // not compressed
		return raw
	}
	a.in.reserve(n, "an unpacked column")
	if a.codec == 0 {
		return guard.Must(number.ReadBytes(lz4.NewReader(bytes.NewReader(raw)), n, 0))
	}
	z := guard.Must(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(n, 1<<10)))))
	defer z.Close()
	out := guard.Must(z.DecodeAll(raw, nil))
	failIf(int64(len(out)) != n, "%w", truncatedError(n, int64(len(out))))
	return out
}

func (f *arrowField) isText() bool {
	return strings.Contains(f.kind, "utf8") || strings.Contains(f.kind, "binary")
}

func (f *arrowField) column() column {
	c := column{name: f.name, isText: f.isText()}
	c.words = arrowValues(f.arrays, "", func(x *arrowArray, i int) string { return x.word(i) })
	leaf := f
	for leaf.item != nil {
		leaf = leaf.item
	}
	if c.kind = leaf.kind; !leaf.isText() {
		c.numbers = arrowValues(f.arrays, math.NaN(), func(x *arrowArray, i int) float64 { return x.number(i) })
	}
	return c
}

// arrowValues returns the values of a column. value returns one that is not null.
func arrowValues[T any](arrays []*arrowArray, null T, value func(x *arrowArray, i int) T) iter.Seq2[T, bool] {
	return func(yield func(T, bool) bool) {
		var each func(x *arrowArray, i int, first bool)
		each = func(x *arrowArray, i int, first bool) {
			if i >= x.n {
				guard.Fail("the Arrow file is damaged: value %d of %d", i+1, x.n)
			}
			from, to := 0, 0
			isValid := x.valid == nil || x.valid[i/8]>>(i%8)&1 == 1
			if isValid && x.span != nil {
				from, to = x.span(i)
			}
			for j := from; j < to; j++ {
				each(x.items, j, first && j == from)
			}
			switch {
			case isValid && x.span == nil:
				yield(value(x, i), first)
			case from >= to: // a null or an empty list
				yield(null, first)
			}
		}
		for _, x := range arrays {
			for i := range x.n {
				each(x, i, true)
			}
		}
	}
}

// flatTable is a table of a FlatBuffer, at a place in its data.
type flatTable struct {
	data []byte
	at   int
}

func rootTable(data []byte) flatTable { return flatTable{data, 0}.follow(0) }

// field returns the place of a field, or 0 if it has its default value.
func (t flatTable) field(i int) int {
	offsets := t.data[t.at-int(number.Int32.In(t.data[t.at:], binary.LittleEndian)(0)):]
	if 4+2*i < int(binary.LittleEndian.Uint16(offsets)) {
		if offset := int(binary.LittleEndian.Uint16(offsets[4+2*i:])); offset > 0 {
			return t.at + offset
		}
	}
	return 0
}

func (t flatTable) has(field int) bool { return t.field(field) > 0 }

// number returns the whole number in a field.
func (t flatTable) number(field int, kind number.Kind) int {
	if !t.has(field) {
		return 0
	}
	return int(kind.In(t.data[t.field(field):], binary.LittleEndian)(0))
}

// table returns the table to which the offset in a field, which must be there, leads.
func (t flatTable) table(field int) flatTable {
	failIf(!t.has(field), "the Arrow file is damaged: field %d is missing", field)
	return t.follow(t.field(field))
}

func (t flatTable) follow(at int) flatTable {
	return flatTable{t.data, at + int(binary.LittleEndian.Uint32(t.data[at:]))}
}

// vector returns the bytes of the items in a field, each of some bytes.
func (t flatTable) vector(field, size int) []byte {
	if !t.has(field) {
		return nil
	}
	items := t.data[t.table(field).at:]
	return items[4:][:size*int(binary.LittleEndian.Uint32(items))]
}

// tables returns the tables in a field.
func (t flatTable) tables(field int) (out []flatTable) {
	for i := range len(t.vector(field, 4)) / 4 {
		out = append(out, t.follow(t.table(field).at+4+4*i))
	}
	return out
}
