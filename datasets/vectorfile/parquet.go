package vectorfile

import (
	"encoding/binary"
	"io"
	"iter"
	"math"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/lists"
	"github.com/seed4492f2cd/partwise/internal/number"
)

// readParquet reads a Parquet file.
func readParquet(in *input) *Content {
	var end [8]byte // the length of the metadata before it, and PAR1
	_, err := in.ReadAt(end[:], in.size-int64(len(end)))
	failIf(err != nil || !isParquet(end[4:]), "the Parquet file is incomplete")
	length := int64(binary.LittleEndian.Uint32(end[:]))
	failIf(length > in.size-12, "the Parquet file is damaged: wrong length of the metadata")
	in.reserve(16*length, "the metadata")
	f, err := parquet.OpenFile(in, in.size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	failIf(err != nil, "not a readable Parquet file: %w", err)
	return in.table(int(f.NumRows()), lists.Map(f.Root().Columns(), in.parquetColumn))
}

func (in *input) parquetColumn(c *parquet.Column) column {
	out := column{name: c.Name()}
	for !c.Leaf() && len(c.Columns()) == 1 { // a list
		c = c.Columns()[0]
	}
	switch {
	case !c.Leaf():
		out.wrong = "a column of records; expected numbers"
		return out
	case c.Compression().CompressionCodec() == format.Lz4Raw: // damaged values make the library take all memory
		out.wrong = "compressed by LZ4; write the file with snappy, zstd or no compression"
	}
	out.kind, out.isText = c.Type().String(), c.Type().Kind() == parquet.ByteArray
	if number := numberOf(c.Type()); number != nil {
		out.numbers = parquetValues(in, c, math.NaN(), number)
	}
	out.words = parquetValues(in, c, "", parquet.Value.String)
	return out
}

var isParquet = startsWith("PAR1")

// parquetValues returns the values of a column.
func parquetValues[T any](in *input, c *parquet.Column, null T, value func(parquet.Value) T) iter.Seq2[T, bool] {
	return func(yield func(T, bool) bool) {
		pages := c.Pages()
		defer pages.Close()
		buffer := make([]parquet.Value, 1024)
		for {
			page, err := pages.ReadPage()
			if err == io.EOF {
				return
			}
			guard.Check(err)
			for values, k := page.Values(), 0; err == nil; {
				k, err = values.ReadValues(buffer)
				for _, v := range buffer[:k] {
					x := null
					if !v.IsNull() {
						x = value(v)
					}
					if !yield(x, v.RepetitionLevel() == 0) {
						return
					}
				}
				guard.Check(in.ctx.Err())
			}
			parquet.Release(page)
			failIf(err != io.EOF, "%w", err)
		}
	}
}

// numberOf returns a function for the numbers of a type, or nil if its values are not numbers.
func numberOf(t parquet.Type) func(parquet.Value) float64 {
	scale, isUnsigned := 1., false
	if logical := t.LogicalType(); logical != nil {
		switch kind := logical.Value.(type) {
		case *format.IntType:
			isUnsigned = !kind.IsSigned
		case *format.DecimalType:
			scale = math.Pow10(int(kind.Scale))
		default:
			return nil // such as a date
		}
	}
	switch kind := t.Kind(); {
	case kind == parquet.FixedLenByteArray && t.LogicalType() != nil: // a decimal
		return func(v parquet.Value) float64 {
			return decimal(v.ByteArray()) / scale
		}
	case kind == parquet.FixedLenByteArray && t.Length() == 2: // the library drops the logical type of half-precision numbers
		return func(v parquet.Value) float64 { return number.Half(binary.LittleEndian.Uint16(v.ByteArray())) }
	case kind == parquet.Boolean:
		return func(v parquet.Value) float64 { return map[bool]float64{true: 1}[v.Boolean()] }
	case kind == parquet.Int32 && isUnsigned:
		return func(v parquet.Value) float64 { return float64(v.Uint32()) }
	case kind == parquet.Int32:
		return func(v parquet.Value) float64 { return float64(v.Int32()) / scale }
	case kind == parquet.Int64 && isUnsigned:
		return func(v parquet.Value) float64 { return float64(v.Uint64()) }
	case kind == parquet.Int64:
		return func(v parquet.Value) float64 { return float64(v.Int64()) / scale }
	case kind == parquet.Float:
		return func(v parquet.Value) float64 { return float64(v.Float()) }
	case kind == parquet.Double:
		return parquet.Value.Double
	}
	return nil
}

// decimal returns a whole number in two's complement, big-endian.
func decimal(raw []byte) (x float64) {
	for i, b := range raw {
		if x = 256*x + float64(b); i == 0 {
			x = float64(int8(b))
		}
	}
	return x
}
