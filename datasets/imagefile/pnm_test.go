package imagefile

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecodePNM(t *testing.T) {
	grey := func(values ...uint16) []color.Color {
		var out []color.Color
		for _, v := range values {
			out = append(out, color.Gray16{Y: v})
		}
		return out
	}
	for _, test := range []struct {
		name, file string
		width      int
		want       []color.Color
	}{
		{"P5", "P5 2 2 255\n\x00\x01\x80\xff", 2, grey(0, 257, 0x8080, 0xffff)},
		{"P5 with comments", "P5#kind\n# one\n2 # width\n#two\r1\t255\n\x0a\x23", 2, grey(2570, 35*257)},
		{"P5 of 16 bits", "P5\n2 1\n65535\n\x12\x34\xff\xff", 2, grey(0x1234, 0xffff)},
		{"P5 of 10 bits", "P5\n3 1\n1023\n\x00\x00\x02\x00\x03\xff", 3, grey(0, 32800, 0xffff)},
		{"P5 of 15 greys", "P5 3 1 15 \x00\x01\x0f", 3, grey(0, 4369, 0xffff)},
		{"P5 with more behind", "P5 1 1 255\n\x07more", 1, grey(7 * 257)},
		{"P2", "P2\n# c\n3 1 4\n0 # black\n2\n4", 3, grey(0, 0x8000, 0xffff)},
		{"P6", "P6 1 2 255\n\x01\x02\x03\xff\x00\x80", 1, []color.Color{
			color.RGBA64{257, 514, 771, 0xffff}, color.RGBA64{0xffff, 0, 0x8080, 0xffff}}},
		{"P6 of 16 bits", "P6 1 1 65535\n\x12\x34\x56\x78\x9a\xbc", 1, []color.Color{color.RGBA64{0x1234, 0x5678, 0x9abc, 0xffff}}},
		{"P3", "P3 1 1 1 1 0 1 ", 1, []color.Color{color.RGBA64{0xffff, 0, 0xffff, 0xffff}}},
	} {
		img, err := DecodeBytes([]byte(test.file))
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		config, err := decodePNMConfig(strings.NewReader(test.file))
		if size := img.Bounds().Size(); err != nil || size != image.Pt(config.Width, config.Height) ||
			config.ColorModel != img.ColorModel() || size.X != test.width {
			t.Errorf("%s: size %v, header %v, %v", test.name, size, config, err)
		}
		var got []color.Color
		for y := range img.Bounds().Dy() {
			for x := range img.Bounds().Dx() {
				got = append(got, img.At(x, y))
			}
		}
		if d := cmp.Diff(test.want, got); d != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, d)
		}
	}
}

func TestDecodePNMErrors(t *testing.T) {
	for file, want := range map[string]string{
		"":                              "empty",
		"P":                             "not a PNG",
		"P4 1 1 ":                       "not a PNG",
		"P5":                            "not a PNG",
		"P5 ":                           "width: unexpected EOF",
		"P5 3":                          "height: unexpected EOF",
		"P5 3 3":                        "largest value: unexpected EOF",
		"P5 3 3 # no end":               "largest value: unexpected EOF",
		"P5 3 3 255":                    "value 1 of 9: unexpected EOF",
		"P5 x 3 255\n":                  `'x'`,
		"P5 -3 3 255\n":                 `'-'`,
		"P5 3 3 0\n":                    "largest value 0; expected 1 to 65535",
		"P5 3 3 70000\n":                "at most 65535",
		"P5 99999999999999999999 1 1\n": "at most 100000000",
		"P5 0 1 255\n":                  "0×1 pixels",
		"P5 20000 20000 255\n":          "pixels, above the limit of 100 million",
		"P5 10000 10000 255\n\x00\x01":  "pixels, too many for the",
		"P5 2 1 4\n\x04\x05":            "value 2 of 2: 5; expected at most 4",
		"P2 2 1 4\n4":                   "value 2 of 2: unexpected EOF",
		"P2 2 1 4\n44 ":                 "value 1 of 2: 44",
		"P2 2 1 4\n4  ":                 "value 2 of 2: unexpected EOF",
		"P2 2 1 4\n4 5":                 "value 2 of 2: 5; expected at most 4",
		"P2 2 1 4\n4 z":                 "value 2 of 2",
		"P2 2 1 4\n4 99999999999999999": "at most 65535",
		"P6 1 1 255\n\x01\x02":          "value 3 of 3: unexpected EOF",
	} {
		if _, err := DecodeBytes([]byte(file)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got error %v, want one with %q", file, err, want)
		}
	}
}

func FuzzPNM(f *testing.F) {
	for _, file := range []string{
		"P5 2 2 255\n\x00\x01\x80\xff", "P2\n# c\n3 1 4\n0 2 4", "P6 1 1 65535\n\x12\x34\x56\x78\x9a\xbc", "P3 1 1 1 1 0 1",
		"P5 10000 10000 255\n", "P5#\n2 1 1023\n\x00\x00\x02\x00",
	} {
		f.Add([]byte(file))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		img, err := DecodeBytes(data)
		if err != nil {
			return
		}
		// The same image written with 16 bits is read as the same.
		b := img.Bounds()
		var again bytes.Buffer
		kind, pix := "P5", []byte(nil)
		switch img := img.(type) {
		case *image.Gray16:
			pix = img.Pix
		case *image.RGBA64:
			kind = "P6"
			for i := 0; i < len(img.Pix); i += 8 {
				pix = append(pix, img.Pix[i:i+6]...)
			}
		}
		fmt.Fprintf(&again, "%s %d %d 65535\n", kind, b.Dx(), b.Dy())
		again.Write(pix)
		second, err := DecodeBytes(again.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(img, second); d != "" {
			t.Error(d)
		}
	})
}
