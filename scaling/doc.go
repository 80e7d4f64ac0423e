// Package scaling models the time of an iteration of data-parallel training on many nodes of a modelled cluster. [Run] models a [Config] for
// several numbers of nodes, and returns a [Point] for each.
//
// An iteration has three parts. One node's computation comes from a [Job], with the figures of the machine model. The communication is that
// of a [Strategy]: a simulated collective, or exchanges with a server, as far as computation does not hide it. The next batch is read
// meanwhile, so that reading counts only if it takes longer than both:
//
//	iteration = max(compute + communication, read)
//
// Everything here is modelled time; nothing reads a clock.
package scaling
