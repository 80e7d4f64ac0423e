// Package elastic lets a training outlive its workers. A coordinator, in a process that computes nothing, knows which workers there are. They train
// in epochs: while nothing changes, the same workers hold the same ranks. When one is lost or another one comes, the epoch is over. Every worker
// goes back to the last iteration that it has completed, and a new epoch begins with those that there are, from the latest such iteration of any
// of them. Between workers whose state is the same after every iteration, as of synchronous SGD, nothing more must be kept.
//
//	message.go      what workers and the coordinator tell one another
//	coordinator.go  the coordinator
//	worker.go       a worker's epochs
//	meet.go         connections between the workers of an epoch
//	mail.go         texts between them, for what shows a training
package elastic

import (
	"encoding/json"
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

const (
	// Silence is how long a worker may say nothing until it counts as lost: one that is stopped, or whose computer or network has failed. The
	// end of a process is noticed at once.
	Silence = 5 * time.Second
	// beat is the time between signs of life.
	beat = 500 * time.Millisecond
	// orphaned is how long a worker hears nothing of the coordinator until it gives up.
	orphaned = 30 * time.Second
	// settle is how long the first epoch waits for another worker, once there are enough.
	settle = 5 * time.Second
	// lack is how long a training waits for workers while there are too few.
	lack = 5 * time.Minute
	// patience is how long the workers of an epoch may take to connect.
	patience = 20 * time.Second
)

// message is a line of JSON. Kind says which fields count.
type message struct {
	Kind string
	// hello: who the worker is. Word is the secret of the training, Program the sum of the worker's program, and Flags are those that all must give alike.
	Word, Host, Program, Flags, Address string `json:",omitempty"`
	PID                                 int    `json:",omitempty"`
	// ready and beat: iterations that the worker has completed, -1 before it has any state. ready: the version of its state
	Iteration, Version int
	// epoch: its number, the worker's rank, the addresses and computers of all by rank, the iterations and versions that each has, and the rank with the state
	// from which to go on; -1: from the beginning
	Epoch, Rank, From int
	Addresses, Hosts  []string `json:",omitempty"`
	Iterations        []int    `json:",omitempty"`
	Versions          []int    `json:",omitempty"`
	// mail: the rank that it is for, in From the one that it is of, and the text
	To   int    `json:",omitempty"`
	Text []byte `json:",omitempty"`
	// end: the worker is to write what was trained; or it may not take part
	Rescue, Refused bool `json:",omitempty"`
	// over, end and failed: why; end without a reason: the training is complete
	Why string `json:",omitempty"`
}

// The kinds of messages: of workers, and of the coordinator.
const (
	kindHello  = "hello"
	kindReady  = "ready" // the worker can begin an epoch
	kindBeat   = "beat"  // also the coordinator's
	kindDone   = "done"  // the worker has trained to the end of the epoch
	kindFailed = "failed"
	kindMail   = "mail" // from one worker to another; also the coordinator's, who forwards it

	kindEpoch = "epoch"
	kindOver  = "over" // the epoch is over
	kindEnd   = "end"
)

// line is a connection for messages. Writes do not wait for the other side.
type line struct {
	conn  net.Conn
	mu    sync.Mutex
	queue chan message
	gone  bool
}

// queued is the number of messages that may wait; a side that reads nothing for so long is lost.
const queued = 64

func newLine(c net.Conn) *line {
	l := &line{conn: c, queue: make(chan message, queued)}
	go func() {
		e := json.NewEncoder(c)
		for m := range l.queue {
			if e.Encode(m) != nil {
				c.Close()
			}
		}
	}()
	return l
}

// send queues a message.
func (l *line) send(m message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return
	}
	select {
	case l.queue <- m:
	default:
		l.conn.Close()
	}
}

// receive calls take for every message until the connection fails or has been silent for some time.
func (l *line) receive(silence time.Duration, take func(message)) error {
	d := json.NewDecoder(heard{l.conn, silence})
	for {
		var m message
		if err := d.Decode(&m); err != nil {
			return err
		}
		take(m)
	}
}

// heard reads from a connection that may be silent for some time. A long message is no silence. The time in which this process is itself stopped, as by Ctrl-Z or by a
// scheduler that suspends a job, counts as one of several naps at the most: the other side, stopped too or not, then has the rest to be heard.
type heard struct {
	net.Conn
	silence time.Duration
}

func (h heard) Read(b []byte) (n int, err error) {
	for range naps {
		if err = h.SetReadDeadline(time.Now().Add(h.silence / naps)); err != nil {
			return 0, err
		}
		if n, err = h.Conn.Read(b); n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
	}
	return n, err
}

const naps = 5

// close closes the connection after the queued messages.
func (l *line) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.gone {
		l.gone = true
		close(l.queue)
	}
}
