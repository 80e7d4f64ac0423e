package pipes

import (
	"fmt"
	"slices"
	"strings"
)

// A register block is 4 vectors of a row of C by 4 columns. A step of K multiplies 4 vectors of A with 4 values of B. In each of the eight
// steps of the mesh, a CPE either owns its row's part of A and broadcasts it, or gets it; likewise its column's part of B. Each of these
// four roles has a loop of its own.

// Role says which operands a CPE owns.
type Role struct{ A, B bool }

// Roles are the four roles.
var Roles = []Role{{}, {A: true}, {B: true}, {A: true, B: true}}

// schedule is the order of the instructions of a role: before the loop over K, which includes the first step; in the loop; after it, with the
// last step.
//
// Each word is an instruction. f is the next of the 16 multiply-adds of a step. l, g, p and x load, get, put, and load with broadcast a
// register: a0 to a3 of A or b0 to b3 of B. c and s load and store the next register of C. i is an integer instruction, v an insertion or
// extraction, m an integer multiplication, j a branch.
type schedule struct{ before, loop, after string }

// single has the schedules of gemm_float.S in SWCaffe (src/caffe/swutil/slave, commit c64c71cb). Single precision has no load with broadcast:
// an owner loads, then puts.
var single = map[Role]schedule{
	{}: {
		"i c i ga0 v gb0 i c i ga1 i gb1 c f ga2 i gb2 c f ga3 gb3 f c c c f c gb0 c f c f c f c f c f c f c f c f f ga0 f ga1 f ga2 f ga3",
		"f gb1 f gb2 f gb3 f f f i f f f f i f f gb0 f ga0 f ga1 f ga2 f ga3 j",
		"v v f f gb1 f gb2 f gb3 f i f i f i f i f s f s f s f s f s f s f s f s s v s i s v s i s v s i s v s i j",
	},
	{B: true}: {
		"v v i v m v i c ga0 lb0 pb0 i c i ga1 i lb1 pb1 i c f ga2 i lb2 pb2 i c f ga3 i lb3 pb3 f c i c c f c lb0 pb0 c f c f c f c f c f c f c f c f f ga0 f ga1 f ga2 f ga3",
		"f i f lb1 f i f lb2 f i f lb3 f i f i i f lb0 f pb1 f pb2 f pb3 f ga0 f ga1 f ga2 f ga3 pb0 j",
		"v i f lb1 pb1 f i f lb2 pb2 f i f lb3 pb3 f v f i f i f s f s f s f s f s f s f s f s i i s i s i s i s v s i s v s i s v i j",
	},
	{A: true}: {
		"v v c v i i la0 pa0 gb0 c i la1 pa1 v gb1 i c f la2 pa2 i gb2 i c f la3 pa3 v gb3 f c i c i c f c f c f c gb0 c f c f c f c f c f c f f la0 f la1 f la2 f la3 pa0 pa1 pa2 pa3 i",
		"f gb1 f f gb2 f f gb3 f i f i f f f f gb0 f f la0 pa0 f la1 pa1 f la2 pa2 f la3 pa3 i j",
		"f gb1 f gb2 f gb3 f v f v f i f i f i f s f s f s f s f s f s f s f s i s i s i s i s v s i s v s i s v i j",
	},
	{A: true, B: true}: {
		"i v i v i v i m i v i v v i i c la0 pa0 lb0 pb0 i c f la1 pa1 lb1 pb1 i c v la2 pa2 lb2 pb2 i c f la3 pa3 i lb3 pb3 f c i c f c lb0 pb0 c i c f c f c f c f c f c f c f c f f la0 f la1 f la2 f la3 pa0 pa1 pa2 pa3 v i",
		"i f lb1 f i f lb2 f pb1 i f lb3 f i f i f lb0 f i f pb2 f pb3 f pb0 f la0 f la1 f la2 f la3 pa0 pa1 pa2 pa3 v i j",
		"i f lb1 pb1 f i f lb2 pb2 f i v v f lb3 pb3 f i f f f s f s f s f s i f s f s f s f s i i s i s i s i s v s i s v s i s v i j",
	},
}

// double has the schedules of dgemm_asm.S in swGEMM (asm, commit f6fc920a), whose loads broadcast. The order is otherwise that of single.
var double = func() map[Role]schedule {
	all := map[Role]schedule{}
	for role, s := range single {
		all[role] = schedule{broadcast(s.before), broadcast(s.loop), broadcast(s.after)}
	}
	return all
}()

// broadcast turns the loads of A and B into loads with broadcast, and leaves out the puts.
func broadcast(words string) string {
	var all []string
	for _, w := range strings.Fields(words) {
		switch w[0] {
		case 'p':
			continue
		case 'l':
			w = "x" + w[1:]
		}
		all = append(all, w)
	}
	return strings.Join(all, " ")
}

// Block is the time of one register block: of k >= 3 steps of K on the slowest role, in cycles before and after the steps of the loop, and a
// step. Loading and storing C is part of it, in each of the eight steps of the mesh.
type Block struct{ Ends, Step int }

// Single and Double return the times of the register blocks of both products.
func Single() Block { return slowest(single) }

// Double returns those of the double-precision product.
func Double() Block { return slowest(double) }

// slowest returns the time of the slowest role, since all others wait for its operands.
func slowest(schedules map[Role]schedule) Block {
	var all []Block
	for _, role := range Roles {
		all = append(all, schedules[role].block())
	}
	return slices.MaxFunc(all, func(x, y Block) int { return x.cycles(long) - y.cycles(long) })
}

// long is a number of steps at which the loop counts most.
const long = 32

// cycles is the time of a register block of k steps.
func (b Block) cycles(k int) int { return b.Ends + (k-2)*b.Step }

// block measures the loop between two and three runs of many steps, and the rest by subtraction.
func (s schedule) block() Block {
	step := s.listing(long+1).Cycles() - s.listing(long).Cycles()
	return Block{Ends: s.listing(long).Cycles() - (long-2)*step, Step: step}
}

// listing returns the instructions of k >= 3 steps.
func (s schedule) listing(k int) Listing {
	w := writer{}
	w.write(s.before)
	for range k - 2 {
		w.write(s.loop)
	}
	w.write(s.after)
	return w.listing
}

// writer turns words into instructions.
type writer struct {
	listing              Listing
	fmas, loaded, stored int
}

func (w *writer) write(words string) {
	for _, word := range strings.Fields(words) {
		w.listing = append(w.listing, w.instruction(word))
	}
}

func (w *writer) instruction(word string) instruction {
	rest := word[1:]
	switch word[0] {
	case 'f':
		i := w.fmas % 16
		w.fmas++
		c := fmt.Sprint("c", i)
		return instruction{unit: p0, latency: fmaLatency, writes: c, reads: []string{fmt.Sprint("a", i%4), fmt.Sprint("b", i/4), c}}
	case 'c':
		w.loaded++
		return instruction{unit: p1, latency: loadLatency, writes: fmt.Sprint("c", w.loaded-1)}
	case 's':
		w.stored++
		return instruction{unit: p1, latency: oneLatency, reads: []string{fmt.Sprint("c", w.stored-1)}}
	case 'l', 'x':
		return instruction{unit: p1, latency: loadLatency, writes: rest, reads: []string{"pointer"}}
	case 'g':
		return instruction{unit: p1, latency: oneLatency, writes: rest}
	case 'p':
		return instruction{unit: p1, latency: oneLatency, reads: []string{rest}}
	case 'm':
		return instruction{unit: p0, latency: mulLatency, writes: "pointer"}
	case 'v':
		return instruction{unit: p0, latency: oneLatency}
	case 'j':
		return instruction{unit: p1, latency: oneLatency, jumps: true}
	case 'i':
		return instruction{unit: either, latency: oneLatency}
	}
	panic("pipes: unknown word " + word)
}
