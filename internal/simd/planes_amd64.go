package simd

// maxPlane pools a block of columns of n rows of outputs.
func (l *level) maxPlane(s *PoolShape, dst *float32, mask *int32, src *float32, col int, rows *poolRow, table *int32, ldo, n int) {
	at := &rows.offset
	switch wide := l.width == 16; {
	case wide && s.K == 2:
		maxPlane2x2AVX512(dst, mask, src, col, at, table, ldo, n)
	case wide && s.S == 2:
		maxPlane3x2AVX512(dst, mask, src, col, at, table, ldo, n)
	case wide:
		maxPlane3x1AVX512(dst, mask, src, col, at, table, ldo, n)
	case s.K == 2:
		maxPlane2x2AVX2(dst, mask, src, col, at, table, ldo, n)
	case s.S == 2:
		maxPlane3x2AVX2(dst, mask, src, col, at, table, ldo, n)
	default:
		maxPlane3x1AVX2(dst, mask, src, col, at, table, ldo, n)
	}
}

// avePlane pools a block of columns of n rows of outputs.
func (l *level) avePlane(s *PoolShape, dst, src *float32, col int, rows *poolRow, table *int32, ldo, n int) {
	at := &rows.offset
	switch wide := l.width == 16; {
	case wide && s.K == 2:
		avePlane2x2AVX512(dst, src, col, at, table, ldo, n)
	case wide && s.S == 2:
		avePlane3x2AVX512(dst, src, col, at, table, ldo, n)
	case wide:
		avePlane3x1AVX512(dst, src, col, at, table, ldo, n)
	case s.K == 2:
		avePlane2x2AVX2(dst, src, col, at, table, ldo, n)
	case s.S == 2:
		avePlane3x2AVX2(dst, src, col, at, table, ldo, n)
	default:
		avePlane3x1AVX2(dst, src, col, at, table, ldo, n)
	}
}

// maxPlaneGrad works out the gradient of a block of columns of n rows of inputs.
func (l *level) maxPlaneGrad(s *PoolShape, dx, dy *float32, mask *int32, rows *gradRow, b *poolBlock, n int) {
	at, table := &rows.offset, &b.table[0]
	switch wide := l.width == 16; {
	case wide && s.K == 2:
		maxPlaneGrad2x2AVX512(dx, dy, mask, at, table, b.to, b.from, s.W, s.OW, n)
	case wide && s.S == 2:
		maxPlaneGrad3x2AVX512(dx, dy, mask, at, table, b.to, b.from, s.W, s.OW, n)
	case wide:
		maxPlaneGrad3x1AVX512(dx, dy, mask, at, table, b.to, b.from, s.W, s.OW, n)
	case s.K == 2:
		maxPlaneGrad2x2AVX2(dx, dy, mask, at, table, b.to, b.from, s.W, s.OW, n)
	case s.S == 2:
		maxPlaneGrad3x2AVX2(dx, dy, mask, at, table, b.to, b.from, s.W, s.OW, n)
	default:
		maxPlaneGrad3x1AVX2(dx, dy, mask, at, table, b.to, b.from, s.W, s.OW, n)
	}
}

// avePlaneGrad works out the gradient of a block of columns of n rows of inputs.
func (l *level) avePlaneGrad(s *PoolShape, dx, dy *float32, rows *gradRow, b *poolBlock, n int) {
	at, table := &rows.offset, &b.table[0]
	switch wide := l.width == 16; {
	case wide && s.K == 2:
		avePlaneGrad2x2AVX512(dx, dy, at, table, b.to, b.from, s.W, s.OW, n)
	case wide && s.S == 2:
		avePlaneGrad3x2AVX512(dx, dy, at, table, b.to, b.from, s.W, s.OW, n)
	case wide:
		avePlaneGrad3x1AVX512(dx, dy, at, table, b.to, b.from, s.W, s.OW, n)
	case s.K == 2:
		avePlaneGrad2x2AVX2(dx, dy, at, table, b.to, b.from, s.W, s.OW, n)
	case s.S == 2:
		avePlaneGrad3x2AVX2(dx, dy, at, table, b.to, b.from, s.W, s.OW, n)
	default:
		avePlaneGrad3x1AVX2(dx, dy, at, table, b.to, b.from, s.W, s.OW, n)
	}
}

// packPlaces packs the places of a row.
func (l *level) packPlaces(codes *uint8, index *int32, y *float32, first, step, width, span, n int, relu bool) {
	packPlacesAVX512(codes, index, y, first, step, width, span, n, relu)
}

// unpackPlaces does the reverse.
func (l *level) unpackPlaces(index *int32, codes *uint8, first, step, edge, span, n int) {
	unpackPlacesAVX512(index, codes, first, step, edge, span, n)
}
