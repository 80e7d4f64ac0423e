// Package scaling tells how long an iteration of data-parallel training takes on many nodes of a modelled cluster.
//
// An iteration is what one node computes (a [Job]: the machine model's figures), what the nodes say to each other (a
// [Strategy]: a simulated collective, or exchanges with a server, as far as computing does not hide them) and what
// reading images takes beyond both, because the next batch is read meanwhile:
//
//	iteration = max(compute + communication, read)
//
// Everything here is modelled time; nothing reads a clock.
package scaling
