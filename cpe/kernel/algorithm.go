package kernel

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

// Matrix products.
const (
	// GemmMesh multiplies blocks on the CPE mesh of a modelled machine.
	GemmMesh shape.Algorithm = "gemm-mesh"
	// GemmMeshSums is GemmMesh where core groups share the sums.
	GemmMeshSums shape.Algorithm = "gemm-mesh-sums"
	// GemmPacked packs blocks of both operands; core groups have equal parts of the result.
	GemmPacked shape.Algorithm = "gemm-packed"
	// GemmPieces is GemmPacked, or GemmPackedRight, where cores take pieces of the result as they get ready.
	GemmPieces shape.Algorithm = "gemm-pieces"
	// GemmPackedRight packs the right operand alone.
	GemmPackedRight shape.Algorithm = "gemm-packed-right"
	// GemmStreamed packs long blocks of a right operand that passes from memory once.
	GemmStreamed shape.Algorithm = "gemm-streamed"
	// GemmUnpacked reads both operands where they lie: they are small.
	GemmUnpacked shape.Algorithm = "gemm-unpacked"
	// GemmSkinny goes through the one large matrix once: another has one or two rows.
	GemmSkinny shape.Algorithm = "gemm-skinny"
	// GemmRowSums is a skinny product whose large matrix is cut into parts of rows, summed apart.
	GemmRowSums shape.Algorithm = "gemm-row-sums"
	// GemmTurned computes the transpose: the left operand has few rows, and the right one, transposed, is large.
	GemmTurned shape.Algorithm = "gemm-turned"
	// GemmNarrow computes the transpose panel by panel: the result has few columns.
	GemmNarrow shape.Algorithm = "gemm-narrow"
)

// Poolings.
const (
	// PoolGlobal makes the mean of each whole plane.
	PoolGlobal shape.Algorithm = "pool-global"
	// PoolPlanes has vector kernels for the window's extent and stride.
	PoolPlanes shape.Algorithm = "pool-planes"
	// PoolColumns pools down the columns first, then along the rows.
	PoolColumns shape.Algorithm = "pool-columns"
	// PoolBlocks makes vectors of channels.
	PoolBlocks shape.Algorithm = "pool-blocks"
	// PoolTiles goes through the windows of tiles one by one.
	PoolTiles shape.Algorithm = "pool-tiles"
	// NormPoolBands normalises across channels and pools, a band of rows at a time.
	NormPoolBands shape.Algorithm = "norm-pool-bands"
)
