package blob

// Shadow is one stretch of memory that stands in for the values and gradients of many blobs, as long as the largest of them. It
// is for nets whose values nobody computes, only what they would cost: such blobs have shapes, are told apart by SharesData
// as others are, and hold rubbish.
type Shadow struct{ of storage }

// New returns a blob of the given shape in the shadow.
func (s *Shadow) New(shape ...int) *Blob {
	b := &Blob{data: &storage{shadow: s}, diff: &storage{shadow: s}}
	b.Reshape(shape...)
	return b
}
