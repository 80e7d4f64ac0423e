package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/swcaffe/swcaffe/internal/app/statusline"
	"golang.org/x/term"
)

// pulse is the standard error stream of a terminal. While nothing is printed, it shows a last line that changes every second,
// with the progress of the work. The next line of the log replaces it. A command can show lines of its own in its place, which stay
// below the log (Show). Files and pipes never receive any of this.
type pulse struct {
	to   io.Writer
	size func() (columns, rows int) // of the terminal; rows is 0 if nothing may be drawn now

	mu       sync.Mutex
	last     time.Time // time of the last output
	shown    bool
	held     bool   // another writer uses the bottom of the terminal
	progress string // progress of the work, as a format with two numbers; "": unknown
	done, of int

	lines func() []string // of Show; nil: none
	block statusline.Block
	drawn time.Time // when block was drawn
}

// silence is the time without output after which the last line appears.
const silence = time.Second

// newPulse returns the pulse of a terminal. For other files it returns nil, on which all methods do nothing.
func newPulse(f *os.File) *pulse {
	if kind := os.Getenv("TERM"); !term.IsTerminal(int(f.Fd())) || kind == "" || kind == "dumb" {
		return nil
	}
	p := &pulse{to: f, size: func() (columns, rows int) {
		columns, rows, err := term.GetSize(int(f.Fd()))
		if err != nil || !statusline.Foreground(f) {
			return 0, 0
		}
		return columns, rows
	}, last: time.Now(), block: statusline.Block{Clips: statusline.Clips(os.Getenv)}}
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
	now := time.Now()
	text := p.cleared(now) + string(b)
	if strings.HasSuffix(text, "\n") {
		text += p.drawing(now)
	}
	if _, err := io.WriteString(p.to, text); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Show shows lines below the log from now on; nil ends that. Refresh and each line of the log call the function anew, and it must not
// print.
func (p *pulse) Show(lines func() []string) {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.clear()
		p.lines = lines
	}
}

// refreshed is the least time from one drawing of the lines to the next.
const refreshed = 100 * time.Millisecond

// Refresh draws the lines of Show anew, unless that was a moment ago.
func (p *pulse) Refresh() {
	if p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		if now := time.Now(); now.Sub(p.drawn) >= refreshed {
			_, _ = io.WriteString(p.to, p.drawing(now))
		}
	}
}

// drawing returns what draws the lines of Show. On a terminal with few rows they would take the place of the log.
func (p *pulse) drawing(now time.Time) string {
	if p.lines == nil || p.held {
		return ""
	}
	columns, rows := p.size()
	lines := p.lines()
	if rows < len(lines)+3 {
		return p.block.Clear(columns)
	}
	p.drawn = now
	return p.block.Draw(lines, columns)
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
	_, _ = io.WriteString(p.to, p.cleared(time.Now()))
}

// cleared returns what removes the last line, or the lines of Show.
func (p *pulse) cleared(now time.Time) string {
	p.last = now
	text := ""
	if p.block.Shown() {
		columns, _ := p.size()
		text = p.block.Clear(columns)
	}
	if p.shown {
		text += "\r\033[K"
		p.shown = false
	}
	return text
}

// beat draws the last line when it is due.
func (p *pulse) beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	lapse := now.Sub(p.last)
	if p.lines != nil {
		_, _ = io.WriteString(p.to, p.drawing(now))
		return
	}
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
