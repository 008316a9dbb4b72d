package figure

import (
	"bytes"
	"fmt"
	"image"
	"testing"

	"github.com/seed4492f2cd/partwise/report/internal/reporttest"
)

// Tiles never overlap, and none is cut off.
func TestGallery(t *testing.T) {
	for seed := range 30 {
		var tiles []GalleryTile
		area := 0
		for i := range 1 + seed%9 {
			w, h := 1+int(160*(1+reporttest.Noise("w", seed, i))), 1+int(160*(1+reporttest.Noise("h", seed, i)))
			drawing := image.NewRGBA(image.Rect(0, 0, w, h))
			fillRect(drawing, drawing.Rect, blue)
			tiles = append(tiles, GalleryTile{Drawing: drawing})
			area += w * h
		}
		img := gallery(tiles, 20, image.Pt(100, 30))
		found := 0
		for i := 0; i < len(img.Pix); i += 4 {
			if bytes.Equal(img.Pix[i:i+4], []byte{blue.R, blue.G, blue.B, 255}) {
				found++
			}
		}
		if found != area {
			t.Errorf("seed %d: %d pixels of the tiles are seen, want %d", seed, found, area)
		}
		if img.Rect.Dx() > 1024 {
			t.Errorf("seed %d: %d pixels wide", seed, img.Rect.Dx())
		}
	} // Narrow tiles leave each other room for their captions.
	narrow := GalleryTile{Drawing: image.NewRGBA(image.Rect(0, 0, 1, 1)), Caption: "a caption that is too long for it"}
	img := gallery([]GalleryTile{narrow, narrow}, 0, image.Point{})
	if want := 2*(minTile+sheetGap) + sheetGap; img.Rect.Dx() != want {
		t.Errorf("two narrow tiles are %d pixels wide, want %d", img.Rect.Dx(), want)
	}
}

// TestGalleryPictures: photos with marks, one of them unreadable.
func TestGalleryPictures(t *testing.T) {
	tiles := []GalleryTile{{Caption: "unreadable.jpg"}}
	for i := range 3 {
		drawn := mark(t, hills(100, 80), scattered(uint64(i), 12, 3, 100, 80), boxed{Box: 100 + 50*i, Numbers: true})
		tiles = append(tiles, GalleryTile{drawn, fmt.Sprintf("shore/a photo with a long name %d.jpg", i)})
	}
	goldenImage(t, "gallery-examples.png", Examples(tiles, 3))
	goldenImage(t, "gallery-row.png", PartRow(tiles[1:], 1))
}
