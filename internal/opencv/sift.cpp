//go:build native && opencv

#include "sift.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <vector>

#include <opencv2/core.hpp>
#include <opencv2/features2d.hpp>

// The SIFT of Lowe 2004 has three layers an octave.
static const int layers = 3;
static const int dimensions = 128;

template <typename T> static T *room(size_t n) {
  T *p = static_cast<T *>(std::malloc(n * sizeof(T)));
  if (p == NULL) throw std::bad_alloc();
  return p;
}

char *sift(const unsigned char *pixels, int height, int width, settings s, int find,
           keypoint **points, float **vectors, int *count) {
  keypoint *made = NULL;
  try {
    // Images are in work side by side, each on one thread.
    cv::setNumThreads(1);
    const cv::Mat image(height, width, CV_8UC1, const_cast<unsigned char *>(pixels));
    std::vector<cv::KeyPoint> found;
    for (int i = 0; !find && i < *count; i++) {
      const keypoint &p = (*points)[i];
      found.push_back(cv::KeyPoint(p.x, p.y, p.size, p.angle, p.response));
    }
    cv::Mat out;
    cv::Ptr<cv::SIFT> with = cv::SIFT::create(s.most, layers, s.contrast, s.edge, s.sigma);
    with->detectAndCompute(image, cv::noArray(), found, out, !find);
    if (!found.empty() && (size_t(out.rows) != found.size() || out.cols != dimensions || out.type() != CV_32F || !out.isContinuous()))
      return strdup("OpenCV's descriptors have another shape than its key points");
    made = room<keypoint>(found.size() + 1);
    float *values = room<float>(found.size() * dimensions + 1);
    for (size_t i = 0; i < found.size(); i++) {
      const cv::KeyPoint &p = found[i];
      made[i] = keypoint{p.pt.x, p.pt.y, p.size, p.angle, p.response};
    }
    if (!found.empty()) std::memcpy(values, out.data, found.size() * dimensions * sizeof(float));
    *points = made;
    *vectors = values;
    *count = int(found.size());
    return NULL;
  } catch (const std::exception &e) {
    std::free(made);
    return strdup(e.what());
  } catch (...) {
    std::free(made);
    return strdup("OpenCV failed");
  }
}
