package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// pulse is the standard error stream of a terminal. While nothing is printed, it shows a last line that changes every second,
// with the progress of the work. The next line of the log replaces it. Files and pipes never receive it.
type pulse struct {
	to io.Writer

	mu       sync.Mutex
	last     time.Time // time of the last output
	shown    bool
	held     bool   // another writer uses the bottom of the terminal
	progress string // progress of the work, as a format with two numbers; "": unknown
	done, of int
}

// silence is the time without output after which the last line appears.
const silence = time.Second

// newPulse returns the pulse of a terminal. For other files it returns nil, on which all methods do nothing.
func newPulse(f *os.File) *pulse {
	if kind := os.Getenv("TERM"); !term.IsTerminal(int(f.Fd())) || kind == "" || kind == "dumb" {
		return nil
	}
	p := &pulse{to: f, last: time.Now()}
	go func() {
		for now := range time.Tick(silence) {
			p.beat(now)
		}
	}()
	return p
}

// Write replaces the last line by b.
func (p *pulse) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return p.to.Write(b)
}

// printed must be called before another stream prints on the terminal.
func (p *pulse) printed() {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
	}
}

func (p *pulse) clear() {
	p.last = time.Now()
	if p.shown {
		_, _ = io.WriteString(p.to, "\r\033[K")
		p.shown = false
	}
}

// beat draws the last line when it is due.
func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lapse := now.Sub(p.last)
	if p.held || lapse < silence {
		return
	}
	what := "working"
	if p.progress != "" {
		what = fmt.Sprintf(p.progress, p.done, p.of)
	}
	_, _ = fmt.Fprintf(p.to, "\r\033[K%s (%.0f s since the last line)", what, lapse.Seconds())
	p.shown = true
}

// tell sets the progress of the work.
func (p *pulse) tell(progress string, done, of int) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.progress, p.done, p.of = progress, done, of
	}
}

// Solving reports a solver's progress; see solver.Options.
func (p *pulse) Solving(testing bool, done, of int) {
	if testing {
		p.tell("Testing: batch %d of %d", done, of)
	} else {
		p.tell("Iteration %d of %d", done, of)
	}
}

// hold lets another writer use the bottom of the terminal, or ends this.
func (p *pulse) hold(held bool) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
		p.held = held
	}
}
