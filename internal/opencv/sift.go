//go:build native && opencv

package opencv

/*
#cgo CXXFLAGS: -std=c++11 -I/usr/include/opencv4 -I/usr/local/include/opencv4
#cgo LDFLAGS: -lopencv_features2d -lopencv_core
#include <stdlib.h>
#include "sift.h"
*/
import "C"

import (
	"errors"
	"image"
	"slices"
	"strings"
	"unsafe"
)

// Dim is the number of values of a descriptor.
const Dim = 128

// SIFT holds the settings of cv::SIFT.
type SIFT struct {
	// Most is the largest number of key points, those of most contrast; 0 means all.
	Most int
	// Contrast, Edge and Sigma are contrastThreshold, edgeThreshold and sigma.
	Contrast, Edge, Sigma float64
}

// KeyPoint is a cv::KeyPoint.
type KeyPoint struct{ X, Y, Size, Angle, Response float32 }

// Find finds key points and returns them with their descriptors, one after another.
func (s SIFT) Find(img *image.Gray) ([]KeyPoint, []float32, error) { return s.call(img, nil, true) }

// Describe returns the descriptors of the points that are given. It returns those
// points that OpenCV describes.
func (s SIFT) Describe(img *image.Gray, points []KeyPoint) ([]KeyPoint, []float32, error) {
	return s.call(img, points, false)
}

func (s SIFT) call(img *image.Gray, given []KeyPoint, find bool) ([]KeyPoint, []float32, error) {
	size := img.Rect.Size()
	if size.X == 0 || size.Y == 0 {
		return nil, nil, errors.New("an image without pixels")
	}
	pixels := make([]byte, 0, size.X*size.Y) // rows without gaps
	for y := range size.Y {
		pixels = append(pixels, img.Pix[y*img.Stride:][:size.X]...)
	}
	count := C.int(len(given))
	// OpenCV reads the points that are given from memory of C's.
	points := (*C.keypoint)(C.malloc(C.size_t(len(given)+1) * C.sizeof_keypoint))
	in := points
	defer C.free(unsafe.Pointer(in))
	copy(unsafe.Slice((*KeyPoint)(unsafe.Pointer(points)), len(given)), given)
	var vectors *C.float
	finding := C.int(0)
	if find {
		finding = 1
	}
	with := C.settings{most: C.int(s.Most), contrast: C.double(s.Contrast), edge: C.double(s.Edge), sigma: C.double(s.Sigma)}
	if message := C.sift((*C.uchar)(&pixels[0]), C.int(size.Y), C.int(size.X), with, finding, &points, &vectors, &count); message != nil {
		defer C.free(unsafe.Pointer(message))
		return nil, nil, errors.New(strings.TrimSpace(C.GoString(message)))
	}
	defer C.free(unsafe.Pointer(points))
	defer C.free(unsafe.Pointer(vectors))
	return slices.Clone(unsafe.Slice((*KeyPoint)(unsafe.Pointer(points)), count)),
		slices.Clone(unsafe.Slice((*float32)(unsafe.Pointer(vectors)), int(count)*Dim)), nil
}
