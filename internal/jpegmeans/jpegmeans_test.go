package jpegmeans

import (
	"bytes"
	"fmt"
	"image"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed4492f2cd/partwise/internal/guard"
	"github.com/seed4492f2cd/partwise/internal/testkit"
)

// flat is a quantisation table of one step.
func flat(step byte) []byte { return bytes.Repeat([]byte{step}, blockSize) }

// files returns files of every supported kind.
func files() map[string][]byte {
	rng := rand.New(rand.NewPCG(1, 2))
	out := map[string][]byte{}
	for i, s := range [][3][2]int{
		{{1, 1}, {1, 1}, {1, 1}}, {{1, 2}, {1, 1}, {1, 1}}, {{2, 1}, {1, 1}, {1, 1}}, {{2, 2}, {1, 1}, {1, 1}},
		{{4, 1}, {1, 1}, {1, 1}}, {{4, 2}, {1, 1}, {1, 1}}, {{2, 2}, {2, 1}, {2, 1}}, {{2, 2}, {1, 2}, {1, 2}}, {{2, 1}, {2, 1}, {2, 1}},
	} {
		step := byte(1 + 5*i)
		w := written{width: 101 + i, height: 67 - i, sampling: s[:], marker: startOfFrame, quant: flat(step), scans: []writtenScan{sequentialScan(0, 1, 2)}}
		name := fmt.Sprint(s)
		out[name] = w.file(rng)
		w.interval = 2
		out[name+" restarts"] = w.file(rng)
		w.interval, w.marker = 0, startOfExtended
		w.scans = []writtenScan{sequentialScan(1), sequentialScan(0), sequentialScan(2)}
		if s[1] == [2]int{1, 1} {
			out[name+" in three scans"] = w.file(rng)
			w.marker, w.scans = startOfProgressive, progressiveScans(3)
			out[name+" progressive"] = w.file(rng)
		}
		w.marker, w.quant = startOfProgressive, flat(30)
		w.scans = []writtenScan{{[]int{0, 1, 2}, band{0, 0, 0, 0}}}
		out[name+" without high frequencies"] = w.file(rng)
	}
	large := written{width: 60, height: 64, sampling: [][2]int{{4, 2}, {2, 1}, {2, 1}}, marker: startOfProgressive, quant: flat(4)}
	large.scans = progressiveScans(3)
	for i, s := range large.scans { // 12 blocks are too many for one unit
		if len(s.components) == 3 {
			large.scans[i].components = []int{0}
		}
	}
	out["two of eight"] = large.file(rng)
	for marker, scans := range map[byte][]writtenScan{startOfFrame: {sequentialScan(0)}, startOfExtended: {sequentialScan(0)}, startOfProgressive: progressiveScans(1)} {
		grey := written{width: 83, height: 50, sampling: [][2]int{{2, 2}}, marker: marker, quant: flat(3), scans: scans, interval: 4}
		out[fmt.Sprintf("grey %#x", marker)] = grey.file(rng)
	}
	rgb := written{width: 40, height: 41, sampling: [][2]int{{1, 1}, {1, 1}, {1, 1}}, names: "RGB", marker: startOfFrame, quant: flat(7), scans: []writtenScan{sequentialScan(0, 1, 2)}}
	out["RGB by name"] = rgb.file(rng)
	rgb.names, rgb.segments = "", segment(application14, []byte("Adobe\x00\x64\x00\x00\x00\x00\x00")...)
	out["RGB of Adobe"] = rgb.file(rng)
	rgb.segments = append(segment(application0, []byte("JFIF\x00\x01\x02\x00\x00\x01\x00\x01\x00\x00")...), rgb.segments...)
	out["JFIF of Adobe"] = rgb.file(rng)
	picture := written{width: 75, height: 61, sampling: [][2]int{{2, 2}, {1, 1}, {1, 1}}, marker: startOfProgressive, quant: flat(12), scans: progressiveScans(3)}
	picture.sample = func(component, x, y int) float64 {
		return 128 + 140*math.Sin(float64(x+component)/5)*math.Cos(float64(y)/3)
	}
	out["waves"] = picture.file(rng)
	one := written{width: 1, height: 1, sampling: [][2]int{{2, 2}, {1, 1}, {1, 1}}, marker: startOfFrame, quant: flat(2), scans: []writtenScan{sequentialScan(0, 1, 2)}}
	out["one pixel"] = one.file(rng)
	return out
}

// fixtures are files of another encoder, libjpeg-turbo.
func fixtures(t testing.TB) map[string][]byte {
	out := map[string][]byte{}
	names, err := filepath.Glob("testdata/*.jpg")
	if err != nil || len(names) < 5 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = content
	}
	return out
}

// meansOf returns the means of blocks of times×times of the pixels of image/jpeg, plane by plane, without
// optimisations. It returns nil if a sample of colour covers more pixels across or down.
func meansOf(img image.Image, times int) [][]uint8 {
	size := img.Bounds().Size()
	plane := func(width, height, across, down int, at func(x, y int) uint8) (out []uint8) {
		for y := 0; y < height; y += down {
			for x := 0; x < width; x += across {
				sum, n := 0.0, 0.0
				for v := y; v < min(y+down, height); v++ {
					for u := x; u < min(x+across, width); u++ {
						sum += float64(at(u, v))
						n++
					}
				}
				out = append(out, uint8(math.Floor(sum/n+0.5)))
			}
		}
		return out
	}
	switch m := img.(type) {
	case *image.Gray:
		return [][]uint8{plane(size.X, size.Y, times, times, func(x, y int) uint8 { return m.GrayAt(x, y).Y })}
	case *image.RGBA:
		var out [][]uint8
		for c := range 3 {
			out = append(out, plane(size.X, size.Y, times, times, func(x, y int) uint8 { return m.Pix[m.PixOffset(x, y)+c] }))
		}
		return out
	case *image.YCbCr:
		across, down := 1, 1
		for across < 4 && m.COffset(across, 0) == m.COffset(0, 0) {
			across++
		}
		for down < 2 && m.COffset(0, down) == m.COffset(0, 0) {
			down++
		}
		if across > times || down > times {
			return nil
		}
		width, height := (size.X+across-1)/across, (size.Y+down-1)/down
		return [][]uint8{
			plane(size.X, size.Y, times, times, func(x, y int) uint8 { return m.Y[m.YOffset(x, y)] }),
			plane(width, height, times/across, times/down, func(x, y int) uint8 { return m.Cb[y*m.CStride+x] }),
			plane(width, height, times/across, times/down, func(x, y int) uint8 { return m.Cr[y*m.CStride+x] }),
		}
	}
	return nil
}

// planes returns the pixels of a decoded image, plane by plane.
func planes(img image.Image) [][]uint8 {
	switch m := img.(type) {
	case *image.Gray:
		return [][]uint8{m.Pix}
	case *image.YCbCr:
		return [][]uint8{m.Y, m.Cb, m.Cr}
	case *image.RGBA:
		var out [3][]uint8
		for i, v := range m.Pix {
			if i%4 < 3 {
				out[i%4] = append(out[i%4], v)
			}
		}
		return out[:]
	}
	return nil
}

// check fails the test if Decode and image/jpeg disagree on whether the file is valid, or if means differ by more than
// one level. It returns the number of compared means.
func check(t testing.TB, content []byte) (compared int) {
	t.Helper()
	whole, wholeErr := jpeg.Decode(bytes.NewReader(content))
	f := Parse(content)
	for _, times := range []int{2, 4, 8} {
		if !f.Serves(times) {
			continue
		}
		d := &decoder{reader: reader{content: content}, times: times}
		got, err := d.tryDecode()
		if (err == nil) != (wholeErr == nil) {
			t.Errorf("1/%d: got error %v, want %v as from image/jpeg", times, err, wholeErr)
		}
		if err != nil || wholeErr != nil {
			continue
		}
		size, wantSize := got.Bounds().Size(), whole.Bounds().Size()
		if size.X != (wantSize.X+times-1)/times || size.Y != (wantSize.Y+times-1)/times || f.Width != wantSize.X || f.Height != wantSize.Y {
			t.Errorf("1/%d: %v of %v, and the header says %d×%d", times, size, wantSize, f.Width, f.Height)
			continue
		}
		// The squares of the coefficients have the same sum as the squares of the 64 pixels, at most 64·128², so the
		// magnitudes sum to at most 8·8·128. Quantisation adds at most half a step each.
		if d.most > 8192 {
			continue // the coefficients are impossible, and image/jpeg's sums overflow
		}
		want := meansOf(whole, times)
		for p, plane := range planes(got) {
			for i, v := range plane {
				if d := int(v) - int(want[p][i]); d < -1 || d > 1 {
					t.Errorf("1/%d: %d at %d, %d of plane %d, want %d", times, v, i%size.X, i/size.X, p, want[p][i])
					return compared
				}
			}
			compared += len(plane)
		}
	}
	return compared
}

// TestDecode compares with the means of the pixels that image/jpeg decodes, in files of every kind.
func TestDecode(t *testing.T) {
	all := fixtures(t)
	for name, content := range files() {
		all[name] = content
	}
	for name, content := range all {
		t.Run(name, func(t *testing.T) {
			compared := check(t, content)
			_, err := jpeg.Decode(bytes.NewReader(content))
			if err != nil || (compared > 0) != Parse(content).Serves(8) {
				t.Errorf("%d means compared; image/jpeg: %v", compared, err)
			}
		})
	}
}

// TestMeans compares the means of a block with the inverse transform, up to rounding.
func TestMeans(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var b block
		b.set(0, int64(rng.IntN(1000)-500))
		for k := range blockSize - 1 {
			if rng.IntN(3) > 0 {
				b.set(uint8(k+1), int64(rng.NormFloat64()*20))
			}
		}
		var pixels [8][8]float64
		for y := range 8 {
			for x := range 8 {
				for v := range 8 {
					for u := range 8 {
						c := float64(b.values[8*v+u]) / 4
						if u == 0 {
							c /= math.Sqrt2
						}
						if v == 0 {
							c /= math.Sqrt2
						}
						pixels[y][x] += c * math.Cos(float64((2*x+1)*u)*math.Pi/16) * math.Cos(float64((2*y+1)*v)*math.Pi/16)
					}
				}
			}
		}
		for _, down := range []int{1, 2, 4, 8} {
			for _, across := range []int{1, 2, 4, 8} {
				var out [blockSize]uint8
				b.means(out[:], 8, &averages[across], &averages[down])
				for y := range 8 / down {
					for x := range 8 / across {
						want := 128.0
						for v := range down {
							for u := range across {
								want += pixels[y*down+v][x*across+u] / float64(down*across)
							}
						}
						if want = min(max(want, 0), 255); math.Abs(float64(out[8*y+x])-want) > 0.501 {
							t.Fatalf("mean of %d×%d at %d, %d: %d, want %v", across, down, x, y, out[8*y+x], want)
						}
					}
				}
			}
		}
		if least, most := -128.0, 127.0; b.inRange() {
			for _, row := range pixels {
				if slices.Min(row[:]) < least || slices.Max(row[:]) > most {
					t.Fatalf("pixels of %v to %v of a block within the range", slices.Min(row[:]), slices.Max(row[:]))
				}
			}
		}
	}
}

// Means of clipped pixels are computed after clipping.
func TestClipped(t *testing.T) {
	img := image.NewGray(image.Rect(0, 0, 64, 64))
	for i := range img.Pix {
		img.Pix[i] = uint8(255 * (i * i / 7 & 1))
	}
	var file bytes.Buffer
	if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 5}); err != nil {
		t.Fatal(err)
	}
	whole, err := jpeg.Decode(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	extreme := 0
	for _, v := range whole.(*image.Gray).Pix {
		if v == 0 || v == 255 {
			extreme++
		}
	}
	if extreme < 500 {
		t.Fatalf("only %d pixels are black or white", extreme)
	}
	check(t, file.Bytes())
}

// A truncated file, or one with a changed byte, is rejected if image/jpeg rejects it, and otherwise decoded equally.
func TestSpoilt(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	kinds := files()
	accepted := 0
	for _, name := range slices.Sorted(func(yield func(string) bool) {
		for name := range kinds {
			if !yield(name) {
				return
			}
		}
	}) {
		content := kinds[name]
		for range 12 {
			cut := content[:rng.IntN(len(content))]
			if _, err := Parse(cut).Decode(8); Parse(cut).Serves(8) && err == nil {
				t.Errorf("%s: decoded %d of %d bytes", name, len(cut), len(content))
			}
			check(t, cut)
			other := slices.Clone(content)
			other[rng.IntN(len(other))] ^= 1 << rng.IntN(8)
			if check(t, other) > 0 {
				accepted++
			}
		}
	}
	if accepted < 20 {
		t.Errorf("only %d spoilt files were decoded", accepted)
	}
}

// Fill bytes, bytes between segments, restarts after a scan, and bytes lost before a restart are skipped. A scan that
// ends early and a missing end are errors.
func TestLiberal(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	plain := written{width: 64, height: 48, sampling: [][2]int{{2, 2}, {1, 1}, {1, 1}}, marker: startOfFrame, interval: 2, quant: flat(5), scans: []writtenScan{sequentialScan(0, 1, 2)}}.file(rng)
	insert := func(before []byte, text string) []byte {
		at := bytes.Index(plain, before)
		return slices.Concat(plain[:at], []byte(text), plain[at:])
	}
	scan := []byte{0xff, startOfScan}
	for name, test := range map[string]struct {
		content []byte
		ok      bool
	}{
		"plain":                    {plain, true},
		"fill bytes":               {insert(scan, "\xff\xff\xff"), true},
		"bytes between":            {insert(scan, "\x00stray\xff\x00bytes"), true},
		"a restart between":        {insert(scan, "\xff\xd3"), true},
		"a comment":                {insert(scan, "\xff\xfe\x00\x04ab"), true},
		"bytes before a restart":   {insert([]byte{0xff, restart0 + 1}, "\x12\x34\xff\x00\xff"), true},
		"bytes before the end":     {insert([]byte{0xff, endOfImage}, "\x12\x34\xff\x00\xff"), true},
		"bytes behind the end":     {append(slices.Clone(plain), "\xff\xd8\xff"...), true},
		"no end":                   {plain[:len(plain)-2], false},
		"half an end":              {plain[:len(plain)-1], false},
		"a restart that is wrong":  {insert([]byte{0xff, restart0 + 1}, "\xff\xd5"), false},
		"a marker of a later kind": {insert(scan, "\xff\xc8\x00\x02"), false},
		"a number of lines":        {insert(scan, "\xff\xdc\x00\x04\x00\x10"), false},
		"0 behind fill bytes":      {insert(scan, "\xff\xff\x00"), false},
		"a second frame":           {insert(scan, string(plain[bytes.Index(plain, []byte{0xff, startOfFrame}):][:19])), false},
		"a segment of one byte":    {insert(scan, "\xff\xfe\x00\x01"), false},
	} {
		check(t, test.content)
		f := Parse(test.content)
		if _, err := f.Decode(4); (err == nil) != test.ok {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if _, err := Parse(plain[:len(plain)-2]).Decode(8); err == nil || !strings.Contains(err.Error(), "end") {
		t.Errorf("no end: error %v", err)
	}
}

// Unsupported files are reported before any data is decoded.
func TestServes(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	w := written{width: 40, height: 40, sampling: [][2]int{{1, 1}, {1, 1}, {1, 1}}, marker: startOfFrame, quant: flat(5), scans: []writtenScan{sequentialScan(0, 1, 2)}}
	of := func(change func(w *written)) []byte {
		other := w
		change(&other)
		return other.file(rng)
	}
	overfull := segment(huffmanTables, append([]byte{0, 3}, make([]byte, 18)...)...)
	for name, test := range map[string]struct {
		content []byte
		times   []int
	}{
		"4:4:4":        {of(func(w *written) {}), []int{2, 4, 8}},
		"4:1:1":        {of(func(w *written) { w.sampling = [][2]int{{4, 1}, {1, 1}, {1, 1}} }), []int{4, 8}},
		"progressive":  {of(func(w *written) { w.marker, w.scans = startOfProgressive, progressiveScans(3) }), nil},
		"RGB of 4:2:0": {of(func(w *written) { w.sampling, w.names = [][2]int{{2, 2}, {1, 1}, {1, 1}}, "RGB" }), nil},
		"CMYK": {of(func(w *written) {
			w.sampling, w.scans = append(w.sampling, [2]int{1, 1}), []writtenScan{sequentialScan(0, 1, 2, 3)}
		}), nil},
		"two components": {of(func(w *written) { w.sampling, w.scans = w.sampling[:2], []writtenScan{sequentialScan(0, 1)} }), nil},
		"factor of 3":    {of(func(w *written) { w.sampling = [][2]int{{3, 1}, {1, 1}, {1, 1}} }), nil},
		"lossless":       {of(func(w *written) { w.marker = 0xc3 }), nil},
		"too many codes": {of(func(w *written) { w.segments = overfull }), nil},
		"no pixels":      {of(func(w *written) { w.height = 0 }), nil},
		"nothing":        {nil, nil},
	} {
		f := Parse(test.content)
		for times := range 20 {
			want := slices.Contains(test.times, times)
			if f.Serves(times) != want {
				t.Errorf("%s: serves 1/%d: %v", name, times, !want)
			}
			if _, err := f.Decode(times); (err == nil) != want {
				t.Errorf("%s: 1/%d: error %v", name, times, err)
			}
		}
	}
}

// Decoding takes the stated memory, a small fraction of the memory for the whole image.
func TestMemory(t *testing.T) {
	if testkit.Race {
		t.Skip("the memory of the race detector counts too")
	}
	rng := rand.New(rand.NewPCG(11, 12))
	w := written{width: 1200, height: 900, sampling: [][2]int{{2, 2}, {1, 1}, {1, 1}}, quant: flat(60)}
	for _, marker := range []byte{startOfFrame, startOfExtended} {
		w.marker, w.scans = marker, []writtenScan{sequentialScan(0, 1, 2)}
		content := w.file(rng)
		whole := testkit.Allocated(func() { jpeg.Decode(bytes.NewReader(content)) })
		for _, times := range []int{2, 4, 8} {
			f := Parse(content)
			used := testkit.Allocated(func() {
				if _, err := f.Decode(times); err != nil {
					t.Error(err)
				}
			})
			const beside = 1 << 20 // tables, and errors of the measurement
			want := uint64(f.Memory(times))
			if used > want+beside || want > 2*beside && used < want/2 {
				t.Errorf("%#x, 1/%d: %d bytes, want about %d", marker, times, used, want)
			}
			if want > whole*2/3 {
				t.Errorf("%#x, 1/%d: %d bytes, and %d for the whole image", marker, times, want, whole)
			}
		}
	}
}

// Many segments of many tables take no memory.
func TestManyTables(t *testing.T) {
	one := append([]byte{0, 1}, make([]byte, 16)...)
	content := append([]byte{0xff, startOfImage}, bytes.Repeat(segment(huffmanTables, bytes.Repeat(one, 50)...), 200)...)
	if n := testing.AllocsPerRun(5, func() { Parse(content) }); n > 5 {
		t.Errorf("%v allocations for %d tables", n, 200*50)
	}
}

func FuzzDecode(f *testing.F) {
	for _, content := range files() {
		if len(content) < 6000 {
			f.Add(content)
		}
	}
	for _, content := range fixtures(f) {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		passed := 2
		r := reader{content, min(2, len(content))}
		_ = guard.Try(func() {
			for marker, data := r.nextSegment(); marker != endOfImage; marker, data = r.nextSegment() {
				if marker == 0 || marker == 0xff {
					t.Errorf("a segment %#x of %d bytes", marker, len(data))
				}
				passed += 4 + len(data)
			}
		})
		if passed > len(content) && passed > 2 {
			t.Errorf("%d bytes passed of %d", passed, len(content))
		}
		file := Parse(content)
		if len(content) > 1<<16 || file.Width*file.Height > 1<<14 || file.Scans > 64 {
			return // right, and slow
		}
		check(t, content)
		if mended, rows := Parse(content[:len(content)*3/4]).Mend(); rows > 0 {
			if again := Parse(mended); again.Height != rows || rows > file.Height {
				t.Errorf("%d rows of %d, and %d in the header", rows, file.Height, again.Height)
			}
			check(t, mended)
		}
	})
}
