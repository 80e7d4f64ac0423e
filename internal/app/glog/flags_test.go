package glog

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sirupsen/logrus"
)

// logged is the output of a program that logs one message of each severity: on stderr, as the severities' letters, and in log
// files, by severity.
// It fails if an entry that nobody sees is formatted, but for errors.
func logged(t *testing.T, quiet bool, environment map[string]string, args ...string) (stderr string, files map[string]string) {
	t.Helper()
	var g Flags
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	g.Register(fs, quiet)
	if err := g.ReadEnvironment(fs, func(name string) (string, bool) { v, ok := environment[name]; return v, ok }); err != nil {
		t.Fatal(err)
	}
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	var out bytes.Buffer
	log := New(&out)
	g.Apply(log, "caffe")
	formatted := &formats{of: log.Formatter}
	log.SetFormatter(formatted)
	log.Info("information")
	log.Warn("warning")
	Ending(log) // which Caffe has with FATAL
	log.Error("error")
	Close(log)
	files = map[string]string{}
	links, err := filepath.Glob(filepath.Join(dir, "caffe.[A-Z]*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if target, err := os.Readlink(link); err != nil || filepath.Base(target) != target {
			continue // a file, or a link from elsewhere
		}
		text, err := os.ReadFile(link)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = bytes.Cut(text, []byte("file:line] msg\n"))
		files[strings.TrimPrefix(filepath.Base(link), "caffe.")] = letters(string(text))
	}
	stderr = letters(out.String())
	for _, l := range letters(formatted.text.String()) {
		if l != 'E' && !strings.ContainsRune(stderr+files["INFO"], l) {
			t.Errorf("%v %v: nobody sees %c, but it is formatted", environment, args, l)
		}
	}
	return stderr, files
}

// formats is a formatter that keeps what it has formatted.
type formats struct {
	of   logrus.Formatter
	text bytes.Buffer
}

func (f *formats) Format(e *logrus.Entry) ([]byte, error) {
	line, err := f.of.Format(e)
	f.text.Write(line[1:]) // behind the sink's byte
	return line, err
}

// letters are the first ones of a log's lines.
func letters(log string) (s string) {
	for line := range strings.Lines(log) {
		s += line[:1]
	}
	return s
}

// TestGlogFlags: the destinations of messages. The expected ones are those of BVLC Caffe 1.0 with glog 0.4 in runs of "caffe
// time" with these flags, except that Caffe always writes log files without -logtostderr.
func TestGlogFlags(t *testing.T) {
	all := map[string]string{"INFO": "IWE", "WARNING": "WE", "ERROR": "E"}
	none := map[string]string{}
	env := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	tests := []struct {
		env    map[string]string
		args   string
		quiet  bool
		stderr string
		files  map[string]string
	}{
		{stderr: "IWE", files: none},
		{args: "-alsologtostderr", stderr: "IWE", files: all},
		{args: "-alsologtostderr=0", stderr: "E", files: all},
		{args: "-alsologtostderr=no -stderrthreshold=1", stderr: "WE", files: all},
		{args: "-alsologtostderr=f -stderrthreshold=0", stderr: "IWE", files: all},
		{args: "-alsologtostderr=f -stderrthreshold=3", stderr: "E", files: all}, // the last message is Caffe's FATAL
		{args: "-stderrthreshold=2", stderr: "IWE", files: none},
		{args: "-logtostderr", stderr: "IWE", files: none},
		{args: "-logtostderr -alsologtostderr", stderr: "IWE", files: none},
		{args: "-logtostderr=false", stderr: "IWE", files: all},
		{args: "-minloglevel=1 -alsologtostderr", stderr: "WE", files: map[string]string{"INFO": "WE", "WARNING": "WE", "ERROR": "E"}},
		{args: "-minloglevel=3", stderr: "E", files: none},
		{args: "-minloglevel=4", stderr: "", files: none},
		{env: env("GLOG_minloglevel", "1"), stderr: "WE", files: none},
		{env: env("GLOG_minloglevel", "", "GLOG_v", "2"), stderr: "IWE", files: none},
		{env: env("GLOG_minloglevel", "1"), args: "-minloglevel=0", stderr: "IWE", files: none},
		{env: env("GLOG_logtostderr", "1"), args: "-alsologtostderr", stderr: "IWE", files: none},
		{env: env("GLOG_logtostderr", "off"), args: "-alsologtostderr", stderr: "IWE", files: all},
		{env: env("GLOG_alsologtostderr", "0"), stderr: "IWE", files: all},
		{quiet: true, stderr: "E", files: none},
		{quiet: true, args: "-logtostderr", stderr: "IWE", files: none},
		{quiet: true, env: env("GLOG_logtostderr", "yes"), stderr: "IWE", files: none},
		{quiet: true, env: env("GLOG_alsologtostderr", ""), stderr: "IWE", files: all},
		{quiet: true, args: "-stderrthreshold=1", stderr: "WE", files: none},
	}
	for _, tc := range tests {
		stderr, files := logged(t, tc.quiet, tc.env, strings.Fields(tc.args)...)
		if stderr != tc.stderr || len(files) != len(tc.files) {
			t.Errorf("%v %s: stderr %q, files %q; want %q and %q", tc.env, tc.args, stderr, files, tc.stderr, tc.files)
		}
		for name, text := range tc.files {
			if files[name] != text {
				t.Errorf("%v %s: %s is %q, want %q", tc.env, tc.args, name, files[name], text)
			}
		}
	}
}

// filesOf makes log files in a folder; args are flags. What is logged goes to no other place.
func filesOf(t *testing.T, args ...string) (log *logrus.Logger, dir string) {
	t.Helper()
	dir = t.TempDir()
	var g Flags
	fs := flag.NewFlagSet("test", flag.ContinueOnError)
	g.Register(fs, false)
	if err := fs.Parse(append(args, "-log_dir="+dir)); err != nil {
		t.Fatal(err)
	}
	log = New(io.Discard)
	g.Apply(log, "caffe")
	t.Cleanup(func() { Close(log) })
	return log, dir
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// TestLogBuffer: messages up to -logbuflevel wait for -logbufsecs, others are written out with all before them.
func TestLogBuffer(t *testing.T) {
	log, dir := filesOf(t)
	path := filepath.Join(dir, "caffe.INFO")
	log.Info("waits")
	if n := size(t, path); n != 0 {
		t.Errorf("%d bytes were written out, want 0", n)
	}
	log.Warn("does not")
	if text, _ := os.ReadFile(path); !strings.Contains(string(text), "] waits\n") || !strings.Contains(string(text), "] does not\n") {
		t.Errorf("%q lacks a message", text)
	}
	log, dir = filesOf(t, "-logbuflevel=-1")
	if log.Info("at once"); size(t, filepath.Join(dir, "caffe.INFO")) == 0 {
		t.Error("-logbuflevel=-1: nothing was written out")
	}
	log, dir = filesOf(t, "-logbufsecs=0")
	log.Info("soon")
	awaits(t, "message", func() bool { return size(t, filepath.Join(dir, "caffe.INFO")) > 0 })
}

// TestMaxLogSize: a file that is full is followed by another.
func TestMaxLogSize(t *testing.T) {
	log, dir := filesOf(t, "-max_log_size=1")
	long := strings.Repeat("x", 1<<20)
	log.Info(long)
	awaits(t, "second file", func() bool { // its name has the next second
		log.Info("more")
		found, _ := filepath.Glob(filepath.Join(dir, "caffe.*.log.INFO.*"))
		return len(found) == 2
	})
	Close(log)
	found, _ := filepath.Glob(filepath.Join(dir, "caffe.*.log.INFO.*"))
	slices.Sort(found)
	if target, err := os.Readlink(filepath.Join(dir, "caffe.INFO")); err != nil || target != filepath.Base(found[1]) {
		t.Errorf("the link names %q, %v; the newest file is %s", target, err, found[1])
	}
}

// TestLogOnAFullDisk: stderr is told once that a log file cannot be written, by a line that is written at once or by one that has waited.
func TestLogOnAFullDisk(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, severity := range []int{severityInfo, severityError} {
		var out strings.Builder
		g := newLogFiles(&Flags{bufLevel: severityInfo, bufSecs: 3600}, "caffe", &out)
		for i := range severity + 1 {
			g.files[i] = logFile{to: full, out: bufio.NewWriter(full)}
		}
		for range 3 {
			g.write(severity, []byte("line\n"))
			g.flush()
		}
		if want := "Lines of the log are lost: write /dev/full: no space left on device\n"; strings.ReplaceAll(out.String(), want, "") != "" || strings.Count(out.String(), want) != severity+1 {
			t.Errorf("severity %d: stderr has %q", severity, out.String())
		}
	}
}

// goneReader is a stream whose reader is gone.
type goneReader struct{ writes int }

func (g *goneReader) Write([]byte) (int, error) {
	g.writes++
	return 0, errors.New("broken pipe")
}

// TestLogWithoutReader: a log that cannot be written is no error of the program, and log files still get it.
func TestLogWithoutReader(t *testing.T) {
	var gone goneReader
	log := New(&gone)
	if n, err := log.Out.Write([]byte("\x00I message\n")); n != 11 || err != nil || gone.writes != 1 {
		t.Errorf("%d bytes, %v, %d writes; want 11, no error, 1", n, err, gone.writes)
	}
}

// awaits fails the test if a condition, that something is there, does not come to hold.
func awaits(t *testing.T, something string, holds func() bool) {
	t.Helper()
	const patience = 2 * time.Minute
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("no %s after %v", something, patience)
		}
	}
}
