package elastic

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
)

// Options are a training's.
type Options struct {
	Min, Max int    // the least number of workers with which the training goes on, and the largest
	Word     string // the secret that workers must know
	Program  string // the sum of the program; "": any
	Flags    string // those that all workers must give alike
	// Tell receives lines for the log.
	Tell func(line string)
	// Lost, if not nil, is told of each worker that is lost, so that one that is only stopped can be ended.
	Lost func(host string, pid int)
}

// Coordinator knows the workers of a training.
type Coordinator struct {
	Options
	events  chan event
	closed  chan struct{} // when Serve has returned
	members []*member     // in the order in which they came
	epoch   int
	running bool
	best    int // the most iterations that any worker has reported
	changed time.Time
	stops   bool
	ending  bool
	ended   time.Time
	err     error
}

// New returns a coordinator.
func New(o Options) *Coordinator {
	return &Coordinator{Options: o, events: make(chan event, queued), closed: make(chan struct{})}
}

// member is a worker with a connection.
type member struct {
	message // its hello
	line    *line
	ready   bool
	done    bool
	in      bool // the epoch that is under way
	epoch   int  // the last one in which it was, as rank
	rank    int
	trained int
	version int // of the state, when it was ready
	refused bool
}

// event is a message of a member; without one its connection has ended with an error. Without a member it is the end of the waiting, or a stop.
type event struct {
	from *member
	what message
	err  error
	stop bool
	fail error
}

// Serve coordinates the workers that connect, until the training is complete or cannot go on. The error says why.
func (c *Coordinator) Serve(l net.Listener) error {
	c.best, c.changed = -1, time.Now()
	defer close(c.closed)
	defer l.Close()
	go c.accept(l)
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for !c.ending || len(c.members) > 0 && time.Since(c.ended) < time.Minute {
		select {
		case e := <-c.events:
			c.take(e)
		case <-tick.C:
			for _, m := range c.members {
				m.line.send(message{Kind: kindBeat})
			}
		}
		c.begin()
	}
	for _, m := range c.members {
		m.line.close()
	}
	return c.err
}

// Fail ends the training with an error.
func (c *Coordinator) Fail(err error) { c.post(event{fail: err}) }

// post gives Serve an event, unless it has returned.
func (c *Coordinator) post(e event) {
	select {
	case c.events <- e:
	case <-c.closed:
	}
}

// Stop says that the workers have been asked to stop: from now on any number goes on, and nobody is waited for.
func (c *Coordinator) Stop() { c.post(event{stop: true}) }

// accept reads the messages of the workers that connect.
func (c *Coordinator) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			m := &member{line: newLine(conn), trained: -1, version: -1}
			err := m.line.receive(Silence, func(what message) { c.post(event{from: m, what: what}) })
			conn.Close()
			m.line.close()
			c.post(event{from: m, err: err})
		}()
	}
}

func (c *Coordinator) take(e event) {
	m := e.from
	switch {
	case e.stop:
		c.stops = true
	case e.fail != nil:
		c.finish(e.fail)
	case e.err != nil:
		c.lose(m, e.err)
	case e.what.Kind == kindHello:
		c.admit(m, e.what)
	case m.refused: // it closes the connection when it has read why
	case !slices.Contains(c.members, m):
		m.line.conn.Close() // no hello
	default:
		c.hear(m, e.what)
	}
}

// admit takes a worker in, or says why not.
func (c *Coordinator) admit(m *member, hello message) {
	m.message = hello
	why := ""
	switch {
	case hello.Word != c.Word:
		why = "it does not know the training's word"
	case c.Program != "" && hello.Program != c.Program:
		why = "it runs another program than the coordinator: install the same release on all computers"
	case hello.Flags != c.Flags:
		why = fmt.Sprintf("it was started with %s, the training with %s", cmp.Or(hello.Flags, "no flags"), cmp.Or(c.Flags, "none"))
	case len(c.members) >= c.Max:
		why = fmt.Sprintf("there are %d workers already, the largest number of -elastic", c.Max)
	case c.ending:
		why = "the training is over"
	}
	if why != "" {
		c.Tell(fmt.Sprintf("A worker on %s (process %d) is refused: %s", hello.Host, hello.PID, why))
		m.refused = true
		m.line.send(message{Kind: kindEnd, Why: why, Refused: true})
		return
	}
	c.members, c.changed = append(c.members, m), time.Now()
}

func (c *Coordinator) hear(m *member, what message) {
	switch what.Kind {
	case kindBeat, kindReady:
		m.trained = what.Iteration
		c.best = max(c.best, what.Iteration)
	}
	switch what.Kind {
	case kindReady:
		if m.in && c.running {
			c.over(fmt.Sprintf("%v has lost a connection", m))
		}
		m.ready, m.in, m.version = true, false, what.Version
	case kindDone:
		m.done = m.in && what.Epoch == c.epoch
		if c.running && !slices.ContainsFunc(c.members, func(m *member) bool { return m.in && !m.done }) {
			c.finish(nil)
		}
	case kindMail:
		c.forward(m, what)
	case kindFailed:
		c.finish(fmt.Errorf("%v: %s", m, what.Why))
	}
}

// String names the worker.
func (m *member) String() string {
	if m.epoch > 0 {
		return fmt.Sprintf("rank %d on %s (process %d)", m.rank, m.Host, m.PID)
	}
	return fmt.Sprintf("a worker on %s (process %d)", m.Host, m.PID)
}

// lose removes a worker whose connection has ended.
func (c *Coordinator) lose(m *member, err error) {
	i := slices.Index(c.members, m)
	if i < 0 {
		return
	}
	c.members, c.changed = slices.Delete(c.members, i, i+1), time.Now()
	if c.ending {
		return
	}
	how := "its connection has ended"
	if late := net.Error(nil); errors.As(err, &late) && late.Timeout() {
		how = fmt.Sprintf("it has been silent for %v", Silence)
	}
	c.Tell(fmt.Sprintf("Lost %v: %s", m, how))
	if c.Lost != nil {
		c.Lost(m.Host, m.PID)
	}
	if m.in {
		c.over(fmt.Sprintf("%v is lost", m))
	}
	if c.stops && len(c.members) == 0 {
		c.finish(errors.New("all workers ended before they wrote a snapshot"))
	}
}

// over ends the epoch.
func (c *Coordinator) over(why string) {
	if !c.running {
		return
	}
	c.running = false
	for _, m := range c.members {
		if m.in {
			m.line.send(message{Kind: kindOver, Epoch: c.epoch, Why: why})
			m.in, m.ready, m.done = false, false, false
		}
	}
}

// begin begins an epoch if it is time.
func (c *Coordinator) begin() {
	waited := time.Since(c.changed)
	waits := slices.ContainsFunc(c.members, func(m *member) bool { return !m.ready && !m.in })
	switch n := len(c.members); {
	case c.ending, waits:
	case c.running:
		if slices.ContainsFunc(c.members, func(m *member) bool { return !m.in }) && !slices.ContainsFunc(c.members, func(m *member) bool { return m.done }) {
			c.over("a worker joins")
		}
	case n < c.Min && !c.stops:
		if waited > lack {
			c.finish(fmt.Errorf("there are %d workers since %v, -elastic asks for at least %d", n, lack, c.Min))
		}
	case n == 0, c.epoch == 0 && n < c.Max && waited < settle && !c.stops:
	default:
		c.start()
	}
}

// start begins an epoch with all members.
func (c *Coordinator) start() {
	first := slices.MaxFunc(c.members, func(a, b *member) int {
		return cmp.Or(cmp.Compare(a.version, b.version), cmp.Compare(a.trained, b.trained))
	})
	if first.trained < 0 && c.best > 0 {
		c.finish(fmt.Errorf("all workers that had the state of iteration %d are lost: -snapshot auto goes on from the newest snapshot", c.best))
		return
	}
	c.epoch++
	e := message{Kind: kindEpoch, Epoch: c.epoch, From: -1}
	for rank, m := range c.members {
		m.rank, m.epoch, m.in, m.ready = rank, c.epoch, true, false
		e.Addresses, e.Hosts, e.Iterations = append(e.Addresses, m.Address), append(e.Hosts, m.Host), append(e.Iterations, m.trained)
		e.Versions = append(e.Versions, m.version)
	}
	text := "from the beginning"
	if first.trained >= 0 {
		e.From, c.best = first.rank, first.trained
		text = fmt.Sprintf("from iteration %d", first.trained)
	}
	c.running = true
	c.Tell(fmt.Sprintf("Workers: %d; training %s", len(c.members), text))
	for _, m := range c.members {
		e.Rank = m.rank
		m.line.send(e)
	}
}

// finish ends the training: all workers end, and if it is incomplete the one that has trained most writes what there is.
func (c *Coordinator) finish(err error) {
	if c.ending {
		return
	}
	c.ending, c.ended, c.err, c.running = true, time.Now(), err, false
	end := message{Kind: kindEnd}
	if err != nil {
		end.Why = err.Error()
	}
	var keeps *member
	for _, m := range c.members {
		if err != nil && m.trained > 0 && (keeps == nil || m.trained > keeps.trained) {
			keeps = m
		}
	}
	for _, m := range c.members {
		end.Rescue = m == keeps
		m.line.send(end)
	}
}
