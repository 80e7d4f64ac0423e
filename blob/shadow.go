package blob

// Shadow is one memory that many blobs use for their values and gradients, as long as the largest of them. It is for nets whose cost is
// modelled and whose values are never computed. Such blobs have shapes and undefined values; SharesData and SharesDiff still tell them
// apart.
type Shadow struct{ of storage }

// New returns a blob of the given shape in the shadow.
func (s *Shadow) New(shape ...int) *Blob {
	b := &Blob{data: &storage{shadow: s}, diff: &storage{shadow: s}}
	b.Reshape(shape...)
	return b
}
