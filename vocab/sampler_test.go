package vocab

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed4492f2cd/partwise/features"
	"github.com/seed4492f2cd/partwise/internal/rng"
)

// A named image for a Sampler.
type named struct {
	name string
	*features.Descriptors
}

// numbered returns images with these numbers of descriptors. A descriptor holds the
// numbers of its image and its own.
func numbered(sizes ...int) []named {
	images := make([]named, len(sizes))
	for i, size := range sizes {
		var rows []uint8
		for p := range size {
			rows = append(rows, uint8(i), uint8(p>>8), uint8(p))
		}
		images[i] = named{fmt.Sprintf("image %d", i), descriptors(rows, 3)}
	}
	return images
}

func addAll(t *testing.T, s *Sampler, images []named) {
	t.Helper()
	for _, d := range images {
		if err := s.Add(d.name, d.Descriptors); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSamplerDoesNotDependOnOrder(t *testing.T) {
	images := numbered(1000, 10, 0, 300, 50, 777, 1, 20)
	for _, bounds := range []struct{ total, perImage int }{{200, 0}, {0, 40}, {100, 30}, {1, 0}} {
		first := &Sampler{Total: bounds.total, PerImage: bounds.perImage, Seed: 3}
		addAll(t, first, images)
		want, dim := first.Sample()
		if dim != 3 || len(want) == 0 {
			t.Fatalf("a sample of %d bytes, dim %d", len(want), dim)
		}
		random := rng.New(1, "order")
		for range 5 {
			random.Shuffle(len(images), func(i, j int) { images[i], images[j] = images[j], images[i] })
			s := &Sampler{Total: bounds.total, PerImage: bounds.perImage, Seed: 3}
			var group sync.WaitGroup
			for _, d := range images {
				group.Go(func() {
					if err := s.Add(d.name, d.Descriptors); err != nil {
						t.Error(err)
					}
				})
			}
			group.Wait()
			if got, _ := s.Sample(); !bytes.Equal(got, want) {
				t.Fatalf("another order gives another sample with %d in all and %d an image", bounds.total, bounds.perImage)
			}
		}
		other := &Sampler{Total: bounds.total, PerImage: bounds.perImage, Seed: 4}
		addAll(t, other, images)
		if got, _ := other.Sample(); bytes.Equal(got, want) {
			t.Error("another seed gives the same sample")
		}
	}
}

// Images with equal names get the same random numbers, and their descriptors decide.
func TestSamplerOfOneName(t *testing.T) {
	images := numbered(40, 40, 40)
	var want []uint8
	for first := range images {
		s := &Sampler{Total: 50}
		for i := range images {
			if err := s.Add("name", images[(first+i)%len(images)].Descriptors); err != nil {
				t.Fatal(err)
			}
		}
		got, _ := s.Sample()
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("the order of images changes the sample")
		}
	}
}

func TestSamplerBounds(t *testing.T) {
	images := numbered(1000, 10, 300)
	for _, test := range []struct {
		total, perImage int
		want            []int // descriptors of each image, where that is certain
	}{
		{0, 0, []int{1000, 10, 300}},
		{0, 100, []int{100, 10, 100}},
		{210, 100, []int{100, 10, 100}},
	} {
		s := &Sampler{Total: test.total, PerImage: test.perImage}
		addAll(t, s, images)
		vectors, _ := s.Sample()
		got := make([]int, len(images))
		seen := map[string]bool{}
		late := false
		for x := range slices.Chunk(vectors, 3) {
			got[x[0]]++
			late = late || x[0] == 0 && x[1] == 3
			if seen[string(x)] {
				t.Errorf("descriptor %v was taken twice", x)
			}
			seen[string(x)] = true
		}
		if !slices.Equal(got, test.want) {
			t.Errorf("%d in all, %d an image: got %v, want %v", test.total, test.perImage, got, test.want)
		}
		if !late {
			t.Errorf("%d in all, %d an image: none of the last descriptors of image 0", test.total, test.perImage)
		}
	}
}

// All descriptors are equally likely: of 2000 sampled from 20 images of 1000, each image has about 100.
func TestSamplerIsFair(t *testing.T) {
	s := &Sampler{Total: 2000}
	addAll(t, s, numbered(slices.Repeat([]int{1000}, 20)...))
	vectors, _ := s.Sample()
	if len(s.kept) != 2000 {
		t.Errorf("%d descriptors are kept", len(s.kept))
	}
	var images [20]int
	firstHalf := 0
	places := map[[2]uint8]bool{}
	for x := range slices.Chunk(vectors, 3) {
		images[x[0]]++
		places[[2]uint8(x[1:])] = true
		if int(x[1])<<8+int(x[2]) < 500 {
			firstHalf++
		}
	}
	for i, n := range images {
		if n < 60 || n > 140 {
			t.Errorf("%d of image %d", n, i)
		}
	}
	// Images draw different positions: 2000 draws miss about 1000·e⁻² of 1000 positions.
	if n := len(places); n < 820 || n > 910 {
		t.Errorf("%d places were drawn of 1000", n)
	}
	if firstHalf < 900 || firstHalf > 1100 {
		t.Errorf("%d from the first half of the images", firstHalf)
	}
}

func TestSamplerErrors(t *testing.T) {
	for _, test := range []struct {
		s    *Sampler
		d    *features.Descriptors
		want string
	}{
		{&Sampler{Total: -1}, &features.Descriptors{}, "-1 descriptors, 0 per image"},
		{&Sampler{PerImage: -2}, &features.Descriptors{}, "0 descriptors, -2 per image"},
		{&Sampler{}, &features.Descriptors{Vectors: make([]uint8, 5), X: make([]float32, 1), Dim: 3}, `image "a": 5 bytes are not 1 descriptors of 3`},
		{&Sampler{}, &features.Descriptors{Vectors: make([]uint8, 5), X: make([]float32, 1)}, "descriptors of 0"},
		{&Sampler{dim: 4}, descriptors(make([]uint8, 6), 3), `image "a": descriptors of 3 numbers; expected 4`},
	} {
		if err := test.s.Add("a", test.d); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got error %v, want %q", err, test.want)
		}
	}
	var empty Sampler
	if vectors, dim := empty.Sample(); len(vectors) != 0 || dim != 0 {
		t.Errorf("an empty sample has %d bytes, dim %d", len(vectors), dim)
	}
}
