package train

import (
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/timeline"
)

// mail is a way between the processes of a job, beside the messages of the training. Post may wait until the other process fetches.
type mail interface {
	Rank() int
	Size() int
	Post(to int, text []byte) error
	Fetch(from int) (text []byte, ok bool, err error)
}

// letter is what processes send each other about captures. Times are in nanoseconds of the sender's clock.
type letter struct {
	Kind        letterKind
	ID          int               // of the capture
	From, Count int               // its iterations
	Parcels     []timeline.Parcel // in real and in modelled time
	Clock       int64
}

type letterKind int

const (
	hello  letterKind = iota // a process takes part: it has -http or -trace as well
	asks                     // the first process asks for a capture
	parcel                   // another process's part of it
	ping                     // the first process asks for the time
	pong                     // the answer
	thanks                   // the first process has the part
	bye                      // a process has ended its work
)

// ranks connects the tracers of a job's processes: the first one asks the others for captures, and gathers their parts.
//
// Clocks of different computers differ. With each part the first process asks for the time, several times, and takes the answer that was the
// fastest (F. Cristian, "Probabilistic clock synchronization", 1989): the other clock was then read between question and answer. If the
// clocks agree within that doubt, as those of one computer do, nothing is corrected.
type ranks struct {
	mail
	t        *tracer
	clock    func() int64 // this process's, in nanoseconds
	captures atomic.Int64 // the last number of a capture

	mu         sync.Mutex // of what follows, and of fetching
	here, gone map[int]bool
	wanted     map[int]bool // by capture: the first process asks for it
	thanked    map[int]bool // and has it
}

// Limits of the exchange, for a process that is busy or stopped.
const (
	partPatience = 5 * time.Second
	pongPatience = 100 * time.Millisecond
	pongs        = 30
)

// connect joins the other processes. The function that it returns ends that; err is the result of this process's work.
func (t *tracer) connect(m mail) (disconnect func(err error)) {
	r := &ranks{mail: m, t: t, clock: func() int64 { return time.Now().UnixNano() }, here: map[int]bool{}, gone: map[int]bool{}, wanted: map[int]bool{}, thanked: map[int]bool{}}
	t.mu.Lock()
	t.ranks = r
	file := t.file
	t.mu.Unlock()
	switch {
	case m.Rank() != 0:
		r.send(0, letter{Kind: hello})
	case file != nil:
		r.askFor(fileCapture, 0, file.count)
	}
	return func(err error) {
		if err != nil {
			return // the job ends
		}
		r.poll()
		_ = t.end() // it has no error
		t.work.Wait()
		r.leave()
	}
}

// send posts a letter. An error shows at the receiver, who misses it.
func (r *ranks) send(to int, l letter) {
	text, err := json.Marshal(l)
	if err != nil {
		panic("train: " + err.Error())
	}
	_ = r.Post(to, text)
}

// receive returns a process's next letter, if there is one.
func (r *ranks) receive(from int) (l letter, ok bool) {
	text, ok, err := r.Fetch(from)
	if !ok || err != nil || json.Unmarshal(text, &l) != nil {
		return letter{}, false
	}
	return l, true
}

// await receives a process's letters until one is of a kind and of a capture, at most for a time.
func (r *ranks) await(from int, kind letterKind, id int, patience time.Duration) (letter, bool) {
	for last := time.Now().Add(patience); ; {
		l, ok := r.receive(from)
		switch {
		case ok && l.Kind == kind && l.ID == id:
			return l, true
		case ok && l.Kind == hello:
			r.here[from] = true
		case ok && l.Kind == bye:
			r.gone[from] = true
		case ok && l.Kind == parcel: // of a capture that nobody waits for
			r.send(from, letter{Kind: thanks, ID: l.ID})
		case ok:
		case !r.here[from] || r.gone[from] || time.Now().After(last):
			return letter{}, false
		case kind != pong:
			time.Sleep(time.Millisecond)
		}
	}
}

// ask asks the other processes for a capture and returns its number.
func (r *ranks) ask(from, count int) int {
	id := int(r.captures.Add(1))
	r.askFor(id, from, count)
	return id
}

func (r *ranks) askFor(id, from, count int) {
	for to := 1; to < r.Size(); to++ {
		r.send(to, letter{Kind: asks, ID: id, From: from, Count: count})
	}
}

// poll does what the first process's letters ask.
func (r *ranks) poll() {
	if r == nil || r.Rank() == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		l, ok := r.receive(0)
		if !ok {
			return
		}
		switch l.Kind {
		case asks:
			r.wanted[l.ID] = true
			if l.ID != fileCapture || r.t.file == nil {
				r.t.open(&capture{id: l.ID, from: l.From, count: l.Count, done: func() {}})
			}
		case ping:
			r.send(0, letter{Kind: pong, ID: l.ID, Clock: r.clock()})
		case thanks:
			r.thanked[l.ID] = true
		}
	}
}

// until polls until a capture is in a set. At first it does so all the time, so that the first process's questions have fast answers.
func (r *ranks) until(set map[int]bool, id int) bool {
	for began := time.Now(); time.Since(began) < partPatience; {
		r.poll()
		r.mu.Lock()
		is := set[id]
		r.mu.Unlock()
		if is {
			return true
		}
		if runtime.Gosched(); time.Since(began) > pongPatience {
			time.Sleep(time.Millisecond)
		}
	}
	return false
}

// deliver sends this process's part of a capture, if the first process asks for it, and answers its questions.
func (r *ranks) deliver(c *capture) {
	if !r.until(r.wanted, c.id) {
		return
	}
	now := time.Now()
	parts := []timeline.Parcel{c.recorder.Pack(now, r.clock()), c.modelled.Pack(now, now.UnixNano())}
	r.send(0, letter{Kind: parcel, ID: c.id, Parcels: parts})
	r.until(r.thanked, c.id)
}

// gather adds the other processes' parts to a capture of the first one. Another process sends its part.
func (r *ranks) gather(c *capture) {
	if r.Rank() != 0 {
		r.deliver(c)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []string
	var doubt, ahead time.Duration
	for from := 1; from < r.Size(); from++ {
		l, ok := r.await(from, parcel, c.id, partPatience)
		if !ok {
			missing = append(missing, fmt.Sprint(from))
			continue
		}
		a, d := r.compareClocks(from, c.id)
		r.send(from, letter{Kind: thanks, ID: c.id})
		for i, p := range l.Parcels {
			if i == 0 {
				c.recorder.Unpack(p, a)
			} else {
				c.modelled.Unpack(p, 0)
			}
		}
		doubt, ahead = max(doubt, d), max(ahead, a, -a)
	}
	c.note = aboutRanks(r.Size()-1, missing, ahead, doubt)
}

// compareClocks returns how far a process's clock is ahead of this one's, and how far that may be wrong.
func (r *ranks) compareClocks(from, id int) (ahead, doubt time.Duration) {
	doubt = pongPatience
	for range pongs {
		asked, reading := time.Now(), r.clock()
		r.send(from, letter{Kind: ping, ID: id})
		l, ok := r.await(from, pong, id, pongPatience)
		if !ok {
			break
		}
		if half := time.Since(asked) / 2; half < doubt {
			ahead, doubt = time.Duration(l.Clock-reading)-half, half
		}
	}
	if ahead.Abs() <= doubt {
		ahead = 0
	}
	return ahead, doubt
}

// aboutRanks says what a reader must know of the other processes' parts.
func aboutRanks(others int, missing []string, ahead, doubt time.Duration) string {
	var parts []string
	if len(missing) < others {
		clocks := fmt.Sprintf("The clocks of the processes agree to within %s.", inMilliseconds(doubt))
		if ahead > 0 {
			clocks = fmt.Sprintf("The clocks of the processes differed by up to %s; this is corrected to within %s.", inMilliseconds(ahead), inMilliseconds(doubt))
		}
		parts = append(parts, clocks)
	}
	if len(missing) > 0 {
		parts = append(parts, fmt.Sprintf("Nothing has come from rank %s: give all processes the same flags.", strings.Join(missing, ", ")))
	}
	return strings.Join(parts, " ")
}

// inMilliseconds is a duration in milliseconds, unless it is long.
func inMilliseconds(d time.Duration) string {
	if d >= time.Second {
		return d.Round(time.Millisecond).String()
	}
	return fmt.Sprintf("%.2g ms", d.Seconds()*1e3)
}

// leave ends the exchange: the first process waits until every other one has said so.
func (r *ranks) leave() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.Rank() != 0 {
		r.send(0, letter{Kind: bye})
		return
	}
	for from := 1; from < r.Size(); from++ {
		r.await(from, bye, 0, partPatience)
	}
}
