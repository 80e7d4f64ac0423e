package train

import (
	"flag"
	"fmt"
	"os"

	"github.com/swcaffe/swcaffe/internal/cli"
	"github.com/swcaffe/swcaffe/solver/events"
)

// eventFlags say who receives the events of a run.
type eventFlags struct {
	logJSON string

	stream *events.Stream // nil: nobody
	close  []func()
}

func (f *eventFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&f.logJSON, "log_json", "", "append every event of the run to a `FILE`, as a line of JSON each (docs/events.md); -: standard output")
}

// open connects the receivers that the flags name.
func (f *eventFlags) open(e *cli.Env) error {
	if f.logJSON == "" || cli.LaunchedRank() != 0 {
		return nil
	}
	f.stream = events.NewStream(nil)
	file, err := f.openFile(func(err error) { e.Log.Warnf("-log_json %v", err) })
	if err != nil {
		return fmt.Errorf("-log_json: %w", err)
	}
	f.close = append(f.close, func() { file.Close() })
	f.stream.Subscribe(file.Take)
	return nil
}

func (f *eventFlags) openFile(warn func(error)) (*events.File, error) {
	if f.logJSON == cli.StandardStream {
		return events.WriteTo(os.Stdout, "standard output", warn), nil
	}
	return events.Append(f.logJSON, warn)
}

// done disconnects the receivers.
func (f *eventFlags) done() {
	for _, c := range f.close {
		c()
	}
}
