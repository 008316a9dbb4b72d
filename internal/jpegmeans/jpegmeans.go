// Package jpegmeans decodes JPEG files (ITU-T T.81) to images of half, a quarter or an eighth of
// their height and width, whose pixels are the means of blocks of those of the whole image. The
// whole image is never in memory.
//
// The mean of some pixels of a block is a linear function of its coefficients, as the pixels
// are, so that means are found by a shorter inverse transform (means.go). Where pixels of a block
// might lie beyond black or white, which a decoder sets to these before anything is made of them,
// and at the image's border, where only the pixels within count, the pixels are found first. So the
// means are those of the pixels that image/jpeg decodes, but for rounding: a level of 255 at most.
//
// What is refused is what image/jpeg refuses. Kinds of files that hardly occur are not
// served ([File.Serves]): progressive files, those in RGB or of four components, and those of codes that no
// prefix code has.
package jpegmeans

import (
	"errors"
	"fmt"
	"image"
	"io"
)

// Markers (T.81, table B.1).
const (
	startOfFrame       = 0xc0 // baseline
	startOfExtended    = 0xc1
	startOfProgressive = 0xc2
	huffmanTables      = 0xc4
	restart0           = 0xd0
	restart7           = 0xd7
	startOfImage       = 0xd8
	endOfImage         = 0xd9
	startOfScan        = 0xda
	quantTables        = 0xdb
	restartInterval    = 0xdd
	application0       = 0xe0
	application14      = 0xee
	application15      = 0xef
	comment            = 0xfe
)

var errEnds = fmt.Errorf("no end of the image: %w", io.ErrUnexpectedEOF)

// File is what the segments of a JPEG file tell.
type File struct {
	// Width and Height are the image's size in pixels, 0 where no frame is.
	Width, Height int
	// Components is how many values the file promises for a pixel, 3 where no frame is.
	Components int
	// Progressive tells whether coefficients come in several scans.
	Progressive bool
	// Scans is how many scans there are.
	Scans int

	content []byte
	frame   *frame // nil where none is, or one that is not served
	colours colours
	unusual bool // has what is left to image/jpeg

	whole    bool // has an end
	heightAt int  // where the height stands in the content
	lastScan int  // where the last scan begins, or 0
	before   int  // has a bit for each component whose first coefficients are in scans before that
}

// Parse reads the segments of a file, as far as they are whole, and decodes nothing.
func Parse(content []byte) *File {
	f := &File{Components: 3, content: content}
	frames, last := 0, 0
	r := reader{content: content, at: min(2, len(content))}
	for {
		marker, data, err := r.next()
		if err != nil || marker == endOfImage {
			f.whole = err == nil
			break
		}
		at := r.at - len(data)
		switch marker {
		case startOfFrame, startOfExtended, startOfProgressive:
			frames++
			if len(data) >= 6 {
				f.Components, f.Progressive, f.heightAt = int(data[5]), marker == startOfProgressive, at+1
			}
			var err error
			if f.frame, err = readFrame(marker, data); err == nil {
				f.Width, f.Height = f.frame.width, f.frame.height
			}
		case startOfScan:
			f.Scans++
			f.before |= last
			f.lastScan, last = at-4, f.firstOf(data)
		case huffmanTables:
			f.unusual = f.unusual || eachTable(data, func(_ byte, counts, _ []byte) error { return checkCodes(counts) }) != nil
		}
		f.colours.see(marker, data)
	}
	f.unusual = f.unusual || frames != 1 || f.frame == nil
	return f
}

// firstOf returns a bit for each component of a scan that has their first coefficients.
func (f *File) firstOf(header []byte) (components int) {
	if f.frame == nil || len(header) == 0 || len(header) != 4+2*int(header[0]) || header[len(header)-3] != 0 {
		return 0
	}
	for i, c := range f.frame.components {
		for at := 1; at < len(header)-3; at += 2 {
			if header[at] == c.id {
				components |= 1 << i
			}
		}
	}
	return components
}

// Segments calls f for each segment of a JPEG file before the end of the image, with its marker
// and what follows its length, until f returns false or a segment is not whole. The bits of scans
// and bytes between segments are passed over.
func Segments(content []byte, f func(marker byte, data []byte) bool) {
	r := reader{content: content, at: min(2, len(content))}
	for {
		marker, data, err := r.next()
		if err != nil || marker == endOfImage || !f(marker, data) {
			return
		}
	}
}

// Serves tells whether Decode makes an image whose height and width are divided by times, which is
// 2, 4 or 8. It tells nothing of errors in the file.
func (f *File) Serves(times int) bool {
	if f.unusual || f.Progressive || times != 2 && times != 4 && times != 8 || f.Width < 1 || f.Height < 1 {
		return false
	}
	if f.Components == 3 && f.colours.rgb(f.frame) {
		return false
	}
	across, down := f.frame.subsampling()
	return across <= times && down <= times
}

// Memory returns the most bytes that Decode of a file that it serves takes for what grows with
// the image.
func (f *File) Memory(times int) int64 {
	return int64((f.Width+times-1)/times) * int64((f.Height+times-1)/times) * int64(f.Components)
}

// Decode decodes the file to an image whose height and width are ⌈height/times⌉ and
// ⌈width/times⌉. Each pixel is the mean of a block of times×times of the file's, those at the right
// and the lower border of what there is of theirs. The image is an *image.Gray, an *image.YCbCr of
// 4:4:4. A file that is not served (Serves) is an error.
func (f *File) Decode(times int) (image.Image, error) {
	img, _, err := f.decode(times)
	return img, err
}

// decode is Decode, and tells whether some block has coefficients that no image of 8 bits has.
func (f *File) decode(times int) (img image.Image, wild bool, err error) {
	if !f.Serves(times) {
		return nil, false, errors.New("jpegmeans: a kind of JPEG that is not served")
	}
	d := &decoder{reader: reader{content: f.content}, times: times}
	img, err = d.decode()
	return img, d.wild, err
}

// decoder decodes a file.
type decoder struct {
	reader
	times   int
	frame   *frame
	scanned bool // has seen a scan

	quant    [4][blockSize]int32 // in the order of the file
	dc, ac   [4]table
	interval int // MCUs between restarts, or 0

	bits     bits
	block    block
	endOfRun int  // how many blocks have no more coefficients
	wild     bool // whether some block has coefficients that no image of 8 bits has

	// counting makes no image, but counts rows: those that are whole in the scan that is read.
	counting bool
	rows     int
	seen     int // has a bit for each component that a scan has
}

func (d *decoder) decode() (image.Image, error) {
	if len(d.content) < 2 {
		return nil, errEnds
	}
	if d.content[0] != 0xff || d.content[1] != startOfImage {
		return nil, errors.New("not a JPEG file: no start of an image")
	}
	d.at = 2
	for {
		marker, data, err := d.next()
		if err != nil {
			return nil, err
		}
		if marker == endOfImage {
			return d.finish()
		}
		switch marker {
		case startOfFrame, startOfExtended:
			if d.frame != nil {
				return nil, errors.New("a second frame in a JPEG file")
			}
			d.frame, err = readFrame(marker, data)
		case huffmanTables:
			err = d.readTables(data)
		case quantTables:
			err = d.readQuant(data)
		case startOfScan:
			err = d.scan(data)
		case restartInterval:
			if len(data) != 2 {
				return nil, fmt.Errorf("a restart interval of %d bytes, want 2", len(data))
			}
			d.interval = int(data[0])<<8 | int(data[1])
		default:
			if (marker < application0 || marker > application15) && marker != comment {
				return nil, fmt.Errorf("a JPEG marker of %#x, which is not read", marker)
			}
		}
		if err != nil {
			return nil, err
		}
	}
}

// start makes room for the image before the first scan.
func (d *decoder) start() error {
	width, height := d.frame.width, d.frame.height
	if d.counting {
		return nil
	}
	if width < 1 || height < 1 {
		return fmt.Errorf("a JPEG of %d×%d pixels", width, height)
	}
	across, down := d.frame.subsampling()
	if across > d.times || down > d.times {
		return fmt.Errorf("a colour for %d×%d pixels of a JPEG, more than the %d×%d of a mean", across, down, d.times, d.times)
	}
	for i := range d.frame.components {
		c := &d.frame.components[i]
		perX, perY := d.times, d.times
		c.width, c.height = width, height
		if i > 0 {
			perX, perY = perX/across, perY/down
			c.width, c.height = (width+across-1)/across, (height+down-1)/down
		}
		c.across, c.down = &averages[perX], &averages[perY]
		c.stride = (width + d.times - 1) / d.times
		c.means = make([]uint8, c.stride*((height+d.times-1)/d.times))
	}
	return nil
}

// finish returns the image after the last scan.
func (d *decoder) finish() (image.Image, error) {
	if !d.scanned {
		return nil, errors.New("a JPEG without a scan")
	}
	c := d.frame.components
	box := image.Rect(0, 0, c[0].stride, len(c[0].means)/c[0].stride)
	if len(c) == 1 {
		return &image.Gray{Pix: c[0].means, Stride: c[0].stride, Rect: box}, nil
	}
	return &image.YCbCr{
		Y: c[0].means, Cb: c[1].means, Cr: c[2].means, YStride: c[0].stride, CStride: c[1].stride,
		SubsampleRatio: image.YCbCrSubsampleRatio444, Rect: box,
	}, nil
}
