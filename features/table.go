package features

// extractors is the list of extractors.
var extractors = []Info{
	{
		Name: "pixels", Title: "Pixels", Help: "the grey or colour values of the image at one size",
		Images: "takes images at one size", KeepsShape: true, Zero: Pixels{},
	},
	{
		Name: "hog", Title: "Histograms of oriented gradients", Help: "8×8 cells of 8 orientations, for things that fill the image (Dalal and Triggs 2005)",
		Images: "takes 32×32 greys", Zero: HOG{},
	},
	{
		Name: "colour", Form: "hsv", Title: "Colour histograms", Help: "histograms of hue, saturation and value in the cells of a grid",
		Images: "takes 64×64 colours", Colour: true, Cached: true, Zero: ColourHistogram{},
	},
	{
		Name: "network", Form: lite0, Title: "A convolutional network", Help: "pooled features of a network that was trained on photographs, EfficientNet-Lite0 or an ONNX model (Tan and Le 2019)",
		Images: "takes the middle squares of colour images", Cached: true, Zero: Network{},
	},
	{
		Name: "sift", Form: "dense", Title: "Dense SIFT", Help: "descriptors of the patches of a grid, for visual words (Lowe 2004; Ambai et al. 2011)",
		Images: "describes the photographs as they are", MinSide: 64, Zero: DenseSIFT{},
	},
	{
		Name: "sift", Form: "keypoints", Title: "SIFT at key points", Help: "descriptors of the points that stand out, for visual words; needs the build with OpenCV (Lowe 2004)",
		Images: "describes the photographs as they are", MinSide: 64, Zero: KeypointSIFT{},
	},
}
