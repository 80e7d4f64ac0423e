package randomtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/cpe"
)

// Threads are the core groups of a native machine, with the share of the work that each gets. Their text is the list of shares:
// "1,1,0,2" means four core groups, of which the third gets nothing.
type Threads []float64

// threadCounts are the numbers of core groups to draw from.
var threadCounts = []int{1, 2, 3, 4, 8, 16}

// RandomThreads draws a number of core groups, and even, uneven or partly empty shares.
func RandomThreads(r *rand.Rand) Threads {
	t := make(Threads, threadCounts[r.IntN(len(threadCounts))])
	kind := r.IntN(3)
	for i := range t {
		switch kind {
		case 0:
			t[i] = 1
		case 1:
			t[i] = float64(1 + r.IntN(9))
		default:
			t[i] = float64(max(0, r.IntN(6)-2))
		}
	}
	if slices.Max(t) == 0 {
		t[r.IntN(len(t))] = 1
	}
	return t
}

// ParseThreads reads the text of Threads.
func ParseThreads(text string) (Threads, error) {
	var t Threads
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(part, 64)
		if err != nil {
			return nil, fmt.Errorf("shares of threads %q: %w", text, err)
		}
		t = append(t, v)
	}
	return t, nil
}

func (t Threads) String() string {
	var parts []string
	for _, p := range t {
		parts = append(parts, strconv.FormatFloat(p, 'g', -1, 64))
	}
	return strings.Join(parts, ",")
}

// Smaller returns simpler threads: fewer core groups, or even shares.
func (t Threads) Smaller() []Threads {
	var list []Threads
	even := make(Threads, len(t))
	for i := range even {
		even[i] = 1
	}
	if !slices.Equal(t, even) {
		list = append(list, even)
	}
	for _, n := range threadCounts {
		if n < len(t) {
			if less := t[:n:n]; slices.Max(less) > 0 {
				list = append(list, less)
			}
			list = append(list, even[:n:n])
		}
	}
	return list
}

// Machine makes a machine of this computer with these core groups. Close ends it.
func (t Threads) Machine() (*cpe.Machine, error) {
	spec, err := cpe.Load("host")
	if err != nil {
		return nil, err
	}
	spec.CoreGroups = len(t)
	m, err := cpe.New(spec, cpe.Native)
	if err != nil {
		return nil, err
	}
	if err := m.FixShares(t); err != nil {
		m.Close()
		return nil, err
	}
	return m, nil
}
