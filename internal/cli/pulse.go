package cli

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"golang.org/x/term"
)

// pulse is the standard error stream of a terminal. While nothing is printed, a last line that changes every second shows that the
// program works, and how far it is; the next line of the log takes its place. A file or a log reader never gets to see it.
type pulse struct {
	to io.Writer

	mu       sync.Mutex
	last     time.Time // when something was printed
	shown    bool
	held     bool   // somebody else draws at the bottom of the terminal
	progress string // how far the work is, as a format of two numbers; "" where nobody says
	done, of int
}

// silence is how long the terminal may stay as it is.
const silence = time.Second

// newPulse returns the pulse of a terminal; of other files nil, on which all methods do nothing.
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

// Write prints in the place of the last line.
func (p *pulse) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	return p.to.Write(b)
}

// printed is called before something is printed on the terminal by another stream.
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

// beat draws the last line, if it is time.
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

// tell says how far the work is.
func (p *pulse) tell(progress string, done, of int) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.progress, p.done, p.of = progress, done, of
	}
}

// Solving tells how far a solver is; see solver.Options.
func (p *pulse) Solving(testing bool, done, of int) {
	if testing {
		p.tell("Testing: batch %d of %d", done, of)
	} else {
		p.tell("Iteration %d of %d", done, of)
	}
}

// hold gives the bottom of the terminal to somebody else, or takes it back.
func (p *pulse) hold(held bool) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
		p.held = held
	}
}
