package pages

// Pool hands out memory for many arrays that live together, as a net's weights: side by side on large pages, though most arrays are shorter than one. The
// system gives out a large page about as fast as a small one, which has a 512th of its bytes. The zero value is ready for use.
type Pool struct {
	free []float32
	next int // values of the next piece
}

// The first and the largest piece that a pool takes at once, in values, and the alignment of its arrays.
const firstPiece, largestPiece, poolAlignment = 1 << 14, 8 << 20, 16

// Floats returns n zeros. It panics with a TooMuch if the computer has too little memory.
func (p *Pool) Floats(n int) []float32 {
	if n > len(p.free) {
		p.next = min(max(2*p.next, firstPiece), largestPiece)
		if n >= p.next {
			return Floats(n)
		}
		p.free = Floats(p.next)
	}
	x := p.free[:n:n]
	p.free = p.free[min(len(p.free), (n+poolAlignment-1)/poolAlignment*poolAlignment):]
	return x
}
