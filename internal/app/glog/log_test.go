package glog

import (
	"bytes"
	"regexp"
	"runtime"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// TestGlogFormat pins the places at which Caffe's log parsers cut a line: level and date, time with microseconds, thread
// in five places, file and line, "] ".
func TestGlogFormat(t *testing.T) {
	at := time.Date(2026, time.March, 9, 4, 5, 6, 7_000, time.UTC)
	frame := &runtime.Frame{File: "/somewhere/solver/solver.go", Line: 218}
	tests := []struct {
		name  string
		entry logrus.Entry
		want  string
	}{
		{"info", logrus.Entry{Level: logrus.InfoLevel, Message: "Iteration 0, loss = 2.3"},
			"I0309 04:05:06.000007    42 solver.go:218] Iteration 0, loss = 2.3\n"},
		{"warning", logrus.Entry{Level: logrus.WarnLevel, Message: "odd"}, "W0309 04:05:06.000007    42 solver.go:218] odd\n"},
		{"error", logrus.Entry{Level: logrus.ErrorLevel, Message: "bad\n"}, "E0309 04:05:06.000007    42 solver.go:218] bad\n"},
		{"fatal", logrus.Entry{Level: logrus.FatalLevel, Message: "worse"}, "F0309 04:05:06.000007    42 solver.go:218] worse\n"},
		{"lines", logrus.Entry{Level: logrus.InfoLevel, Message: "net:\nname: \"x\"\n\nlayer {"},
			"I0309 04:05:06.000007    42 solver.go:218] net:\n    name: \"x\"\n    \n    layer {\n"},
		{"fields by name", logrus.Entry{Level: logrus.InfoLevel, Message: "m", Data: logrus.Fields{"b": 2, "a": "x"}},
			"I0309 04:05:06.000007    42 solver.go:218] m a=x b=2\n"},
	}
	for _, tc := range tests {
		tc.entry.Time, tc.entry.Caller = at, frame
		got, err := formatter{pid: 42}.Format(&tc.entry)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: %q, %v, want %q", tc.name, got, err, tc.want)
		}
	}
}

// TestLoggerNamesTheCaller checks that the place in a line is where the message was logged.
func TestLoggerNamesTheCaller(t *testing.T) {
	var out bytes.Buffer
	New(&out).Infof("hello %d", 1)
	if !regexp.MustCompile(`^I\d{4} \d\d:\d\d:\d\d\.\d{6} [ \d]{5,} log_test\.go:\d+\] hello 1\n$`).Match(out.Bytes()) {
		t.Errorf("%q", out.String())
	}
}
