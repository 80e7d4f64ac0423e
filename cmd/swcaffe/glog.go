package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sirupsen/logrus"
)

// newLogger returns a logger whose lines have glog's shape, which Caffe's log parsers cut at fixed places:
// `I1120 12:00:01.123456  1234 solver.go:218] message`.
func newLogger(w io.Writer) *logrus.Logger {
	log := logrus.New()
	log.SetOutput(w)
	log.SetReportCaller(true)
	log.SetFormatter(glogFormatter{pid: os.Getpid()})
	return log
}

type glogFormatter struct{ pid int }

var glogLevels = map[logrus.Level]byte{
	logrus.TraceLevel: 'I', logrus.DebugLevel: 'I', logrus.InfoLevel: 'I', logrus.WarnLevel: 'W',
	logrus.ErrorLevel: 'E', logrus.FatalLevel: 'F', logrus.PanicLevel: 'F',
}

// Format prints one entry. Fields follow the message in the order of their names; further lines of a message are
// indented, so that every line of the stream begins with a level or a blank.
func (f glogFormatter) Format(e *logrus.Entry) ([]byte, error) {
	var b bytes.Buffer
	place := "swcaffe:0"
	if e.Caller != nil {
		place = fmt.Sprintf("%s:%d", filepath.Base(e.Caller.File), e.Caller.Line)
	}
	fmt.Fprintf(&b, "%c%s %5d %s] %s", glogLevels[e.Level], e.Time.Format("0102 15:04:05.000000"), f.pid, place,
		strings.ReplaceAll(strings.TrimRight(e.Message, "\n"), "\n", "\n    "))
	for _, k := range slices.Sorted(maps.Keys(e.Data)) {
		fmt.Fprintf(&b, " %s=%v", k, e.Data[k])
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}
