// Command pictures measures what package pictures and partwise cluster tell of single pictures: it
// changes the pictures of folders, and counts what is found of that and what is found where nothing
// is. It prints the tables of docs/results.md:
//
//	pictures Corel=/data/corel5 Scenes=/data/scenes13
//
// Of each folder it takes -n pictures, evenly through all.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"image"
	"image/draw"
	"image/jpeg"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/datasets/imagefile"
	"github.com/seed4492f2cd/partwise/factor"
	"github.com/seed4492f2cd/partwise/features"
	_ "github.com/seed4492f2cd/partwise/features/lite0"
	"github.com/seed4492f2cd/partwise/internal/parallel"
	"github.com/seed4492f2cd/partwise/pictures"
	"github.com/seed4492f2cd/partwise/pipeline/input"
	"github.com/seed4492f2cd/partwise/pipeline/spec"
)

// set is a folder of pictures.
type set struct {
	name   string
	images []*image.RGBA
}

// change is what is done to a picture.
type change struct {
	name string
	do   func(img *image.RGBA) image.Image
}

var copyChanges = []change{
	{"nothing", func(img *image.RGBA) image.Image { return img }},
	{"JPEG quality 50", func(img *image.RGBA) image.Image { return compressed(img, 50) }},
	{"JPEG quality 20", func(img *image.RGBA) image.Image { return compressed(img, 20) }},
	{"JPEG quality 10", func(img *image.RGBA) image.Image { return compressed(img, 10) }},
	{"three quarters of the size", func(img *image.RGBA) image.Image { return resized(img, 0.75) }},
	{"half the size", func(img *image.RGBA) image.Image { return resized(img, 0.5) }},
	{"brightness ×0.7", func(img *image.RGBA) image.Image { return toned(img, 0.7, 0) }},
	{"brightness ×1.3, clipped", func(img *image.RGBA) image.Image { return toned(img, 1.3, 0) }},
	{"contrast ×0.6", func(img *image.RGBA) image.Image { return toned(img, 0.6, 51) }},
	{"2 % of each side cut off", func(img *image.RGBA) image.Image { return cropped(img, 0.02, 0.02) }},
	{"5 % of each side cut off", func(img *image.RGBA) image.Image { return cropped(img, 0.05, 0.05) }},
	{"10 % of each side cut off", func(img *image.RGBA) image.Image { return cropped(img, 0.1, 0.1) }},
	{"10 % of one side cut off", func(img *image.RGBA) image.Image { return cropped(img, 0.1, 0) }},
	{"15 % of each side cut off", func(img *image.RGBA) image.Image { return cropped(img, 0.15, 0.15) }},
	{"blurred, σ 1", func(img *image.RGBA) image.Image { return blurred(img, 1) }},
	{"blurred, σ 2", func(img *image.RGBA) image.Image { return blurred(img, 2) }},
	{"mirrored", mirrored},
}

var blurs = []float64{0, 0.5, 1, 1.5, 2, 3, 5}

// blanks are pictures of nothing, of noise about one brightness or a slope of it.
var blanks = []struct {
	name         string
	noise, slope float64
}{{"one colour", 0, 0}, {"noise of 1 level", 1, 0}, {"noise of 2 levels", 2, 0}, {"noise of 4 levels", 4, 0}, {"a slope of 6 levels", 1, 6}, {"a slope of 20 levels", 1, 20}}

func main() {
	n := flag.Int("n", 200, "pictures of each folder")
	only := flag.String("only", "copies,blurred,blank,outliers", "what is measured")
	flag.Parse()
	if err := run(context.Background(), *n, strings.Split(*only, ","), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, n int, only, folders []string) error {
	var sets []set
	for _, folder := range folders {
		name, dir, ok := strings.Cut(folder, "=")
		if !ok {
			return fmt.Errorf("%s: want NAME=FOLDER", folder)
		}
		s, err := read(name, dir, n)
		if err != nil {
			return err
		}
		sets = append(sets, s)
	}
	for _, what := range only {
		measure, ok := map[string]func(context.Context, []set) error{"copies": copyTable, "blurred": blurTable, "blank": blankTable, "outliers": outlierTable}[what]
		if !ok {
			return fmt.Errorf("-only %s: want copies, blurred, blank or outliers", what)
		}
		if err := measure(ctx, sets); err != nil {
			return err
		}
	}
	return nil
}

func copyTable(ctx context.Context, sets []set) error {
	return table("copies found, and pictures taken for copies of others, %", sets, copyChanges, func(c change) string { return c.name }, func(s set, c change) (string, error) {
		found, wrong, err := copies(ctx, s, c)
		return fmt.Sprintf("%.1f / %.1f", found, wrong), err
	})
}

func blurTable(ctx context.Context, sets []set) error {
	return table("a tenth of the pictures blurred: called blurred, %, and the 5th, 50th and 95th hundredth of the sharpness", sets, blurs, func(sigma float64) string { return fmt.Sprintf("σ = %g pixels", sigma) }, func(s set, sigma float64) (string, error) {
		return blur(ctx, s, sigma)
	})
}

func blankTable(ctx context.Context, sets []set) error {
	fmt.Println("\nblank pictures called blank, %")
	for _, b := range blanks {
		var all []*image.RGBA
		for i := range 50 {
			all = append(all, blank(uint64(i), b.noise, b.slope))
		}
		of, _, err := look(ctx, all)
		if err != nil {
			return err
		}
		fmt.Printf("| %s | %.0f |\n", b.name, share(pictures.Remarks(of), pictures.Blank))
	}
	for _, s := range sets {
		of, _, err := look(ctx, s.images)
		if err != nil {
			return err
		}
		spread := math.Inf(1)
		for _, l := range of {
			spread = min(spread, l.Spread)
		}
		fmt.Printf("%s: %.1f %% blank, the least spread is %.0f\n", s.name, share(pictures.Remarks(of), pictures.Blank), spread)
	}
	return nil
}

func outlierTable(ctx context.Context, sets []set) error {
	return table("ten pictures of the folder on the left among those of another: outliers among the ten and the others, %", sets, sets, func(s set) string { return s.name }, func(s, other set) (string, error) {
		if other.name == s.name {
			return "–", nil
		}
		among, others, err := outliers(ctx, s, other)
		return fmt.Sprintf("%.0f / %.1f", among, others), err
	})
}

// table prints a table of what cell returns for each of the rows and each set.
func table[R any](title string, sets []set, rows []R, name func(R) string, cell func(set, R) (string, error)) error {
	fmt.Println("\n" + title)
	head := "| "
	for _, s := range sets {
		head += " | " + s.name
	}
	fmt.Println(head + " |")
	for _, r := range rows {
		line := "| " + name(r)
		for _, s := range sets {
			text, err := cell(s, r)
			if err != nil {
				return err
			}
			line += " | " + text
		}
		fmt.Println(line + " |")
	}
	return nil
}

// read returns n of the pictures below a folder.
func read(name, dir string, n int) (set, error) {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if _, _, e := imagefile.Size(path); e == nil {
				files = append(files, path)
			}
		}
		return err
	})
	s := set{name: name}
	for i := 0; i < min(n, len(files)) && err == nil; i++ {
		var img image.Image
		if img, err = imagefile.Decode(files[i*len(files)/min(n, len(files))]); err == nil {
			s.images = append(s.images, features.Thumbnail(img, max(img.Bounds().Dx(), img.Bounds().Dy())))
		}
	}
	return s, err
}

// look returns the looks and thumbnails of pictures.
func look[I image.Image](ctx context.Context, images []I) ([]*pictures.Look, [][]byte, error) {
	looks, thumbnails, errs := make([]*pictures.Look, len(images)), make([][]byte, len(images)), make([]error, len(images))
	err := parallel.Blocks(ctx, 0, len(images), 1, func(_, i, _ int) {
		looks[i], thumbnails[i], errs[i] = pictures.New(imagefile.Reduced(images[i], pictures.Least), images[i].Bounds().Size())
	})
	for _, e := range errs {
		if err == nil {
			err = e
		}
	}
	return looks, thumbnails, err
}

// copies returns how many of the changed pictures of a set, among all of it, are found to be copies of what they
// were made of, and how many of all pictures are taken for copies of others. What stands together
// before anything is changed is not counted.
func copies(ctx context.Context, s set, c change) (found, wrong float64, err error) {
	n := len(s.images)
	var all []image.Image
	for _, img := range s.images {
		all = append(all, img)
	}
	for _, img := range s.images {
		all = append(all, c.do(img))
	}
	of, err := stacks(ctx, all)
	if err != nil {
		return 0, 0, err
	}
	before, err := stacks(ctx, all[:n])
	if err != nil {
		return 0, 0, err
	}
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
	return 100 * found / float64(n), 50 * wrong / float64(n), nil
}

// stacks returns the first of the stack of each picture. Each is held against the 8 most like it by
// their rough pictures.
func stacks(ctx context.Context, all []image.Image) ([]int, error) {
	looks, thumbnails, err := look(ctx, all)
	if err != nil {
		return nil, err
	}
	rough := mat.NewDense(len(all), len(looks[0].Rough()), nil)
	for i, l := range looks {
		rough.SetRow(i, l.Rough())
	}
	near, _, err := factor.Nearest(ctx, rough, 8)
	if err != nil {
		return nil, err
	}
	same := make([]int, len(all))
	for i := range same {
		same[i] = i
	}
	of, _, err := pictures.Copies(ctx, pictures.Source{Looks: looks, Same: same, Near: near, Thumbnail: func(_ context.Context, i int) (image.Image, error) {
		return jpeg.Decode(bytes.NewReader(thumbnails[i]))
	}})
	return of, err
}

// blur tells what share of a tenth of the pictures is called blurred when these are.
func blur(ctx context.Context, s set, sigma float64) (string, error) {
	looks, _, err := look(ctx, s.images)
	if err != nil {
		return "", err
	}
	var changed []*image.RGBA
	for _, img := range s.images {
		changed = append(changed, blurred(img, sigma))
	}
	of, _, err := look(ctx, changed)
	if err != nil {
		return "", err
	}
	called := 0
	var sharpness []float64
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
	at := func(share float64) float64 { return sharpness[int(share*float64(len(sharpness)-1))] }
	return fmt.Sprintf("%.1f (%.2f, %.2f, %.2f)", 100*float64(called)/float64(len(of)), at(0.05), at(0.5), at(0.95)), nil
}

// outliers puts ten pictures of another set among those of one, and returns which share of these
// and of the others are outliers.
func outliers(ctx context.Context, s, other set) (among, others float64, err error) {
	dir, err := os.MkdirTemp("", "pictures-")
	if err != nil {
		return 0, 0, err
	}
	defer os.RemoveAll(dir)
	const strangers = 10
	all := slices.Clone(s.images)
	for i := range strangers {
		all = append(all, other.images[i*len(other.images)/strangers])
	}
	for i, img := range all {
		var file bytes.Buffer
		if err := jpeg.Encode(&file, img, &jpeg.Options{Quality: 95}); err != nil {
			return 0, 0, err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d.jpg", i)), file.Bytes(), 0o644); err != nil {
			return 0, 0, err
		}
	}
	e := spec.Experiment{Data: spec.Data{Set: dir}, Features: spec.Features{Auto: true}}
	in, err := input.Prepare(ctx, &e, input.PrepareOptions{Pictures: true})
	if err != nil {
		return 0, 0, err
	}
	defer in.Close()
	p, err := in.Pictures(ctx, nil)
	if err != nil {
		return 0, 0, err
	}
	for i, probability := range p.Outlier {
		switch {
		case probability == 0:
		case i < len(s.images):
			others += 100 / float64(len(s.images))
		default:
			among += 100.0 / strangers
		}
	}
	return among, others, nil
}

func share(remarks []string, of string) float64 {
	n := 0
	for _, r := range remarks {
		if r == of {
			n++
		}
	}
	return 100 * float64(n) / float64(max(1, len(remarks)))
}

func compressed(img image.Image, quality int) image.Image {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
		panic(err) // of a picture that was decoded
	}
	out, err := jpeg.Decode(&b)
	if err != nil {
		panic(err)
	}
	return out
}

func resized(img *image.RGBA, by float64) image.Image {
	return compressed(features.Thumbnail(img, int(by*float64(max(img.Rect.Dx(), img.Rect.Dy())))), 85)
}

func cropped(img *image.RGBA, least, most float64) image.Image {
	w, h := float64(img.Rect.Dx()), float64(img.Rect.Dy())
	return compressed(img.SubImage(image.Rect(int(least*w), int(least*h), int(w-most*w), int(h-most*h))), 85)
}

func toned(img *image.RGBA, gain, offset float64) image.Image {
	out := image.NewRGBA(img.Rect)
	for i, v := range img.Pix {
		if out.Pix[i] = v; i%4 != 3 {
			out.Pix[i] = uint8(min(max(gain*float64(v)+offset, 0), 255))
		}
	}
	return compressed(out, 85)
}

func mirrored(img *image.RGBA) image.Image {
	out := image.NewRGBA(img.Rect)
	for y := range img.Rect.Dy() {
		for x := range img.Rect.Dx() {
			out.Set(x, y, img.At(img.Rect.Dx()-1-x, y))
		}
	}
	return compressed(out, 85)
}

// blurred returns img under a Gaussian of a standard deviation in pixels, as a JPEG holds it.
func blurred(img *image.RGBA, sigma float64) *image.RGBA {
	out := img
	if sigma > 0 {
		out = convolved(convolved(img, sigma, 1, 0), sigma, 0, 1)
	}
	again := compressed(out, 90)
	back := image.NewRGBA(again.Bounds())
	draw.Draw(back, back.Rect, again, image.Point{}, draw.Src)
	return back
}

func convolved(img *image.RGBA, sigma float64, dx, dy int) *image.RGBA {
	r := int(math.Ceil(3 * sigma))
	kernel, sum := make([]float64, 2*r+1), 0.0
	for i := range kernel {
		kernel[i] = math.Exp(-float64((i-r)*(i-r)) / (2 * sigma * sigma))
		sum += kernel[i]
	}
	out := image.NewRGBA(img.Rect)
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := range h {
		for x := range w {
			var v [4]float64
			for i, k := range kernel {
				u := min(max(x+(i-r)*dx, 0), w-1)
				t := min(max(y+(i-r)*dy, 0), h-1)
				at := img.PixOffset(u, t)
				for c := range 4 {
					v[c] += k * float64(img.Pix[at+c])
				}
			}
			at := out.PixOffset(x, y)
			for c := range 4 {
				out.Pix[at+c] = uint8(v[c]/sum + 0.5)
			}
		}
	}
	return out
}

// blank returns a picture of noise about a brightness that rises by slope levels.
func blank(seed uint64, noise, slope float64) *image.RGBA {
	src := rand.New(rand.NewPCG(seed, 1))
	level := 5 + 240*src.Float64()
	img := image.NewRGBA(image.Rect(0, 0, 400, 300))
	for i := range img.Pix {
		v := level + slope*(float64(i/4%400)/400-0.5) + noise*src.NormFloat64()
		if img.Pix[i] = uint8(min(max(v+0.5, 0), 255)); i%4 == 3 {
			img.Pix[i] = 255
		}
	}
	out := image.NewRGBA(img.Rect)
	draw.Draw(out, out.Rect, compressed(img, 85), image.Point{}, draw.Src)
	return out
}
