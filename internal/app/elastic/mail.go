package elastic

import "sync"

// Mail takes texts between the workers of an epoch, by way of the coordinator, beside the messages of the training. What is posted after the epoch is
// over is lost.
type Mail struct {
	session           *session
	epoch, rank, size int
	mu                sync.Mutex
	boxes             [][][]byte // by sender
}

func newMail(s *session, e message) *Mail {
	return &Mail{session: s, epoch: e.Epoch, rank: e.Rank, size: len(e.Addresses), boxes: make([][][]byte, len(e.Addresses))}
}

// Rank is this worker's rank.
func (m *Mail) Rank() int { return m.rank }

// Size is the number of workers.
func (m *Mail) Size() int { return m.size }

// Post sends a text to another worker. It does not wait.
func (m *Mail) Post(to int, text []byte) error {
	m.session.line.send(message{Kind: kindMail, Epoch: m.epoch, To: to, Text: text})
	return nil
}

// Fetch returns the next text of another worker. It is not ok if none has come yet.
func (m *Mail) Fetch(from int) (text []byte, ok bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.boxes[from]) == 0 {
		return nil, false, nil
	}
	text, m.boxes[from] = m.boxes[from][0], m.boxes[from][1:]
	return text, true, nil
}

// take keeps a text that has come.
func (m *Mail) take(what message) {
	if m == nil || what.Epoch != m.epoch || what.From < 0 || what.From >= m.size {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.boxes[what.From] = append(m.boxes[what.From], what.Text)
}

// forward gives a worker's text to another one of the epoch.
func (c *Coordinator) forward(from *member, what message) {
	if !c.running || !from.in || what.Epoch != c.epoch {
		return
	}
	for _, m := range c.members {
		if m.in && m.rank == what.To {
			m.line.send(message{Kind: kindMail, Epoch: c.epoch, From: from.rank, Text: what.Text})
		}
	}
}
