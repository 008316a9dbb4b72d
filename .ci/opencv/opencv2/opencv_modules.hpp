// The modules whose headers gocv includes. OpenCV's own file names all modules that Debian builds, also
// those whose headers are not installed.
#define HAVE_OPENCV_CORE
#define HAVE_OPENCV_FEATURES2D
#define HAVE_OPENCV_FLANN
#define HAVE_OPENCV_IMGCODECS
#define HAVE_OPENCV_IMGPROC
