package cpe

import "fmt"

// Part returns one of n equal parts of a machine whose core groups share their memory: its core groups, and its share of the memory and of
// the memory's bandwidth. Remaining core groups are not used.
func (s Spec) Part(n int) (Spec, error) {
	if !s.Memory.Shared {
		return s, fmt.Errorf("machine %q cannot be divided: its core groups do not share memory", s.Name)
	}
	if n < 1 || n > s.CoreGroups {
		return s, fmt.Errorf("machine %q has 1 to %d parts, not %d", s.Name, s.CoreGroups, n)
	}
	s.CoreGroups /= n
	s.Memory.GBps /= float64(n)
	s.Memory.Bytes /= int64(n)
	return s, nil
}
