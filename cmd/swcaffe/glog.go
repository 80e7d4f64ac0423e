package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
)

// newLogger returns a logger whose lines have glog's shape, which Caffe's log parsers cut at fixed places:
// `I1120 12:00:01.123456  1234 solver.go:218] message`. All of them go to w until glogFlags say otherwise.
func newLogger(w io.Writer) *logrus.Logger {
	log := logrus.New()
	log.SetReportCaller(true)
	log.SetFormatter(severityFormatter{glogFormatter{pid: os.Getpid()}})
	log.SetOutput(&glogSink{stderr: w, flags: glogFlags{alsoLogToStderr: true}})
	return log
}

type glogFormatter struct {
	pid      int
	noPrefix bool // -log_prefix=false: messages alone
}

// glog's severities.
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

// Format prints one entry. Fields follow the message in the order of their names; further lines of a message are
// indented, so that every line of the stream begins with a level or a blank.
func (f glogFormatter) Format(e *logrus.Entry) ([]byte, error) {
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

// severityFormatter puts a byte with the severity before an entry, for glogSink.
type severityFormatter struct{ glogFormatter }

func (f severityFormatter) Format(e *logrus.Entry) ([]byte, error) {
	line, err := f.glogFormatter.Format(e)
	return append([]byte{severities[e.Level]}, line...), err
}

// glogSink distributes entries to the standard error stream and to log files, as glog does. An entry that cannot be written is
// lost: a full disk, or a reader of the stream that is gone, is no reason to end a training run.
type glogSink struct {
	stderr io.Writer
	flags  glogFlags
	files  *glogFiles // nil: none
	last   bool       // what comes is the error that ends the program: -minloglevel up to 3 lets it pass, as glog its FATAL
}

// Write takes an entry of a severityFormatter. The logger calls it for one entry at a time.
func (s *glogSink) Write(entry []byte) (int, error) {
	severity, line := int(entry[0]), entry[1:]
	threshold := severity
	if s.last {
		threshold = severityFatal
	}
	if threshold < s.flags.minLogLevel {
		return len(entry), nil
	}
	if s.flags.logToStderr || s.flags.alsoLogToStderr || threshold >= s.flags.stderrThreshold {
		s.print(severity, line)
	}
	if s.files != nil {
		s.files.write(severity, line)
	}
	return len(entry), nil
}

// print writes a line to the standard error stream, in glog's colours if they are asked for and $TERM has colours.
func (s *glogSink) print(severity int, line []byte) {
	if s.flags.colorLogToStderr && severity > severityInfo && termHasColors(os.Getenv("TERM")) {
		color := 1 // red
		if severity == severityWarning {
			color = 3 // yellow
		}
		line = fmt.Appendf(nil, "\033[0;3%dm%s\033[m", color, line)
	}
	_, _ = s.stderr.Write(line)
}

// termHasColors reports whether a kind of terminal is one of those that glog prints in colour on.
func termHasColors(term string) bool {
	return slices.Contains([]string{"xterm", "xterm-color", "xterm-256color", "screen", "screen-256color", "konsole", "konsole-16color",
		"konsole-256color", "linux", "cygwin", "tmux", "tmux-256color"}, term)
}

// sinkOf returns the sink of a logger of newLogger.
func sinkOf(log *logrus.Logger) *glogSink {
	s, _ := log.Out.(*glogSink)
	return s
}

// close writes out what log files have in buffers.
func (s *glogSink) close() {
	if s != nil && s.files != nil {
		s.files.close()
	}
}
