package elastic

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/swcaffe/swcaffe/topology"
	"github.com/swcaffe/swcaffe/topology/tcp"
)

// The flags of long runs: go test ./internal/app/elastic -run Schedules -schedules 100000 -seed 1
var (
	schedules = flag.Int("schedules", 300, "the number of schedules")
	seed      = flag.Uint64("seed", 1, "where random numbers begin")
	single    = flag.Int("schedule", -1, "run the schedule of this number alone")
)

// counting is a training whose state is a sum over iterations and items, in whole numbers: the same for any number of workers.
type counting struct {
	mu         sync.Mutex
	iteration  int
	sum        []float32
	iterations int
	host       *host
	draws      *rand.Rand
	completed  func(iteration int)
	rescued    bool
	rank       int               // of the last epoch
	slow       time.Duration     // how much longer than others it takes for an iteration
	waits      func(line string) // not nil: gets lines of waits for others
	// centred: the first rank has the sum, to which each adds in turn; the others know what it answered, and version counts the additions.
	centred bool
	version int
}

const items = 12

func (c *counting) Iteration() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.iteration
}

func (c *counting) Version() int {
	if c.centred && c.iteration >= 0 {
		return c.version
	}
	return c.Iteration()
}

type countingState struct {
	Iteration, Version int
	Sum                []float32
}

func (c *counting) State() ([]byte, error) {
	return json.Marshal(countingState{c.iteration, c.version, c.sum})
}

func (c *counting) Rescue(error) { c.rescued = true }

func gradient(iteration, item int) float32 { return float32((iteration*31 + item*7) % 11) }

func (c *counting) Train(e Epoch) error {
	if e.State != nil {
		var s countingState
		if err := json.Unmarshal(e.State, &s); err != nil {
			return err
		}
		if c.centred && s.Version < c.version {
			return fmt.Errorf("goes on from version %d, but had %d", s.Version, c.version)
		}
		c.set(s.Iteration, s.Sum)
		c.version = s.Version
	} else if c.Iteration() < 0 {
		c.set(0, make([]float32, 3))
	}
	rank, size := e.Mesh.Rank(), e.Mesh.Size()
	mesh := topology.Transport(e.Mesh)
	if c.waits != nil {
		var stop func()
		mesh, stop = topology.TellWaits(mesh, c.waits)
		defer stop()
	}
	reduce := topology.NewAllReduce(mesh, topology.NewSchedule("halving_doubling", topology.Flat(size), 4))
	c.mu.Lock()
	c.rank = rank
	c.mu.Unlock()
	for c.iteration < c.iterations {
		c.mu.Lock()
		slow := c.slow
		c.mu.Unlock()
		time.Sleep(time.Duration(c.draws.Int64N(int64(2*time.Second))) + slow)
		c.host.pause(c.draws)
		if c.centred {
			if err := c.add(e.Mesh); err != nil {
				return err
			}
			continue
		}
		data := make([]float32, 4)
		for i := rank * items / size; i < (rank+1)*items/size; i++ {
			data[i%3] += gradient(c.iteration, i)
		}
		data[3] = float32(c.iteration)
		if err := reduce.Run(data); err != nil {
			return err
		}
		if data[3] != float32(c.iteration*size) {
			return fmt.Errorf("workers at different iterations: %g, want %d times %d", data[3], size, c.iteration)
		}
		sum := slices.Clone(c.sum)
		for i := range sum {
			sum[i] += data[i]
		}
		c.set(c.iteration+1, sum)
		c.completed(c.iteration)
	}
	return nil
}

// add is an iteration with a centre: each rank adds 1, in turn.
func (c *counting) add(mesh *tcp.Mesh) error {
	answer := make([]float32, 2)
	if mesh.Rank() > 0 {
		if err := errors.Join(mesh.Send(0, answer), mesh.Recv(0, answer)); err != nil {
			return err
		}
		c.version = int(answer[1])
		c.set(c.iteration+1, answer[:1])
		c.completed(c.iteration)
		return nil
	}
	c.version++
	c.set(c.iteration+1, []float32{c.sum[0] + 1})
	c.completed(c.iteration)
	for rank := 1; rank < mesh.Size(); rank++ {
		if err := mesh.Recv(rank, answer); err != nil {
			return err
		}
		c.version++
		c.set(c.iteration, []float32{c.sum[0] + 1})
		if err := mesh.Send(rank, []float32{c.sum[0], float32(c.version)}); err != nil {
			return err
		}
	}
	return nil
}

func (c *counting) set(iteration int, sum []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.iteration, c.sum = iteration, sum
}

// TestSchedules trains while workers are lost, stall, and come back. The training always ends, every worker that is left has the state of an
// undisturbed training, and no epoch begins more than one iteration before the latest that any worker has completed.
func TestSchedules(t *testing.T) {
	epochs, losses := 0, 0
	for number := range *schedules {
		if *single >= 0 && number != *single {
			continue
		}
		if testing.Short() && number >= 100 && *single < 0 {
			break
		}
		var lines []string
		runOne(t, number, &lines, &epochs, &losses)
		if number%20 == 0 && !t.Failed() {
			var again []string
			runOne(t, number, &again, new(int), new(int))
			if !slices.Equal(lines, again) {
				t.Errorf("a second run differs:\n%q\n%q", lines, again)
			}
		}
		if t.Failed() {
			for _, l := range lines {
				t.Log(l)
			}
			t.Fatalf("go test ./internal/app/elastic -run Schedules -seed %d -schedule %d", *seed, number)
		}
	}
	t.Logf("seed %d: %d epochs, %d losses", *seed, epochs, losses)
}

func runOne(t *testing.T, number int, lines *[]string, epochs, losses *int) {
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("schedule %d: %v", number, p)
		}
	}()
	synctest.Test(t, func(*testing.T) {
		r := &run{t: t, random: rand.New(rand.NewPCG(*seed, uint64(number)))}
		r.drive()
		*lines = r.lines
		*epochs += r.epochs
		*losses += r.losses
		time.Sleep(2 * time.Hour) // what lost workers have left behind ends too
	})
}

// run is one schedule.
type run struct {
	t              *testing.T
	random         *rand.Rand
	net            *simulated
	lines          []string
	epochs, losses int
	mu             sync.Mutex
	latest         int // iteration that any worker has completed
	workers        []*simWorker
	iterations     int
	centred        bool
	waits          func(line string)
	ended          chan struct{}
}

type simWorker struct {
	host *host
	c    *counting
	lost bool
	err  error
	done chan struct{}
}

func (r *run) drive() {
	top := 1 + r.random.IntN(5)
	least := 1 + r.random.IntN(top)
	r.centred = r.random.IntN(3) == 0
	r.iterations, r.ended = 5+r.random.IntN(60), make(chan struct{})
	r.net = &simulated{seed: r.random.Uint64(), made: map[string]int{}, longest: []time.Duration{10 * time.Millisecond, 300 * time.Millisecond}[r.random.IntN(2)], listeners: map[string]*simListener{}}
	c := New(Options{Min: least, Max: top, Word: "word", Tell: r.tell})
	centre := &host{net: r.net, name: "centre"}
	l, _ := centre.Listen()
	var served error
	go func() {
		served = c.Serve(l)
		close(r.ended)
	}()
	for range top {
		r.start()
	}
	faults := r.random.IntN(8)
	for range faults {
		time.Sleep(time.Duration(r.random.Int64N(int64(20 * time.Second))))
		r.fault()
	}
	// From here on nothing fails any more.
	for {
		select {
		case <-r.ended:
			r.judge(served)
			return
		case <-time.After(time.Minute):
			r.refill(top)
			if time.Since(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) > 5*time.Hour {
				r.t.Errorf("the training does not end")
				for _, w := range r.workers {
					w.host.lose()
				}
				centre.lose()
				return
			}
		}
	}
}

func (r *run) tell(line string) {
	r.lines = append(r.lines, line)
	var workers, from int
	if n, _ := fmt.Sscanf(line, "Workers: %d; training from iteration %d", &workers, &from); n == 2 {
		r.epochs++
		r.mu.Lock()
		defer r.mu.Unlock()
		if from < r.latest-1 {
			r.t.Errorf("goes on from iteration %d; a worker had completed %d", from, r.latest)
		}
	}
}

func (r *run) start() {
	name := fmt.Sprint("host", len(r.workers))
	h := &host{net: r.net, name: name}
	c := &counting{iteration: -1, iterations: r.iterations, host: h, centred: r.centred, waits: r.waits,
		draws: rand.New(rand.NewPCG(r.random.Uint64(), 2)),
		completed: func(iteration int) {
			r.mu.Lock()
			defer r.mu.Unlock()
			if !h.lost {
				r.latest = max(r.latest, iteration)
			}
		}}
	w := &simWorker{host: h, c: c, done: make(chan struct{})}
	r.workers = append(r.workers, w)
	number := len(r.workers)
	begin := time.Duration(r.random.Int64N(int64(3 * time.Second)))
	go func() {
		defer close(w.done)
		time.Sleep(begin)
		worker := Worker{Coordinator: "centre", Word: "word", Host: name, PID: number, Network: h}
		w.err = worker.Run(c)
	}()
}

// fault lets a worker stall or loses it, unless no other one has the state. A lost one often comes back.
func (r *run) fault() {
	var living []*simWorker
	for _, w := range r.workers {
		if !w.lost {
			living = append(living, w)
		}
	}
	if len(living) == 0 {
		return
	}
	w := living[r.random.IntN(len(living))]
	others := slices.ContainsFunc(living, func(o *simWorker) bool {
		return o != w && o.c.Iteration() >= w.c.Iteration()-1 && time.Now().After(o.host.stalled)
	})
	switch {
	case !others:
	case r.random.IntN(3) == 0:
		w.host.stall(time.Duration(r.random.Int64N(int64(12 * time.Second))))
	default:
		w.lost = true
		r.losses++
		w.host.lose()
		if r.random.IntN(3) > 0 {
			r.start()
		}
	}
}

// refill starts workers in place of lost ones.
func (r *run) refill(top int) {
	living := 0
	for _, w := range r.workers {
		select {
		case <-w.done:
		default:
			if !w.lost {
				living++
			}
		}
	}
	for ; living < top; living++ {
		r.start()
	}
}

func (r *run) judge(served error) {
	if served != nil {
		r.t.Errorf("the training has failed: %v", served)
		return
	}
	want := make([]float32, 3)
	for iteration := range r.iterations {
		for i := range items {
			want[i%3] += gradient(iteration, i)
		}
	}
	whole := 0
	for i, w := range r.workers {
		if !w.lost {
			<-w.done
		}
		switch {
		case errors.Is(w.err, ErrEnded): // refused: it has come after the end
		case w.c.Iteration() == r.iterations:
			whole++
			if r.centred {
				if c := w.c; int(c.sum[0]) != c.version || c.version < r.iterations {
					r.t.Errorf("worker %d has the sum %g after %d additions and %d iterations", i, c.sum, c.version, r.iterations)
				}
				continue
			}
			if !slices.Equal(w.c.sum, want) {
				r.t.Errorf("worker %d has %g, want %g", i, w.c.sum, want)
			}
		}
	}
	if whole == 0 {
		r.t.Errorf("no worker has the whole training")
	}
}

// TestSlow trains by three workers, of which one computes for 20 s in each iteration. It shows signs of life: the others wait for it and name it
// within five seconds, and it stays. One that is stopped for as long shows none: it counts as lost, and takes part again afterwards.
func TestSlow(t *testing.T) {
	const pause = 20 * time.Second
	for _, stopped := range []bool{false, true} {
		synctest.Test(t, func(*testing.T) {
			r := &run{t: t, random: rand.New(rand.NewPCG(*seed, 0)), iterations: 40, ended: make(chan struct{})}
			r.net = &simulated{seed: *seed, made: map[string]int{}, longest: 10 * time.Millisecond, listeners: map[string]*simListener{}}
			var began, named time.Time // when rank 2 became slow, and when another one said so
			r.waits = func(line string) {
				r.mu.Lock()
				defer r.mu.Unlock()
				if strings.Contains(line, "has waited 4s for rank 2: ") && named.IsZero() {
					named = time.Now()
				}
			}
			c := New(Options{Min: 1, Max: 3, Word: "word", Tell: r.tell})
			l, _ := (&host{net: r.net, name: "centre"}).Listen()
			var served error
			go func() {
				served = c.Serve(l)
				close(r.ended)
			}()
			for range 3 {
				r.start()
			}
			time.Sleep(10 * time.Second)
			for _, w := range r.workers {
				w.c.mu.Lock()
				if w.c.rank == 2 && stopped {
					w.host.stall(pause)
				} else if w.c.rank == 2 {
					w.c.slow = pause
				}
				w.c.mu.Unlock()
			}
			began = time.Now()
			<-r.ended
			r.judge(served)
			log := strings.Join(r.lines, "\n")
			switch waited := named.Sub(began); {
			case !stopped && len(r.lines) != 1:
				t.Errorf("a slow worker has ended an epoch:\n%s", log)
			case !stopped && (named.IsZero() || waited > 9*time.Second): // within 5 s, after two quick iterations of up to 2 s
				t.Errorf("the slow rank is named %v after it became slow", waited)
			case stopped && !regexp.MustCompile(`Lost rank 2 on .*: it has been silent for 5s\nWorkers: 2; .*\nWorkers: 3; `).MatchString(log):
				t.Errorf("a stopped worker is not lost and taken in again:\n%s", log)
			}
			time.Sleep(time.Hour) // what is left ends too
		})
	}
}

// idle is a training that has not begun.
type idle struct{ Training }

func (idle) Iteration() int { return -1 }
func (idle) Version() int   { return -1 }

// TestNoCoordinator: at an address where something else answers, closes the connection or is silent, a worker gives up. It does not try without a pause.
func TestNoCoordinator(t *testing.T) {
	for what, want := range map[string]string{"SSH-2.0\r\n": "invalid character 'S'", "": "EOF", "silence": "i/o timeout"} {
		synctest.Test(t, func(*testing.T) {
			net := &simulated{seed: *seed, made: map[string]int{}, longest: time.Millisecond, listeners: map[string]*simListener{}}
			l, _ := (&host{net: net, name: "other"}).Listen()
			connections := 0
			go func() {
				for {
					c, err := l.Accept()
					if err != nil {
						return
					}
					connections++
					go func() { _, _ = io.Copy(io.Discard, c) }()
					if what != "silence" {
						go func() {
							_, _ = io.WriteString(c, what)
							c.Close()
						}()
					}
				}
			}()
			begun := time.Now()
			w := Worker{Coordinator: "other", Word: "word", Host: "here", PID: 1, Network: &host{net: net, name: "here"}}
			err := w.Run(idle{})
			l.Close()
			if want := "what answers at other is no coordinator of a training: "; err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q: error %v, want %s", what, err, want)
			}
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%q: error %v, want %s", what, err, want)
			}
			if spent := time.Since(begun); connections > 21 || spent > time.Minute {
				t.Errorf("%q: %d connections in %v", what, connections, spent)
			}
			time.Sleep(time.Hour) // what is left ends too
		})
	}
}

// TestRefusalArrives: a worker says that it is ready right behind its hello, and still reads why it is refused.
func TestRefusalArrives(t *testing.T) {
	near, far := net.Pipe()
	c := New(Options{Word: "secret", Min: 1, Max: 1, Tell: func(string) {}})
	m := &member{line: newLine(near)}
	for _, what := range []message{{Kind: kindHello, Word: "other"}, {Kind: kindReady}} {
		c.take(event{from: m, what: what})
	}
	var got message
	if err := json.NewDecoder(far).Decode(&got); err != nil || got.Kind != kindEnd || !strings.Contains(got.Why, "does not know") {
		t.Errorf("the worker reads %+v, %v", got, err)
	}
	far.Close()
	m.line.close()
}
