package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress is a bar on a terminal, and nothing where the stream goes to a file or a log reader.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(w io.Writer, n int, what string) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	return &progress{progressbar.NewOptions(n, progressbar.OptionSetWriter(w), progressbar.OptionSetItsString(what),
		progressbar.OptionShowIts(), progressbar.OptionShowCount(), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())}
}

func (p *progress) add(n int) {
	if p.bar != nil {
		_ = p.bar.Add(n) // a bar that cannot be drawn is no reason to stop
	}
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
