//go:build opencv

package features

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"sync"

	"gocv.io/x/gocv"

	"github.com/seed4492f2cd/partwise/internal/guard"
)

func init() {
	findKeypoints = findByOpenCV
	gocv.SetNumThreads(1) // images are processed concurrently
}

// openCV is read-locked by calls of OpenCV. OpenCV's last exception is global, so a call that checks it takes the write
// lock.
var openCV sync.RWMutex

// findByOpenCV detects and describes key points with OpenCV.
func findByOpenCV(k KeypointSIFT, img *image.Gray) (points []keypoint, err error) {
	openCV.RLock()
	points, err = detectAndCompute(k, img)
	openCV.RUnlock()
	if len(points) == 0 && err == nil {
		// gocv also returns no points after an exception: repeat the call alone to distinguish.
		openCV.Lock()
		defer openCV.Unlock()
		gocv.ClearLastException()
		points, err = detectAndCompute(k, img)
		err = errors.Join(err, gocv.LastExceptionError())
	}
	return points, guard.Wrap(err, "OpenCV failed to find key points")
}

func detectAndCompute(k KeypointSIFT, img *image.Gray) ([]keypoint, error) {
	sift := newSIFT(k.MaxPoints, cmp.Or(k.Sigma, 1.6), k)
	defer sift.Close()
	picture, err := gocv.ImageGrayToMatGray(img)
	if err != nil {
		return nil, err
	}
	defer picture.Close()
	mask := gocv.NewMat()
	defer mask.Close()
	found, descriptors := sift.DetectAndCompute(picture, mask)
	defer descriptors.Close()
	if len(found) == 0 {
		return nil, nil
	}
	vectors, err := siftVectors(descriptors, len(found))
	if err != nil {
		return nil, err
	}
	points := make([]keypoint, len(found))
	for i, p := range found {
		points[i] = keypoint{x: p.X, y: p.Y, diameter: p.Size, angle: p.Angle, contrast: p.Response}
		for j, v := range vectors[i*siftDim:][:siftDim] {
			points[i].vector[j] = uint8(v)
		}
	}
	return points, nil
}

// newSIFT returns the detector with three layers per octave (Lowe 2004).
func newSIFT(most int, sigma float64, k KeypointSIFT) gocv.SIFT {
	layers, contrast, edge := 3, cmp.Or(k.Contrast, 0.04), cmp.Or(k.Edge, 10)
	return gocv.NewSIFTWithParams(&most, &layers, &contrast, &edge, &sigma)
}

// siftVectors returns the n×128 values of descriptors, valid until descriptors is closed.
func siftVectors(descriptors gocv.Mat, n int) ([]float32, error) {
	if descriptors.Rows() != n || descriptors.Cols() != siftDim {
		return nil, fmt.Errorf("%d×%d descriptors for %d key points", descriptors.Rows(), descriptors.Cols(), n)
	}
	return descriptors.DataPtrFloat32()
}
