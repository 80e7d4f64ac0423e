package blob

// NewShadow returns a blob of the given shape without memory of its own, for nets whose cost is modelled and whose values are never
// computed. Its values and gradients are undefined and change with those of any other such blob (pages.Undefined). SharesData and SharesDiff
// still tell the blobs apart.
func NewShadow(shape ...int) *Blob {
	b := &Blob{data: &storage{shadow: true}, diff: &storage{shadow: true}}
	b.Reshape(shape...)
	return b
}
