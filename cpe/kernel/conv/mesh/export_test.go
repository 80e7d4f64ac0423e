package mesh

// Columns and Rowwise are the blocking of mesh-taps and the choice between mesh-rows and mesh-batch.
var (
	Columns = tapColumns
	Rowwise = sharesRows
)
