// Package pipes counts the cycles of a listing of instructions on one CPE of the SW26010: a [Listing] of instructions, and [Listing.Cycles],
// which issues them.
//
// A CPE issues in program order, at most one instruction a cycle to each of two pipes. P0 has floating point, vectors and integer
// multiplication; P1 has loads, stores, register communication and branches; other integer instructions go to either. An instruction waits
// for its operands and for all earlier instructions. Two that issue together must not depend on each other (Fang 2019, section 3.1.4; swDNN,
// section VI-A).
//
// [Block] has the schedules of the original's two register-blocked products. The machine file of the SW26010 takes the cycles of its
// single-precision product from here; a test compares them.
package pipes

// Latencies in cycles from the issue of an instruction to that of the first one that reads its result (Fang 2019, table 3.2). For loads the table
// has 3 to 4. Only 3 agrees with two other figures: the 17 cycles a step that swDNN counts in double precision, and 363.6 GFLOP/s of a product in
// single precision, of which 4 would allow 360 at most. Results of register communication can be read in the next cycle once they have arrived.
const (
	fmaLatency  = 7
	loadLatency = 3
	mulLatency  = 5
	oneLatency  = 1
)

// unit is where an instruction can issue.
type unit int

const (
	p0 unit = iota
	p1
	either
)

// instruction is one instruction: its unit, its latency, the register that it writes ("": none) and those that it reads.
type instruction struct {
	unit    unit
	latency int
	writes  string
	reads   []string
	jumps   bool
}

// Listing is a sequence of instructions without jumps; loops are unrolled.
type Listing []instruction

// Cycles returns the number of cycles until the last instruction has issued.
func (l Listing) Cycles() int {
	ready := map[string]int{} // the first cycle in which a register can be read
	now, free := 0, [2]bool{true, true}
	step := func() { now, free = now+1, [2]bool{true, true} }
	for i, in := range l {
		order := [2]unit{p0, p1}
		if i+1 < len(l) && l[i+1].unit == p0 {
			order = [2]unit{p1, p0} // the next instruction can then issue beside this one
		}
		for _, r := range in.reads {
			for ready[r] > now {
				step()
			}
		}
		pipe := in.pipe(free, order)
		for pipe < 0 {
			step()
			pipe = in.pipe(free, order)
		}
		free[pipe] = false
		if in.jumps {
			free[p0] = false // what follows a branch that is taken is fetched in the next cycle
		}
		if in.writes != "" {
			ready[in.writes] = now + in.latency
		}
	}
	return now + 1
}

// pipe returns the first free pipe for the instruction in this order, -1 if there is none.
func (in *instruction) pipe(free [2]bool, order [2]unit) int {
	for _, pipe := range order {
		if free[pipe] && (in.unit == either || in.unit == pipe) {
			return int(pipe)
		}
	}
	return -1
}
