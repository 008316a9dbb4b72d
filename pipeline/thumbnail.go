package pipeline

import (
	"context"
	"image"

	"github.com/seed4492f2cd/partwise/features"
)

// ThumbnailSide is the longer side of a thumbnail, in pixels, at most.
const ThumbnailSide = 160

// Thumbnail returns a small picture of what row i of X was made of: upright, in colour,
// laid over white, its longer side of at most ThumbnailSide pixels. Pictures that are
// smaller are as they are. Several goroutines may call it at once. Errors are those of
// Image.
func (in *Inputs) Thumbnail(ctx context.Context, i int) (small image.Image, err error) {
	need := func(width, height int) int64 {
		return features.ThumbnailMemory(image.Pt(width, height), ThumbnailSide)
	}
	err = in.images.With(ctx, in.Rows[i], need, func(img image.Image) error {
		small = features.Thumbnail(img, ThumbnailSide)
		return nil
	})
	return small, err
}
