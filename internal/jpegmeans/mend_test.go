package jpegmeans

import (
	"bytes"
	"image/jpeg"
	"testing"
)

// TestMend checks that both decoders read a mended file: the first rows of a sequential file, which are more for
// longer files, and all rows of a progressive one.
func TestMend(t *testing.T) {
	all := fixtures(t)
	for name, content := range files() {
		all[name] = content
	}
	for name, content := range all {
		whole, err := jpeg.Decode(bytes.NewReader(content))
		if err != nil {
			t.Fatal(name, err)
		}
		f := Parse(content)
		if mended, rows := f.Mend(); rows != 0 || !bytes.Equal(mended, content) {
			t.Errorf("%s: got %d rows mended of a complete file, want 0", name, rows)
		}
		// A progressive file needs at least two scans, and all components in the scans before the last.
		mends := !f.unusual && (!f.Progressive || f.before == 1<<len(f.frame.components)-1)
		last := 0
		for part := 2; part <= 40; part++ {
			cut := Parse(content[:len(content)*part/40-2])
			mended, rows := cut.Mend()
			if rows < last || rows > f.Height || part == 40 && mends && rows == 0 {
				t.Errorf("%s: %d of 40 parts are %d of %d rows, and %d before", name, part, rows, f.Height, last)
			}
			if last = rows; rows == 0 {
				continue
			}
			got, err := jpeg.Decode(bytes.NewReader(mended))
			if err != nil || got.Bounds().Dy() != rows || got.Bounds().Dx() != f.Width || f.Progressive && rows != f.Height {
				t.Errorf("%s: %d of 40 parts: %v, %d rows, error %v", name, part, got, rows, err)
				continue
			}
			check(t, mended)
			for p, plane := range planes(got) {
				if !f.Progressive && !bytes.HasPrefix(planes(whole)[p], plane) {
					t.Errorf("%s: %d of 40 parts: plane %d differs", name, part, p)
				}
			}
			padded, again := Parse(append(bytes.Clone(cut.content), make([]byte, 100)...)).Mend()
			if again != rows || !bytes.Equal(padded, mended) {
				t.Errorf("%s: %d of 40 parts: %d rows with zeros behind it, and %d without", name, part, again, rows)
			}
		}
	}
}
