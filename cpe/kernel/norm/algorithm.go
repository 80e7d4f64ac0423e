package norm

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// Bands normalises across channels and pools the results, a band of rows at a time.
const Bands shape.Algorithm = "norm-pool-bands"
