// Package pictures measures the copies, blurred and blank pictures and outliers that partwise finds: it changes
// pictures of sets, and counts detections and false detections. It prints the tables of docs/results.md:
//
//	PARTWISE_DATA=folder go test ./bench/pictures -v -pictures 150 -sets corel5,scenes13,caltech10
//
// The pictures of a set are evenly spaced.
package pictures

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	xdraw "golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets"
	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/internal/testkit"
	"github.com/seed4492f2cd/partwise/pictures"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

var (
	most  = flag.Int("pictures", 10, "pictures of each set")
	names = flag.String("sets", "corel5,scenes13", "folders below PARTWISE_DATA")
)

// set is a folder of pictures.
type set struct {
	name   string
	images []*image.RGBA
}

// read reads the sets.
func read(t *testing.T) (sets []set) {
	for name := range strings.SplitSeq(*names, ",") {
		var files []string
		err := filepath.WalkDir(filepath.Join(testkit.NeedFolder(t, testkit.DataFolder), name), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				if _, _, e := imagefile.Size(path); e == nil {
					files = append(files, path)
				}
			}
			return err
		})
		must(t, err)
		s, n := set{name: name}, min(*most, len(files))
		for i := range n {
			img, err := (&datasets.Set{Names: []string{""}, Files: []string{files[i*len(files)/n]}}).Image(0)
			must(t, err)
			s.images = append(s.images, features.Thumbnail(img, max(img.Bounds().Dx(), img.Bounds().Dy())))
		}
		sets = append(sets, s)
	}
	return sets
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// table prints a table of the values of cell for each row and set.
func table[R any](title string, sets []set, rows []R, name func(R) string, cell func(set, R) string) {
	fmt.Print("\n", title, "\n| ")
	for _, s := range sets {
		fmt.Print(" | ", s.name)
	}
	fmt.Println(" |")
	for _, r := range rows {
		line := "| " + name(r)
		for _, s := range sets {
			line += " | " + cell(s, r)
		}
		fmt.Println(line + " |")
	}
}

// change is a change of a picture, and the quality of the JPEG after it, 0 for none.
type change struct {
	name    string
	quality int
	do      func(img *image.RGBA) image.Image
	// found is the smallest required detection rate, and mostFound the largest allowed one, in percent.
	found, mostFound float64
}

// apply returns the changed picture.
func (c change) apply(img *image.RGBA) image.Image {
	changed := c.do(img)
	if c.quality == 0 {
		return changed
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, changed, &jpeg.Options{Quality: c.quality}); err != nil {
		panic(err) // cannot fail: the picture was decoded
	}
	out, err := jpeg.Decode(&b)
	if err != nil {
		panic(err)
	}
	return out
}

func (c change) String() string { return c.name }

func TestCopies(t *testing.T) {
	sets := read(t)
	table("copies found, and pictures taken for copies of others, %", sets, []change{
		{"nothing", 0, unchanged, 100, 100},
		{"JPEG quality 50", 50, unchanged, 100, 100},
		{"JPEG quality 10", 10, unchanged, 90, 100},
		{"half the size", 85, resized(0.5), 90, 100},
		{"brightness ×0.7", 85, toned(0.7, 0), 90, 100},
		{"brightness ×1.3, clipped", 85, toned(1.3, 0), 90, 100},
		{"blurred, σ 2", 90, blurred(2), 80, 100},
		{"10 % of each side cut off", 85, cropped(0.1, 0.1), 80, 100},
		{"20 % of the left and top cut off", 85, cropped(0.2, 0), 80, 100},
		{"20 % of each side cut off", 85, cropped(0.2, 0.2), 80, 100},
		{"screenshot", 85, screenshot, 80, 100},
		{"watermark", 85, watermarked, 80, 100},
		{"grey", 85, grey, 80, 100},
		{"mirrored", 85, mirrored, 80, 100},
		{"mirrored, grey, 10 % of each side cut off", 85, func(img *image.RGBA) image.Image {
			return grey(features.Thumbnail(cropped(0.1, 0.1)(mirrored(img).(*image.RGBA)), 1e6))
		}, 80, 100},
		{"turned by 90°", 85, turned, 80, 100},
		{"shot of a burst, no capture time", 85, burst, 0, 100},
		{burstShot, 85, burst, 80, 100},
	}, change.String, func(s set, c change) string {
		found, wrong := copies(t, s, c)
		if found < c.found || found > c.mostFound || wrong > 2 {
			t.Errorf("%s, %s: %v %% are found, and %v %% are taken for copies of others", s.name, c.name, found, wrong)
		}
		return fmt.Sprintf("%.1f / %.1f", found, wrong)
	})
}

const burstShot = "shot of a burst, other photos 1 second apart"

// copies returns the rates of changed pictures that are found as copies of their original, and of all pictures that are
// wrongly found as copies, in percent. Stacks before the change do not count.
func copies(t *testing.T, s set, c change) (found, wrong float64) {
	n := len(s.images)
	all, taken := make([]image.Image, 2*n), make([]time.Time, 2*n)
	for i, img := range s.images {
		all[i], all[n+i] = img, c.apply(img)
		if c.name == burstShot {
			taken[i] = time.Date(2020, 1, 1, 0, 0, 2*i, 0, time.UTC)
			taken[n+i] = taken[i].Add(time.Second)
		}
	}
	of, before := stacks(t, all, taken), stacks(t, all[:n], taken[:n])
	for i := range n {
		if of[n+i] == of[i] {
			found++
		}
		for _, j := range []int{i, n + i} {
			if at := of[j]; at != j && before[at%n] != before[i] {
				wrong++
			}
		}
	}
	return 100 * found / float64(n), 50 * wrong / float64(n)
}

// stacks returns the first picture of the stack of each picture, from the 8 most similar rough pictures of each.
func stacks(t *testing.T, all []image.Image, taken []time.Time) []int {
	looks, thumbnails := look(t, all)
	rough, alone := mat.NewDense(len(all), len(looks[0].Rough()), nil), make([]int, len(all))
	for i, l := range looks {
		rough.SetRow(i, l.Rough())
		alone[i] = i
	}
	near, _, err := factor.Nearest(t.Context(), rough, 8)
	must(t, err)
	found, err := pictures.Copies(t.Context(), pictures.Source{Looks: looks, Order: alone, Same: alone, Near: near, Taken: taken, Thumbnail: func(_ context.Context, i int) (image.Image, error) {
		return jpeg.Decode(bytes.NewReader(thumbnails[i]))
	}, Equal: func(context.Context, int, int) (bool, error) { return true, nil }})
	must(t, err)
	return found.CopyOf
}

// look returns the looks and thumbnails of pictures.
func look[I image.Image](t *testing.T, images []I) ([]*pictures.Look, [][]byte) {
	looks, thumbnails, errs := make([]*pictures.Look, len(images)), make([][]byte, len(images)), make([]error, len(images))
	err := parallel.Blocks(t.Context(), 0, len(images), 1, func(_, i, _ int) {
		looks[i], thumbnails[i], errs[i] = pictures.New(imagefile.Reduced(images[i], pictures.Least), images[i].Bounds().Size())
	})
	must(t, cmp.Or(err, errors.Join(errs...)))
	return looks, thumbnails
}

func TestBlurred(t *testing.T) {
	sets := read(t)
	const title = "a tenth of the pictures blurred: called blurred, %, and the 5th, 50th and 95th hundredth of the sharpness"
	table(title, sets, []change{
		{"σ = 0 pixels", 90, unchanged, 0, 0},
		{"σ = 0.5 pixels", 90, blurred(0.5), 0, 10},
		{"σ = 1 pixels", 90, blurred(1), 0, 100},
		{"σ = 1.5 pixels", 90, blurred(1.5), 60, 100},
		{"σ = 2 pixels", 90, blurred(2), 90, 100},
		{"σ = 3 pixels", 90, blurred(3), 90, 100},
		{"σ = 5 pixels", 90, blurred(5), 80, 100},
	}, change.String, func(s set, c change) string {
		called, sharpness := blur(t, s, c)
		if called < c.found || called > c.mostFound {
			t.Errorf("%s, %s: %v %% are called blurred", s.name, c.name, called)
		}
		at := func(share float64) float64 { return sharpness[int(share*float64(len(sharpness)-1))] }
		return fmt.Sprintf("%.1f (%.2f, %.2f, %.2f)", called, at(0.05), at(0.5), at(0.95))
	})
}

// blur returns the fraction of changed pictures that are called blurred, if a tenth of the pictures is changed, and
// their sharpness, increasing.
func blur(t *testing.T, s set, c change) (called float64, sharpness []float64) {
	looks, _ := look(t, s.images)
	var changed []image.Image
	for _, img := range s.images {
		changed = append(changed, c.apply(img))
	}
	of, _ := look(t, changed)
	for k := range 10 {
		all := slices.Clone(looks)
		for i := k; i < len(all); i += 10 {
			all[i] = of[i]
		}
		for i, remark := range pictures.Remarks(all) {
			if i%10 == k && remark == pictures.Blurred {
				called++
			}
		}
	}
	for _, l := range of {
		sharpness = append(sharpness, l.Sharpness)
	}
	slices.Sort(sharpness)
	return 100 * called / float64(len(of)), sharpness
}

func TestBlank(t *testing.T) {
	fmt.Println("\nblank pictures called blank, %")
	for _, b := range []struct {
		name                string
		noise, slope, found float64
	}{
		{"one colour", 0, 0, 100}, {"noise of 1 level", 1, 0, 100}, {"noise of 2 levels", 2, 0, 100}, {"noise of 4 levels", 4, 0, 100},
		{"a slope of 6 levels", 1, 6, 100}, {"a slope of 20 levels", 1, 20, 0},
	} {
		var all []image.Image
		for i := range 50 {
			all = append(all, blank(uint64(i), b.noise, b.slope))
		}
		of, _ := look(t, all)
		found := blanks(of)
		fmt.Printf("| %s | %.0f |\n", b.name, found)
		if found != b.found {
			t.Errorf("%s: %v %% are called blank", b.name, found)
		}
	}
	for _, s := range read(t) {
		of, _ := look(t, s.images)
		found, spread := blanks(of), math.Inf(1)
		for _, l := range of {
			spread = min(spread, l.Spread)
		}
		fmt.Printf("%s: %.1f %% blank, the least spread is %.0f\n", s.name, found, spread)
		if found > 0 {
			t.Errorf("%s: %v %% of the photographs are called blank", s.name, found)
		}
	}
}

// blanks returns the rate of pictures that are called blank, in percent.
func blanks(looks []*pictures.Look) (share float64) {
	remarks := pictures.Remarks(looks)
	blank := len(remarks) - len(slices.DeleteFunc(remarks, func(r string) bool { return r == pictures.Blank }))
	return 100 * float64(blank) / float64(len(looks))
}

func TestOutliers(t *testing.T) {
	sets := read(t)
	const title = "ten pictures of the folder on the left among those of another: outliers among the ten and the others, %"
	table(title, sets, sets, func(s set) string { return s.name }, func(s, other set) string {
		if other.name == s.name {
			return "–"
		}
		among, others := outliers(t, s, other)
		if others > 0 {
			t.Errorf("%v %% of %s are outliers", others, s.name)
		}
		return fmt.Sprintf("%.0f / %.1f", among, others)
	})
}

// outliers adds ten pictures of another set to one set, and returns the rates of both that are called outliers, in
// percent.
func outliers(t *testing.T, s, other set) (among, others float64) {
	const strangers = 10
	dir, all := t.TempDir(), slices.Clone(s.images)
	for i := range strangers {
		all = append(all, other.images[i*len(other.images)/strangers])
	}
	for i, img := range all {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("%05d.jpg", i)))
		must(t, err)
		must(t, errors.Join(jpeg.Encode(f, img, &jpeg.Options{Quality: 95}), f.Close()))
	}
	e := spec.Experiment{Data: spec.Data{Set: dir}, Features: spec.Features{Auto: true}}
	in, err := input.Prepare(t.Context(), &e, input.PrepareOptions{Pictures: true})
	must(t, err)
	defer in.Close()
	p, err := in.Pictures(t.Context(), nil)
	must(t, err)
	for i, probability := range p.Outlier {
		switch {
		case probability == 0:
		case i < len(s.images):
			others += 100 / float64(len(s.images))
		default:
			among += 100.0 / strangers
		}
	}
	return among, others
}

func unchanged(img *image.RGBA) image.Image { return img }

func resized(by float64) func(*image.RGBA) image.Image {
	return func(img *image.RGBA) image.Image {
		return features.Thumbnail(img, int(by*float64(max(img.Rect.Dx(), img.Rect.Dy()))))
	}
}

// cropped cuts fractions off the left and top, and off the right and bottom.
func cropped(first, last float64) func(*image.RGBA) image.Image {
	return func(img *image.RGBA) image.Image {
		w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
		return img.SubImage(image.Rect(int(first*w), int(first*h), int(w-last*w), int(h-last*h)))
	}
}

func toned(gain, offset float64) func(*image.RGBA) image.Image {
	return func(img *image.RGBA) image.Image {
		out := image.NewRGBA(img.Rect)
		for i, v := range img.Pix {
			if out.Pix[i] = v; i%4 != 3 {
				out.Pix[i] = uint8(min(max(gain*float64(v)+offset, 0), 255))
			}
		}
		return out
	}
}

func mirrored(img *image.RGBA) image.Image {
	out := image.NewRGBA(img.Rect)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			out.Set(x, y, img.At(img.Rect.Dx()-1-x, y))
		}
	}
	return out
}

func turned(img *image.RGBA) image.Image {
	out := image.NewRGBA(image.Rect(0, 0, img.Rect.Dy(), img.Rect.Dx()))
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			out.Set(img.Rect.Dy()-1-y, x, img.At(x, y))
		}
	}
	return out
}

func grey(img *image.RGBA) image.Image {
	out := image.NewGray(img.Rect)
	draw.Draw(out, img.Rect, img, img.Rect.Min, draw.Src)
	return out
}

// generator returns random numbers that depend on an image only.
func generator(img *image.RGBA) *rand.Rand {
	return rand.New(rand.NewPCG(uint64(img.Pix[len(img.Pix)/3]), uint64(img.Pix[len(img.Pix)/2])))
}

// write draws n marks like the letters of a line of text.
func write(on draw.Image, src *rand.Rand, x, y, n, size int, colour color.Color) {
	for i := range 4 * n {
		if src.IntN(3) > 0 {
			at := image.Pt(x+i/4*size+i%2*size/2, y+i/2%2*size/2)
			draw.Draw(on, image.Rectangle{at, at.Add(image.Pt(size/3, size/2))}, image.NewUniform(colour), image.Point{}, draw.Over)
		}
	}
}

// screenshot shows the picture on the screen of a telephone or a computer, dark or light, with text and buttons.
func screenshot(img *image.RGBA) image.Image {
	src := generator(img)
	size, ground, text := image.Pt(540, 1170), color.Gray{250}, color.Gray{20}
	if src.IntN(3) == 0 {
		size = image.Pt(1280, 800)
	}
	if src.IntN(2) == 0 {
		ground, text = text, ground
	}
	out := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(out, out.Rect, image.NewUniform(ground), image.Point{}, draw.Src)
	scale := min(float64(size.X)/float64(img.Rect.Dx()), 0.7*float64(size.Y)/float64(img.Rect.Dy()))
	shown := image.Pt(int(scale*float64(img.Rect.Dx())), int(scale*float64(img.Rect.Dy())))
	at := size.Sub(shown).Div(2).Sub(image.Pt(0, src.IntN(size.Y/12)))
	xdraw.BiLinear.Scale(out, image.Rectangle{at, at.Add(shown)}, img, img.Rect, draw.Src, nil)
	write(out, src, 20, 12, 6, 14, text)
	write(out, src, size.X-90, 12, 5, 14, text)
	write(out, src, 40, 60, 10+src.IntN(10), 20, text)
	for line := range 3 {
		write(out, src, 30, at.Y+shown.Y+20+30*line, 8+src.IntN(14), 18, text)
	}
	for i := range 4 {
		x := size.X*i/4 + size.X/8
		draw.Draw(out, image.Rect(x-20, size.Y-70, x+20, size.Y-30), image.NewUniform(color.RGBA{90, 120, 200, 255}), image.Point{}, draw.Src)
	}
	return out
}

func watermarked(img *image.RGBA) image.Image {
	out := image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, img, img.Rect.Min, draw.Src)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	write(out, generator(img), w/10, h/2-w/28, 9, w/14, color.RGBA{127, 127, 127, 127})
	return out
}

// burst moves and turns the camera a little, moves a part of the picture, and changes the exposure.
func burst(img *image.RGBA) image.Image {
	src, out := generator(img), image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, img, img.Rect.Min, draw.Src)
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	part := image.Rect(0, 0, int(0.3*w), int(0.3*h)).Add(image.Pt(int(w*(0.2+0.3*src.Float64())), int(h*(0.2+0.3*src.Float64()))))
	draw.Draw(out, part.Add(image.Pt(int(0.1*w*(src.Float64()-0.5)), int(0.08*h*(src.Float64()-0.5)))), img, part.Min, draw.Src)
	zoom, angle := 1.07+0.05*src.Float64(), 0.06*(src.Float64()-0.5)
	c, s := zoom*math.Cos(angle), zoom*math.Sin(angle)
	dx, dy := 0.06*w*(src.Float64()-0.5), 0.06*h*(src.Float64()-0.5)
	moved := image.NewRGBA(img.Rect)
	xdraw.BiLinear.Transform(moved, f64.Aff3{c, -s, w/2 - c*w/2 + s*h/2 + dx, s, c, h/2 - s*w/2 - c*h/2 + dy}, out, out.Rect, draw.Src, nil)
	gain := 0.88 + 0.24*src.Float64()
	for i, v := range moved.Pix {
		if i%4 != 3 {
			moved.Pix[i] = uint8(min(max(gain*float64(v)+4*src.NormFloat64(), 0), 255))
		}
	}
	return moved
}

// blurred is a Gaussian filter with a standard deviation in pixels, by rows and then by columns.
func blurred(sigma float64) func(*image.RGBA) image.Image {
	r := int(math.Ceil(3 * sigma))
	kernel := make([]float64, 2*r+1)
	for i := range kernel {
		kernel[i] = math.Exp(-float64((i-r)*(i-r)) / (2 * sigma * sigma))
	}
	floats.Scale(1/floats.Sum(kernel), kernel)
	return func(img *image.RGBA) image.Image {
		w, h := img.Rect.Dx(), img.Rect.Dy()
		for _, step := range []image.Point{{1, 0}, {0, 1}} {
			out := image.NewRGBA(img.Rect)
			for p := range w * h {
				var v [4]float64
				for i, k := range kernel {
					x, y := min(max(p%w+(i-r)*step.X, 0), w-1), min(max(p/w+(i-r)*step.Y, 0), h-1)
					for c, pixel := range img.Pix[img.PixOffset(x, y):][:4] {
						v[c] += k * float64(pixel)
					}
				}
				for c := range v {
					out.Pix[4*p+c] = uint8(v[c] + 0.5)
				}
			}
			img = out
		}
		return img
	}
}

// blank returns a picture of noise around a brightness that increases by slope levels.
func blank(seed uint64, noise, slope float64) image.Image {
	src := rand.New(rand.NewPCG(seed, 1))
	level := 5 + 240*src.Float64()
	img := image.NewRGBA(image.Rect(0, 0, 400, 300))
	for i := range img.Pix {
		v := level + slope*(float64(i/4%400)/400-0.5) + noise*src.NormFloat64()
		if img.Pix[i] = uint8(min(max(v+0.5, 0), 255)); i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	return change{quality: 85, do: unchanged}.apply(img)
}
