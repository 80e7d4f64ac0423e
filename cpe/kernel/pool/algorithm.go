package pool

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// Global makes the mean of each whole plane.
const Global shape.Algorithm = "pool-global"

// ByPlanes has vector kernels for the window's extent and stride.
const ByPlanes shape.Algorithm = "pool-planes"

// ByColumns pools down the columns first, then along the rows.
const ByColumns shape.Algorithm = "pool-columns"

// ByBlocks makes vectors of channels.
const ByBlocks shape.Algorithm = "pool-blocks"

// ByTiles goes through the windows of tiles one by one.
const ByTiles shape.Algorithm = "pool-tiles"
