package imagefile

import "image"

// mostReduced is the largest factor by which Reduced makes images smaller.
const mostReduced = 8

// reduction returns by what Reduced divides the height and width of an image of a size.
func reduction(size image.Point, least int) int {
	times := 1
	for times < mostReduced && min(size.X, size.Y)/(2*times) >= max(least, 1) {
		times *= 2
	}
	return times
}

// Reduced returns img with its height and width divided by 2, 4 or 8, the largest of them
// that leaves both at least least, or img itself where none does. Each pixel is the mean of a
// block, those at the right and the lower border of the stored image of what there is of theirs. Images of the
// kinds that JPEG files, and opaque 8-bit PNG files, are decoded to are reduced; others are
// returned as they are. It takes less time than reading the pixels one by one, and a [Reading]
// less again, which decodes a JPEG file to such an image at once.
func Reduced(img image.Image, least int) image.Image {
	size := img.Bounds().Size()
	times := reduction(size, least)
	if times == 1 {
		return img
	}
	switch src := img.(type) {
	case *oriented:
		if inner, ok := Reduced(src.RGBA64Image, least).(image.RGBA64Image); ok {
			return &oriented{inner, src.orientation}
		}
	case *image.YCbCr:
		b := src.Rect
		across, down := subsampling(src.SubsampleRatio)
		if across > times || down > times || b.Min.X%across != 0 || b.Min.Y%down != 0 {
			return img
		}
		out := image.NewYCbCr(reducedBounds(size, times), image.YCbCrSubsampleRatio444)
		meansOf(out.Y, out.YStride, src.Y[src.YOffset(b.Min.X, b.Min.Y):], src.YStride, size, times, times)
		chroma := image.Pt((size.X+across-1)/across, (size.Y+down-1)/down)
		at := src.COffset(b.Min.X, b.Min.Y)
		meansOf(out.Cb, out.CStride, src.Cb[at:], src.CStride, chroma, times/across, times/down)
		meansOf(out.Cr, out.CStride, src.Cr[at:], src.CStride, chroma, times/across, times/down)
		return out
	case *image.Gray:
		out := image.NewGray(reducedBounds(size, times))
		meansOf(out.Pix, out.Stride, src.Pix[src.PixOffset(src.Rect.Min.X, src.Rect.Min.Y):], src.Stride, size, times, times)
		return out
	case *image.RGBA:
		if src.Opaque() {
			return reducedRGBA(src.Pix[src.PixOffset(src.Rect.Min.X, src.Rect.Min.Y):], src.Stride, size, times)
		}
	case *image.NRGBA:
		if src.Opaque() {
			return reducedRGBA(src.Pix[src.PixOffset(src.Rect.Min.X, src.Rect.Min.Y):], src.Stride, size, times)
		}
	}
	return img
}

func reducedBounds(size image.Point, times int) image.Rectangle {
	return image.Rect(0, 0, (size.X+times-1)/times, (size.Y+times-1)/times)
}

// subsampling returns how many pixels a chroma sample stands for, across and down.
func subsampling(r image.YCbCrSubsampleRatio) (across, down int) {
	switch r {
	case image.YCbCrSubsampleRatio422:
		return 2, 1
	case image.YCbCrSubsampleRatio420:
		return 2, 2
	case image.YCbCrSubsampleRatio440:
		return 1, 2
	case image.YCbCrSubsampleRatio411:
		return 4, 1
	case image.YCbCrSubsampleRatio410:
		return 4, 2
	}
	return 1, 1
}

// meansOf writes the rounded means of blocks of across×down samples of a plane of a size.
func meansOf(dst []uint8, dstStride int, src []uint8, srcStride int, size image.Point, across, down int) {
	width := (size.X + across - 1) / across
	sums := make([]uint32, width)
	for y := 0; y < size.Y; y += down {
		clear(sums)
		rows := min(down, size.Y-y)
		for v := range rows {
			line := src[(y+v)*srcStride:][:size.X]
			whole := size.X / across
			for x := range whole {
				var sum uint32
				for _, s := range line[x*across : (x+1)*across] {
					sum += uint32(s)
				}
				sums[x] += sum
			}
			for _, s := range line[whole*across:] {
				sums[whole] += uint32(s)
			}
		}
		out := dst[y/down*dstStride:][:width]
		for x, sum := range sums {
			n := uint32(rows * min(across, size.X-x*across))
			out[x] = uint8((sum + n/2) / n)
		}
	}
}

// reducedRGBA is Reduced of opaque pixels of four bytes.
func reducedRGBA(src []uint8, stride int, size image.Point, times int) *image.RGBA {
	out := image.NewRGBA(reducedBounds(size, times))
	sums := make([][3]uint32, out.Rect.Dx())
	for y := 0; y < size.Y; y += times {
		clear(sums)
		rows := min(times, size.Y-y)
		for v := range rows {
			line := src[(y+v)*stride:][:4*size.X]
			for x := 0; x < size.X; x++ {
				sum := &sums[x/times]
				sum[0] += uint32(line[4*x])
				sum[1] += uint32(line[4*x+1])
				sum[2] += uint32(line[4*x+2])
			}
		}
		line := out.Pix[y/times*out.Stride:]
		for x, sum := range sums {
			n := uint32(rows * min(times, size.X-x*times))
			line[4*x], line[4*x+1], line[4*x+2], line[4*x+3] = uint8((sum[0]+n/2)/n), uint8((sum[1]+n/2)/n), uint8((sum[2]+n/2)/n), 255
		}
	}
	return out
}
