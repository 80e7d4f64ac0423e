package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/swcaffe/swcaffe/internal/app/glog"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// report shows the error of a run. A line of it about a place in a file is shown as compilers do: file:line:col: message, the line
// of the file, and a caret below the fault. Log files have all lines in the log's form.
func (e *Env) report(err error) {
	glog.Ending(e.Log)
	for line := range strings.SplitSeq(e.program.own(err.Error()), "\n") {
		x, ok := swproto.ExcerptOf(line)
		if !ok {
			e.Log.Error(line)
			continue
		}
		glog.Show(e.Log, line, e.paint(bold, x.Place()+":")+" "+x.Message+"\n"+x.Source(func(caret string) string { return e.paint(red, caret) })+"\n")
	}
}

// Colours and weights of terminals, as parameters of their escape sequences.
const (
	bold  = "1"
	dim   = "2"
	red   = "1;31"
	green = "32"
)

// Dim returns a text in a fainter colour, and Strong one in bold face, as paint does.
func (e *Env) Dim(text string) string    { return e.paint(dim, text) }
func (e *Env) Strong(text string) string { return e.paint(bold, text) }

// paint decorates a text for stderr, if it is a terminal that has colours and the environment has no NO_COLOR.
func (e *Env) paint(how, text string) string {
	if !e.Pulse.colours() {
		return text
	}
	return "\033[" + how + "m" + text + "\033[0m"
}

// colours reports whether texts may be coloured: there is a terminal, and NO_COLOR is absent or empty, as its convention says.
func (p *pulse) colours() bool { return p != nil && os.Getenv("NO_COLOR") == "" }

// Repeat prints a warning of the log on standard error, unless the log shows it there. "" is none.
func (e *Env) Repeat(warning string) {
	if warning != "" && !glog.ShowsWarnings(e.Log) {
		fmt.Fprintln(e.Stderr, warning)
	}
}
