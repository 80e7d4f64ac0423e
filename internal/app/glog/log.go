// Package glog gives logrus loggers the line format, flags and log files of glog, Caffe's logging library.
//
// New makes a logger. Flags are glog's flags, with defaults from environment variables GLOG_NAME; Flags.Apply configures the
// logger. The package also has the flag values of gflags, Value and ParseBool, for all flags.
package glog

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/sirupsen/logrus"
)

// New returns a logger whose lines have glog's format, which Caffe's log parsers cut at fixed columns: `I1120 12:00:01.123456
// 1234 solver.go:218] message`. All lines go to w until Flags.Apply says otherwise.
func New(w io.Writer) *logrus.Logger {
	log := logrus.New()
	log.SetReportCaller(true)
	log.SetFormatter(sinkFormatter{formatter{pid: os.Getpid()}})
	log.SetOutput(&sink{stderr: w, flags: Flags{alsoLogToStderr: true}})
	return log
}

type formatter struct {
	pid      int
	noPrefix bool // -log_prefix=false: only messages
}

// Severities of glog.
const (
	severityInfo = iota
	severityWarning
	severityError
	severityFatal
)

var severityNames = []string{"INFO", "WARNING", "ERROR", "FATAL"}

var severities = map[logrus.Level]byte{
	logrus.TraceLevel: severityInfo, logrus.DebugLevel: severityInfo, logrus.InfoLevel: severityInfo, logrus.WarnLevel: severityWarning,
	logrus.ErrorLevel: severityError, logrus.FatalLevel: severityFatal, logrus.PanicLevel: severityFatal,
}

// Format prints one entry. Fields follow the message in the order of their names. Continuation lines of a message are indented,
// so that every line of the stream begins with a level or a blank.
func (f formatter) Format(e *logrus.Entry) ([]byte, error) {
	var b bytes.Buffer
	place := "swcaffe:0"
	if e.Caller != nil {
		place = at(e.Caller)
	}
	if !f.noPrefix {
		fmt.Fprintf(&b, "%c%s %5d %s] ", severityNames[severities[e.Level]][0], e.Time.Format("0102 15:04:05.000000"), f.pid, place)
	}
	b.WriteString(strings.ReplaceAll(strings.TrimRight(e.Message, "\n"), "\n", "\n    "))
	for _, k := range slices.Sorted(maps.Keys(e.Data)) {
		fmt.Fprintf(&b, " %s=%v", k, e.Data[k])
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// sinkFormatter puts a byte with the severity before an entry, for sink.
type sinkFormatter struct{ formatter }

func (f sinkFormatter) Format(e *logrus.Entry) ([]byte, error) {
	line, err := f.formatter.Format(e)
	return append([]byte{severities[e.Level]}, line...), err
}

// sink distributes entries to the standard error stream and to log files, as glog does. An entry that cannot be written is lost:
// neither a full disk nor a closed pipe ends a training run.
type sink struct {
	mu     sync.Mutex // loggers may share a sink
	stderr io.Writer
	flags  Flags
	files  *logFiles // nil: no files
	last   bool      // the next entry is the error that ends the program: -minloglevel up to 3 shows it, like glog's FATAL
	shown  string    // if not empty, what stderr shows of the next error
}

// Write takes an entry of sinkFormatter.
func (s *sink) Write(entry []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	severity, line := int(entry[0]), entry[1:]
	threshold := severity
	if s.last {
		threshold = severityFatal
	}
	if threshold < s.flags.minLogLevel {
		return len(entry), nil
	}
	if s.shown != "" && severity == severityError {
		line, s.shown = []byte(s.shown), ""
	}
	if s.flags.logToStderr || s.flags.alsoLogToStderr || threshold >= s.flags.stderrThreshold {
		s.print(severity, line)
	}
	if s.files != nil {
		s.files.write(severity, entry[1:])
	}
	return len(entry), nil
}

// print writes a line to the standard error stream, in glog's colours if a flag asks for them and $TERM has colours.
func (s *sink) print(severity int, line []byte) {
	if s.flags.colorLogToStderr && severity > severityInfo && termHasColors(os.Getenv("TERM")) {
		color := 1 // red
		if severity == severityWarning {
			color = 3 // yellow
		}
		line = fmt.Appendf(nil, "\033[0;3%dm%s\033[m", color, line)
	}
	_, _ = s.stderr.Write(line)
}

// termHasColors reports whether glog prints in colour on this kind of terminal.
func termHasColors(term string) bool {
	return slices.Contains([]string{"xterm", "xterm-color", "xterm-256color", "screen", "screen-256color", "konsole", "konsole-16color",
		"konsole-256color", "linux", "cygwin", "tmux", "tmux-256color"}, term)
}

// Ending marks the following entries as the error that ends the program.
func Ending(log *logrus.Logger) {
	if s := sinkOf(log); s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.last = true
	}
}

// ShowsWarnings reports whether the standard error stream shows a logger's warnings.
func ShowsWarnings(log *logrus.Logger) bool {
	s := sinkOf(log)
	if s == nil {
		return true // a test's logger, which captures everything
	}
	f := &s.flags
	return f.minLogLevel <= severityWarning && (f.logToStderr || f.alsoLogToStderr || f.stderrThreshold <= severityWarning)
}

// Show logs an error whose text on the standard error stream is shown, without the log's prefix. Log files have the message.
func Show(log *logrus.Logger, message, shown string) {
	if s := sinkOf(log); s != nil {
		s.mu.Lock()
		s.shown = shown
		s.mu.Unlock()
	}
	log.Error(message)
}

// Close flushes and closes a logger's files.
func Close(log *logrus.Logger) {
	if s := sinkOf(log); s != nil && s.files != nil {
		s.files.close()
	}
}

// sinkOf returns the sink of a logger made by New, nil for other loggers.
func sinkOf(log *logrus.Logger) *sink {
	s, _ := log.Out.(*sink)
	return s
}
