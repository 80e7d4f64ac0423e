package cli

import (
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progress is a bar on a terminal. It prints nothing to files and pipes.
type progress struct {
	bar   *progressbar.ProgressBar
	pulse *pulse
}

func NewProgress(w io.Writer, n int, what string) *progress {
	p, ok := w.(*pulse)
	if !ok {
		return &progress{}
	}
	p.hold(true)
	return &progress{progressbar.NewOptions(n, progressbar.OptionSetWriter(p.to), progressbar.OptionSetItsString(what),
		progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish()), p}
}

func (p *progress) Add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // an undrawable bar is no reason to stop
	}
}

// Set sets how many of how many are done.
func (p *progress) Set(done, of int) {
	if p.bar != nil {
		p.bar.ChangeMax(of)
		_ = p.bar.Set(done)
	}
}

func (p *progress) Finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.pulse.hold(false)
	}
}
