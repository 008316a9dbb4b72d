package features

import (
	"errors"
	"image"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/seed4492f2cd/partwise/internal/files/cache"
)

// memoryCache is a cache in memory.
type memoryCache struct {
	mu      sync.Mutex
	entries map[cache.Key][]byte
}

func (c *memoryCache) Get(key [32]byte) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	blob, ok := c.entries[key]
	return slices.Clone(blob), ok
}

func (c *memoryCache) SizeOf(key [32]byte) (int64, bool) {
	blob, ok := c.Get(key)
	return int64(len(blob)), ok
}

func (c *memoryCache) Put(key [32]byte, blob []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[cache.Key][]byte{}
	}
	c.entries[key] = blob
}

// counted is dense SIFT that counts the images that it describes.
type counted struct {
	DenseSIFT
	calls *int
	mu    *sync.Mutex
}

func (c counted) Extract(img image.Image) (*Descriptors, error) {
	c.mu.Lock()
	*c.calls++
	c.mu.Unlock()
	return c.DenseSIFT.Extract(img)
}

// Descriptors are those of the extractor with a cache and without, and images are
// described once where there is a cache. What has none is an error or left out.
func TestDescribe(t *testing.T) {
	images := []image.Image{waves(40, 50, 0), waves(8, 50, 1), waves(64, 32, 2), nil}
	set := fileSet(t, images...)
	by := counted{calls: new(int), mu: new(sync.Mutex)}
	kept := &memoryCache{}
	for run, want := range []int{2, 0} {
		*by.calls = 0
		d, err := Describe(t.Context(), set, by, Options{SkipBad: true, Cache: kept})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(d.Rows, []int{0, 2}) || len(d.Skipped) != 2 || !errors.Is(d.Skipped[0], ErrNoDescriptors) || !strings.Contains(d.Skipped[1].Error(), "03.png") {
			t.Errorf("rows %v, left out %v", d.Rows, d.Skipped)
		}
		if err := d.Each(t.Context(), d.Rows, nil, func(at int, found *Descriptors) error {
			i := d.Rows[at]
			want, err := DenseSIFT{}.Extract(images[i])
			if err != nil {
				return err
			}
			if !slices.Equal(found.Vectors, want.Vectors) || !slices.Equal(found.X, want.X) || found.Len() != d.Len(i) {
				t.Errorf("run %d: sample %d has other descriptors", run, i)
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
		// The image without descriptors is one that is described, and kept.
		if *by.calls > want+1 || run == 1 && *by.calls != 0 {
			t.Errorf("run %d: %d images were described", run, *by.calls)
		}
	}
	if _, err := Describe(t.Context(), set, DenseSIFT{}, Options{}); !errors.Is(err, ErrNoDescriptors) || !strings.Contains(err.Error(), "01.png") {
		t.Errorf("an image without descriptors: %v", err)
	}
	for want, try := range map[string]func() error{
		"crop does not go with sift": func() error {
			_, err := Describe(t.Context(), set, DenseSIFT{}, Options{Crop: Square{}})
			return err
		},
		"a step of -1": func() error {
			_, err := Describe(t.Context(), set, DenseSIFT{Step: -1}, Options{})
			return err
		},
		"holds no images, and sift": func() error {
			_, err := Describe(t.Context(), vectorSet(mat.NewDense(1, 2, nil), 0, 0), DenseSIFT{}, Options{})
			return err
		},
		"no samples": func() error {
			_, err := Describe(t.Context(), set.Subset(nil), DenseSIFT{}, Options{})
			return err
		},
	} {
		if err := try(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

// TestEachPanics: a panic in a goroutine that works on an image is the error of that
// image.
func TestEachPanics(t *testing.T) {
	set := fileSet(t, waves(40, 40, 0), waves(40, 40, 1), waves(40, 40, 2))
	d, err := Describe(t.Context(), set, DenseSIFT{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Each(t.Context(), []int{2, 1, 0}, nil, func(at int, _ *Descriptors) error {
		if at == 1 {
			panic("fault")
		}
		return nil
	})
	if err == nil || !strings.HasPrefix(err.Error(), "01.png: ") || !strings.Contains(err.Error(), "fault") {
		t.Errorf("got %v", err)
	}
}
