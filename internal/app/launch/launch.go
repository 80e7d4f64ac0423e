// Package launch tells from the environment which launcher has started this process, and as one of how many.
//
// Programs like mpirun and srun start a process many times, and only variables tell a process of the others. A World is what they say. A
// batch system's shell is no World: there the user starts one process, whatever number of tasks the shell's variables promise.
package launch

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// World is the set of processes that a launcher has started together. The zero World is a process alone.
type World struct {
	Launcher string   // its name for messages, as in "Open MPI's mpirun"; "": none
	Size     int      // the number of processes; 0: the launcher does not tell
	Rank     int      // this process's number, -1: the launcher does not tell
	MPI      bool     // the processes can join by MPI
	Seen     []string // the variables that say so, as in PMI_SIZE=4
	Advice   string   // how such processes train together, a sentence
	// Unwired: the launcher can be asked to tell MPI libraries of the other processes, but has set none of the variables for it. A library
	// that knows this launcher can still join them.
	Unwired bool
}

// Several reports whether this process is one of several, or may be.
func (w World) Several() bool { return w.Launcher != "" && w.Size != 1 }

// Among says among how many processes this one is and by what this is known.
func (w World) Among() string {
	among := fmt.Sprintf("as one of %d processes", w.Size)
	if w.Size == 0 {
		among = "as one of several processes, or alone"
	}
	return fmt.Sprintf("%s has started this process %s (%s)", w.Launcher, among, strings.Join(w.Seen, " "))
}

// Variables lists the names of the variables in Seen.
func (w World) Variables() (names []string) {
	for _, s := range w.Seen {
		name, _, _ := strings.Cut(s, "=")
		names = append(names, name)
	}
	return names
}

// Look returns the World of a process with an environment; get looks a variable up, as os.LookupEnv does.
func Look(get func(name string) (string, bool)) World {
	for _, l := range launchers {
		if w, ok := l.look(get); ok {
			return w
		}
	}
	return operator(get)
}

// launcher is what one kind of launcher sets.
type launcher struct {
	name string
	// size and rank are variables with numbers. At least one must be there, and of those that are required also the other.
	size, rank string
	required   bool
	marks      []string // other variables that must be set
	least      int      // smaller ranks do not count: a batch system's shell has rank 0 as well
	mpi        bool
	wires      []string // variables, of which one is set if the launcher tells MPI libraries of the other processes; nil: it always does
	advice     string
}

func (l launcher) look(get func(string) (string, bool)) (World, bool) {
	w := World{Launcher: l.name, Rank: -1, MPI: l.mpi, Advice: l.advice}
	number := func(name string) (n int, ok bool) {
		text, set := get(name)
		if name == "" || !set {
			return 0, false
		}
		// A range, as torchrun has it for elastic jobs, counts as its largest number.
		n, err := strconv.Atoi(strings.TrimSpace(text[strings.LastIndex(text, ":")+1:]))
		if err != nil || n < 0 {
			return 0, false
		}
		w.Seen = append(w.Seen, name+"="+text)
		return n, true
	}
	size, sized := number(l.size)
	rank, ranked := number(l.rank)
	switch {
	case !sized && !ranked, l.required && !(sized && ranked), sized && size < 1, ranked && rank < l.least:
		return World{}, false
	}
	for _, mark := range l.marks {
		if _, ok := get(mark); !ok {
			return World{}, false
		}
	}
	w.Unwired = l.wires != nil && !slices.ContainsFunc(l.wires, func(name string) bool { _, ok := get(name); return ok })
	if sized {
		w.Size = size
	}
	if ranked {
		w.Rank = rank
	}
	return w, true
}

// Sibling returns the variable that says that a batch system has started this process as one of an array of tasks, each of which works alone
// unless something joins them; "" without one.
func Sibling(get func(name string) (string, bool)) string {
	for _, name := range siblings {
		if v, ok := get(name); ok && v != "" {
			return name + "=" + v
		}
	}
	return ""
}
