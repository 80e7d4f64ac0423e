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

// logFiles are a program's log files, one per severity. Each file holds the messages of its severity and of higher ones. The
// first message for a file creates it.
type logFiles struct {
	flags  *Flags
	base   string // PROGRAM.HOST.USER.log.
	link   string // PROGRAM.
	stderr io.Writer

	mu    sync.Mutex
	files [severityFatal + 1]logFile
	timer *time.Timer // flushes the buffers; nil if they are empty
}

type logFile struct {
	to     *os.File
	out    *bufio.Writer
	name   string
	size   int64
	failed bool      // creating the file has failed
	lossy  bool      // lines were lost, which stderr was told
	full   time.Time // after a full disk: no writing until this time
}

// logBuffer is the largest number of bytes in a buffer, as in glog.
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

// add adds a line to the file of a severity, and creates the file if necessary.
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
		g.lose(f, err)
		if g.flags.stopIfFull && errors.Is(err, syscall.ENOSPC) {
			f.full = now.Add(time.Duration(g.flags.bufSecs) * time.Second)
		}
	}
	f.size += int64(len(line))
}

// dirs returns the candidate folders for log files. The first writable one is used.
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

// relink replaces a symbolic link by one to the newest log file, if the system has links. It replaces nothing but links.
func (g *logFiles) relink(link, target string) {
	if info, err := os.Lstat(link); err == nil {
		if info.Mode()&os.ModeSymlink == 0 {
			return
		}
		_ = os.Remove(link)
	}
	_ = os.Symlink(target, link)
}

// flush writes the buffers to the files.
func (g *logFiles) flush() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.timer = nil
	for i := range g.files {
		if f := &g.files[i]; f.to != nil {
			if err := f.out.Flush(); err != nil {
				g.lose(f, err)
			}
		}
	}
}

// lose drops the unwritten text of a file. It tells stderr once, which may be all that is read of a run whose log is in files.
func (g *logFiles) lose(f *logFile, err error) {
	f.out.Reset(f.to)
	if !f.lossy {
		f.lossy = true
		fmt.Fprintf(g.stderr, "Lines of the log are lost: %v\n", err)
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

// backtraceFormatter adds a stack trace to the messages of one place, FILE:LINE.
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

// at returns a place in the source in the log's form.
func at(f *runtime.Frame) string { return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line) }
