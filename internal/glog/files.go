package glog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sirupsen/logrus"
)

// logFiles are a program's log files, one a severity with what is of that severity or a higher one. A file is made when the first
// message for it comes.
type logFiles struct {
	flags  *Flags
	base   string // PROGRAM.HOST.USER.log.
	link   string // PROGRAM.
	stderr io.Writer

	mu    sync.Mutex
	files [severityFatal + 1]logFile
	timer *time.Timer // writes out what stands in buffers; nil if nothing does
}

type logFile struct {
	to     *os.File
	out    *bufio.Writer
	name   string
	size   int64
	failed bool      // no file could be made
	full   time.Time // until when a full disk is not tried again
}

// logBuffer is how many bytes stand in a buffer at most, as in glog.
const logBuffer = 1 << 20

func newLogFiles(flags *Flags, program string, stderr io.Writer) *logFiles {
	host, err := os.Hostname()
	if err != nil {
		host = "(unknown)"
	}
	name := "invalid-user"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = strings.NewReplacer("/", "_", `\`, "_").Replace(u.Username)
	}
	return &logFiles{flags: flags, base: fmt.Sprintf("%s.%s.%s.log.", program, host, name), link: program + ".", stderr: stderr}
}

// write adds a line to the files of its severity and of all lower ones.
func (g *logFiles) write(severity int, line []byte) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s := severity; s >= severityInfo; s-- {
		g.add(s, line, severity > g.flags.bufLevel)
	}
	if severity <= g.flags.bufLevel && g.timer == nil {
		g.timer = time.AfterFunc(time.Duration(g.flags.bufSecs)*time.Second, g.flush)
	}
}

// add adds a line to the file of a severity, which it makes if need be.
func (g *logFiles) add(severity int, line []byte, flush bool) {
	f := &g.files[severity]
	now := time.Now()
	name := g.base + severityNames[severity] + now.Format(".20060102-150405.") + fmt.Sprint(os.Getpid())
	if f.to != nil && f.size>>20 >= int64(max(1, g.flags.maxSize)) && name != f.name {
		f.out.Flush()
		f.to.Close()
		f.to = nil
	}
	if f.to == nil && !f.failed {
		if err := g.open(f, severity, name, now); err != nil {
			f.failed = true
			fmt.Fprintf(g.stderr, "Could not create log file: %v\n", err)
		}
	}
	if f.failed || now.Before(f.full) {
		return
	}
	_, err := f.out.Write(line)
	if err == nil && flush {
		err = f.out.Flush()
	}
	if err != nil {
		f.out.Reset(f.to) // what could not be written is lost
		if g.flags.stopIfFull && errors.Is(err, syscall.ENOSPC) {
			f.full = now.Add(time.Duration(g.flags.bufSecs) * time.Second)
		}
	}
	f.size += int64(len(line))
}

// dirs are the folders that a log file may go to; the first that can be written to gets it.
func (g *logFiles) dirs() []string {
	if g.flags.logDir != "" {
		return []string{g.flags.logDir}
	}
	return []string{os.TempDir(), "."}
}

func (g *logFiles) open(f *logFile, severity int, name string, now time.Time) (err error) {
	for _, dir := range g.dirs() {
		path := filepath.Join(dir, name)
		to, openErr := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, os.FileMode(g.flags.fileMode))
		if openErr != nil {
			err = errors.Join(err, openErr)
			continue
		}
		*f = logFile{to: to, out: bufio.NewWriterSize(to, logBuffer), name: name}
		host, _ := os.Hostname()
		fmt.Fprintf(f.out, "Log file created at: %s\nRunning on machine: %s\nLog line format: [IWEF]mmdd hh:mm:ss.uuuuuu threadid file:line] msg\n",
			now.Format("2006/01/02 15:04:05"), host)
		g.relink(filepath.Join(dir, g.link+severityNames[severity]), name)
		if g.flags.logLink != "" {
			if whole, err := filepath.Abs(path); err == nil {
				g.relink(filepath.Join(g.flags.logLink, g.link+severityNames[severity]), whole)
			}
		}
		return nil
	}
	return err
}

// relink makes a symbolic link to the newest log file, as far as the system can. What is no link stays.
func (g *logFiles) relink(link, target string) {
	if info, err := os.Lstat(link); err == nil {
		if info.Mode()&os.ModeSymlink == 0 {
			return
		}
		_ = os.Remove(link)
	}
	_ = os.Symlink(target, link)
}

// flush writes out what stands in buffers.
func (g *logFiles) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = nil
	for i := range g.files {
		if f := &g.files[i]; f.to != nil && f.out.Flush() != nil {
			f.out.Reset(f.to)
		}
	}
}

func (g *logFiles) close() {
	g.flush()
	for i := range g.files {
		if f := &g.files[i]; f.to != nil {
			f.to.Close()
		}
	}
}

// backtraceFormatter adds a trace of the stack to the messages of one place, FILE:LINE.
type backtraceFormatter struct {
	formatter
	at string
}

func (f backtraceFormatter) Format(e *logrus.Entry) ([]byte, error) {
	if e.Caller != nil && at(e.Caller) == f.at {
		traced := *e
		traced.Message = strings.TrimRight(e.Message, "\n") + " (stacktrace:\n" + string(debug.Stack()) + ")"
		e = &traced
	}
	return sinkFormatter{f.formatter}.Format(e)
}

// at is a place in the source as the log prints it.
func at(f *runtime.Frame) string { return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line) }
