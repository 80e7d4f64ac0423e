package infer

import (
	"encoding/json"
	"io"
	"os"
	"sync"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/serve"
)

// record sets up -log_requests and -trace. end writes what remains; a file that cannot be written does not end the server.
func (o *serveOptions) record(e *cli.Env, cfg *serve.Config) (end func(), err error) {
	end = func() {}
	if o.logRequests != "" {
		var w io.Writer = e.Stdout
		if o.logRequests != cli.StandardStream {
			file, err := os.OpenFile(o.logRequests, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
			if err != nil {
				return nil, cli.Usagef("-log_requests %w", err)
			}
			w, end = file, func() { file.Close() }
		}
		l := &requestLog{w: w, warn: e.Log.Warnf}
		cfg.Visited = l.add
	}
	if o.trace != "" {
		closeLog := end
		cfg.Trace = serve.NewTrace(o.traceRequests)
		write := sync.OnceFunc(func() {
			if err := e.CreateFile(o.trace, cfg.Trace.Write); err != nil {
				e.Log.Warnf("-trace %v", err)
			}
		})
		stop := make(chan struct{})
		go func() {
			select {
			case <-cfg.Trace.Full():
				write()
			case <-stop:
			}
		}()
		end = func() {
			close(stop)
			write()
			closeLog()
		}
	}
	return end, nil
}

// requestLog writes a line of JSON for each request.
type requestLog struct {
	mu     sync.Mutex
	w      io.Writer
	failed bool // the last line could not be written
	warn   func(format string, args ...any)
}

// add writes a line. Failures to write are written to the log of the command, the first of several in a row.
func (l *requestLog) add(v *serve.Visit) {
	line, err := json.Marshal(v)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		_, err = l.w.Write(append(line, '\n'))
	}
	if err != nil && !l.failed {
		l.warn("-log_requests: a request is not logged: %v", err)
	}
	l.failed = err != nil
}
