package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// Convolutions of empty images, and those that reduce to another problem first.
const (
	// NoConv computes nothing: there are no images or no results.
	NoConv shape.Algorithm = "nothing"
	// Covering multiplies matrices: kernels are as large as images. The product's algorithm follows.
	Covering shape.Algorithm = "covering"
	// Folded brings a block of stride x stride pixels into the channels of one, so that Winograd's algorithm applies, whose name follows.
	Folded shape.Algorithm = "folded"
	// Thinned gathers the pixels that the strides of a 1x1 kernel meet, and convolves them with the algorithm that follows.
	Thinned shape.Algorithm = "thinned"
)

// Explicit convolutions, which multiply column matrices in memory.
const (
	// ExplicitGemm writes the column matrix of a band of outputs (im2col) and multiplies.
	ExplicitGemm shape.Algorithm = "explicit-gemm"
	// ExplicitPointwise multiplies images themselves, image by image: kernels are 1x1.
	ExplicitPointwise shape.Algorithm = "explicit-pointwise"
	// ExplicitBatched writes the column matrices of all images of a core group before it multiplies.
	ExplicitBatched shape.Algorithm = "explicit-batched"
)

// Implicit convolutions of the host, which write no column matrix.
const (
	// ImplicitGathered packs panels of the column matrix straight from the images of the whole batch.
	ImplicitGathered shape.Algorithm = "implicit-gathered"
	// ImplicitPointwise multiplies the images of the whole batch where they lie: kernels are 1x1.
	ImplicitPointwise shape.Algorithm = "implicit-pointwise"
	// ImplicitPadded copies a padded band of an image, in which every kernel offset is a shift, and multiplies what it reads there.
	ImplicitPadded shape.Algorithm = "implicit-padded"
	// ImplicitShiftedWeights sums the weights' gradient over padded bands, in which every kernel offset is a shift.
	ImplicitShiftedWeights shape.Algorithm = "implicit-shifted-weights"
	// ImplicitPhases computes the images' gradient apart for each remainder of the pixels' places by the strides.
	ImplicitPhases shape.Algorithm = "implicit-phases"
	// ImplicitSpread multiplies for all kernel offsets and adds each product to the images' gradient at its shift: pixels are few.
	ImplicitSpread shape.Algorithm = "implicit-spread"
	// Offsets makes vectors of output channels from a padded band, value by value: images have few channels or few pixels.
	Offsets shape.Algorithm = "offsets"
	// OffsetsWeights is the weights' gradient in vectors of output channels.
	OffsetsWeights shape.Algorithm = "offsets-weights"
	// OffsetsPooled is Offsets with maximum pooling of each band of results.
	OffsetsPooled shape.Algorithm = "offsets-pooled"
	// OffsetsPooledWeights is OffsetsWeights from the gradient of pooled results.
	OffsetsPooledWeights shape.Algorithm = "offsets-pooled-weights"
	// Planes makes vectors of pixels from a copy of the image for each kernel column: output channels would not fill vectors.
	Planes shape.Algorithm = "planes"
	// PlanesPooled is Planes with maximum pooling of each image's results.
	PlanesPooled shape.Algorithm = "planes-pooled"
	// PlanesPooledWeights adds up the inputs of those results alone that maximum pooling took.
	PlanesPooledWeights shape.Algorithm = "planes-pooled-weights"
	// PointwiseBlocked multiplies images in blocks of channels where they lie: kernels are 1x1.
	PointwiseBlocked shape.Algorithm = "pointwise-blocked"
	// PointwiseBlockedWeights is the weights' gradient of a 1x1 kernel from images in blocks of channels.
	PointwiseBlockedWeights shape.Algorithm = "pointwise-blocked-weights"
	// DepthwiseBands convolves bands of a block of channels, each with kernels of its own.
	DepthwiseBands shape.Algorithm = "depthwise-bands"
	// DepthwiseWeights is the weights' gradient where every channel has kernels of its own.
	DepthwiseWeights shape.Algorithm = "depthwise-weights"
)

// Winograd's convolutions, which multiply in the transform domain. The strategy says with which tiles.
const (
	// WinogradTiles maps all weights once; core groups share the tiles.
	WinogradTiles shape.Algorithm = "winograd-tiles"
	// WinogradTilesPooled is WinogradTiles with maximum pooling of each slice of an image's results.
	WinogradTilesPooled shape.Algorithm = "winograd-tiles-pooled"
	// WinogradPanels maps the tiles of a block once; core groups share panels of outputs: weights are many or tiles few.
	WinogradPanels shape.Algorithm = "winograd-panels"
	// WinogradSums keeps the sums of the weights' gradient for all blocks of tiles.
	WinogradSums shape.Algorithm = "winograd-sums"
	// WinogradPanelSums adds to the weights' gradient block by block of tiles; core groups share panels: weights are many or tiles few.
	WinogradPanelSums shape.Algorithm = "winograd-panel-sums"
	// WinogradSmall computes a gradient in a core group's cache from a block of small images of few channels.
	WinogradSmall shape.Algorithm = "winograd-small"
	// WinogradSmallJoint is WinogradSmall for both gradients at once.
	WinogradSmallJoint shape.Algorithm = "winograd-small-joint"
	// WinogradSmallPooled is WinogradSmall from the gradient of pooled results.
	WinogradSmallPooled shape.Algorithm = "winograd-small-pooled"
	// WinogradSmallJointPooled is WinogradSmallJoint from the gradient of pooled results.
	WinogradSmallJointPooled shape.Algorithm = "winograd-small-joint-pooled"
	// WinogradMesh multiplies at each point on the CPE mesh of a modelled machine, over the tiles of all images.
	WinogradMesh shape.Algorithm = "winograd-mesh"
)

// Implicit convolutions of modelled machines.
const (
	// MeshBatch is swDNN's: each position is a product of weights and a core group's images.
	MeshBatch shape.Algorithm = "mesh-batch"
	// MeshRows is MeshBatch with all images in each product; core groups share rows.
	MeshRows shape.Algorithm = "mesh-rows"
	// MeshTaps is the original swCaffe's: each pixel is fetched once, and the weights of its kernel offsets each time.
	MeshTaps shape.Algorithm = "mesh-taps"
)

// Poolings.
const ()
