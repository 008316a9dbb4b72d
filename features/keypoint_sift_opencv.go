//go:build native && gocv_specific_modules && gocv_features2d

package features

import (
	"cmp"
	"errors"
	"image"

	"gocv.io/x/gocv"
)

func init() {
	// Images are in work side by side, each on one thread.
	gocv.SetNumThreads(1)
	findKeypoints = findByOpenCV
}

// findByOpenCV finds and describes key points by OpenCV. Its exceptions are lost
// on the way to Go, so what comes back is checked.
func findByOpenCV(k KeypointSIFT, img *image.Gray) ([]keypoint, error) {
	pixels := gocv.NewMatWithSize(img.Rect.Dy(), img.Rect.Dx(), gocv.MatTypeCV8UC1)
	defer pixels.Close()
	if pix, err := pixels.DataPtrUint8(); err != nil || copy(pix, img.Pix) < len(img.Pix) {
		return nil, errors.New("OpenCV has no memory for the image")
	}
	contrast, edge, sigma := cmp.Or(k.Contrast, defaultContrast), cmp.Or(k.Edge, defaultEdge), cmp.Or(k.Sigma, defaultSigma)
	sift := gocv.NewSIFTWithParams(&k.MaxPoints, nil, &contrast, &edge, &sigma)
	defer sift.Close()
	everywhere := gocv.NewMat()
	defer everywhere.Close()
	found, vectors := sift.DetectAndCompute(pixels, everywhere)
	defer vectors.Close()
	if vectors.Rows() != len(found) || vectors.Cols() != siftDim {
		return nil, errors.New("OpenCV failed to find key points")
	}
	points := make([]keypoint, len(found))
	if len(points) == 0 {
		return points, nil
	}
	values, err := vectors.DataPtrFloat32()
	if err != nil {
		return nil, err
	}
	for i, p := range found {
		points[i] = keypoint{x: p.X, y: p.Y, diameter: p.Size, angle: p.Angle, contrast: p.Response}
		for j, v := range values[i*siftDim : (i+1)*siftDim] {
			points[i].vector[j] = uint8(v)
		}
	}
	return points, nil
}
