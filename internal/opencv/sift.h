// The SIFT of OpenCV for C.
#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  float x, y, size, angle, response;
} keypoint;

typedef struct {
  int most;
  double contrast, edge, sigma;
} settings;

// sift finds and describes the key points of an image of height×width bytes, or with
// find = 0 describes the count given ones. It returns NULL and the points with their
// descriptors, count×128, which the caller frees, or what went wrong, which he frees as well.
char *sift(const unsigned char *pixels, int height, int width, settings s, int find,
           keypoint **points, float **vectors, int *count);

#ifdef __cplusplus
}
#endif
