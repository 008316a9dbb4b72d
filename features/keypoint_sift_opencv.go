//go:build native && opencv

package features

import (
	"cmp"
	"fmt"
	"image"

	"github.com/seed4492f2cd/partwise/internal/opencv"
)

func init() { findKeypoints = findByOpenCV }

// findByOpenCV finds and describes key points by OpenCV.
func findByOpenCV(k KeypointSIFT, img *image.Gray) ([]keypoint, error) {
	found, vectors, err := opencv.SIFT{
		Most:     k.MaxPoints,
		Contrast: cmp.Or(k.Contrast, defaultContrast),
		Edge:     cmp.Or(k.Edge, defaultEdge),
		Sigma:    cmp.Or(k.Sigma, defaultSigma),
	}.Find(img)
	if err != nil {
		return nil, fmt.Errorf("OpenCV failed to find key points: %w", err)
	}
	points := make([]keypoint, len(found))
	for i, p := range found {
		points[i] = keypoint{x: float64(p.X), y: float64(p.Y), diameter: float64(p.Size), angle: float64(p.Angle), contrast: float64(p.Response)}
		for j, v := range vectors[i*siftDim:][:siftDim] {
			points[i].vector[j] = uint8(v)
		}
	}
	return points, nil
}
