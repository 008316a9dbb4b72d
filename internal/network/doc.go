// Package network runs convolutional networks that are saved as ONNX models, for their
// features: in single precision, an image at a time on one core, in both builds.
//
// It reads the operators of plain convolutional networks (ResNet, MobileNet, EfficientNet,
// SqueezeNet, DenseNet) and refuses others by name. A model is a stranger's: every index,
// shape and size in it is checked, and what it may take of memory and of work is bounded.
//
// A network is compiled for one size of images. Maps lie row by row with their channels
// last, so that a convolution is a product of windows, each a few runs of numbers that lie
// side by side, with the weights (an indirect convolution: Dukhan 2019). Normalisation and
// bounds after a convolution become part of it, and memory of maps is used again by what
// comes later.
package network
