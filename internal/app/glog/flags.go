package glog

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/sirupsen/logrus"
)

// Flags are the flags of glog, Caffe's logging library. Every command takes them. The environment variable GLOG_NAME sets the
// default of flag NAME.
type Flags struct {
	logToStderr, alsoLogToStderr, colorLogToStderr, stopIfFull, logPrefix bool
	logDir, logLink, backtraceAt                                          string
	minLogLevel, stderrThreshold, bufLevel, bufSecs, maxSize, fileMode    int

	asked map[string]bool // flags set on the command line or by the environment
}

func (g *Flags) bool(fs *flag.FlagSet, p *bool, name string, value bool, usage string) {
	*p = value
	set := func(s string) (err error) {
		*p, err = ParseBool(s)
		return err
	}
	fs.Var(&Value{Parse: set, text: strconv.FormatBool(value), boolean: true, Given: func() { g.asked[name] = true }}, name, usage)
}

func (g *Flags) int(fs *flag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	set := func(s string) error {
		n, err := strconv.ParseInt(s, 0, 32)
		if err != nil {
			return errors.New("not a whole number")
		}
		*p = int(n)
		return nil
	}
	fs.Var(&Value{Parse: set, text: strconv.Itoa(value), Given: func() { g.asked[name] = true }}, name, usage)
}

func (g *Flags) string(fs *flag.FlagSet, p *string, name, usage string) {
	set := func(s string) error {
		*p = s
		return nil
	}
	fs.Var(&Value{Parse: set, Given: func() { g.asked[name] = true }}, name, usage)
}

// Register registers the flags. quiet is for commands whose log is hidden by default, as in Caffe.
func (g *Flags) Register(fs *flag.FlagSet, quiet bool) {
	g.asked = map[string]bool{}
	g.bool(fs, &g.logToStderr, "logtostderr", false, "write the log to stderr and to no files")
	g.bool(fs, &g.alsoLogToStderr, "alsologtostderr", !quiet, "write all of the log to stderr; if the flag is given, to files as well")
	g.int(fs, &g.stderrThreshold, "stderrthreshold", severityError, "with -alsologtostderr=false: the least `SEVERITY` that stderr shows: 0 INFO, 1 WARNING, 2 ERROR, 3 FATAL")
	g.int(fs, &g.minLogLevel, "minloglevel", severityInfo, "the least `SEVERITY` that is logged at all")
	g.bool(fs, &g.colorLogToStderr, "colorlogtostderr", false, "colour warnings and errors on stderr, if $TERM has colours")
	g.bool(fs, &g.logPrefix, "log_prefix", true, "begin lines with severity, time and place; Caffe's log parsers need that")
	g.string(fs, &g.logDir, "log_dir", "write log files to `DIR` as well: PROGRAM.HOST.USER.log.SEVERITY.DATE-TIME.PID, and links PROGRAM.SEVERITY to the last ones. No log files are written unless this flag, -log_link, -alsologtostderr or -logtostderr=false asks for them")
	g.string(fs, &g.logLink, "log_link", "put links to the log files into `DIR` as well")
	g.int(fs, &g.bufLevel, "logbuflevel", severityInfo, "log files: the highest `SEVERITY` whose messages are not written out at once (-1: all are)")
	g.int(fs, &g.bufSecs, "logbufsecs", 30, "log files: write messages out after so many `SECONDS` at the latest")
	g.int(fs, &g.maxSize, "max_log_size", 1800, "log files: begin a new file after so many `MB` (0: 1)")
	g.int(fs, &g.fileMode, "logfile_mode", 0o664, "log files: their permissions")
	g.bool(fs, &g.stopIfFull, "stop_logging_if_full_disk", false, "log files: stop writing while the disk is full; otherwise every line is tried")
	g.string(fs, &g.backtraceAt, "log_backtrace_at", "add a trace of the stack to messages of `FILE:LINE`")
	g.registerIdle(fs)
}

// registerIdle registers the flags without effect, and the flags of features that swcaffe does not have.
func (g *Flags) registerIdle(fs *flag.FlagSet) {
	var verbosity, mailLevel int
	var modules, mailer string
	var drop, symbols bool
	g.int(fs, &verbosity, "v", 0, "show verbose messages up to `LEVEL`; swcaffe, as Caffe, has none")
	g.string(fs, &modules, "vmodule", "levels of verbose messages by `FILE=LEVEL,...`; swcaffe, as Caffe, has none")
	g.bool(fs, &drop, "drop_log_memory", true, "accepted without effect: log files are not kept in memory")
	g.bool(fs, &symbols, "symbolize_stacktrace", true, "accepted without effect: traces always have names")
	fs.Var(&Value{Parse: noMail}, "alsologtoemail", "refused: swcaffe sends no mail")
	g.int(fs, &mailLevel, "logemaillevel", 999, "accepted without effect: swcaffe sends no mail")
	g.string(fs, &mailer, "logmailer", "accepted without effect: swcaffe sends no mail")
}

func noMail(address string) error {
	if address == "" {
		return nil
	}
	return errors.New("swcaffe sends no mail")
}

// ReadEnvironment sets flags to the values of GLOG_NAME. As in glog, a word that does not begin with t, y or 1 is false, an
// empty variable sets no number, and a program's own setting has priority: commands that show their log show it whatever
// GLOG_alsologtostderr says.
func (g *Flags) ReadEnvironment(fs *flag.FlagSet, lookup func(string) (string, bool)) (err error) {
	shown := g.alsoLogToStderr
	if dir, ok := lookup("GOOGLE_LOG_DIR"); ok && dir != "" {
		g.logDir, g.asked["log_dir"] = dir, true
	}
	fs.VisitAll(func(f *flag.Flag) {
		value, ok := lookup("GLOG_" + f.Name)
		if !ok || err != nil || value == "" && !IsBool(f) {
			return
		}
		if IsBool(f) {
			value = strconv.FormatBool(value == "" || strings.ContainsAny(value[:1], "tTyY1"))
		}
		if setErr := f.Value.Set(value); setErr != nil {
			err = fmt.Errorf("environment variable GLOG_%s: invalid value %q: %w", f.Name, value, setErr)
		}
	})
	g.alsoLogToStderr = g.alsoLogToStderr || shown
	return err
}

// wantsFiles reports whether the flags ask for log files.
func (g *Flags) wantsFiles() bool {
	return !g.logToStderr && (g.logDir != "" || g.logLink != "" || g.asked["alsologtostderr"] || g.asked["logtostderr"])
}

// Apply configures a logger by the flags. program is the name for log files.
func (g *Flags) Apply(log *logrus.Logger, program string) {
	sink := sinkOf(log)
	if sink == nil {
		return // a test's logger, which captures everything
	}
	sink.flags = *g
	if g.wantsFiles() {
		sink.files = newLogFiles(g, program, sink.stderr)
	}
	log.SetLevel(g.level())
	f := formatter{pid: os.Getpid(), noPrefix: !g.logPrefix}
	log.SetFormatter(sinkFormatter{f})
	if g.backtraceAt != "" {
		log.SetFormatter(backtraceFormatter{f, g.backtraceAt})
	}
}

// level returns the least level whose entries somebody may see: nobody formats the others. Errors are always formatted, since one of them may be the last.
func (g *Flags) level() logrus.Level {
	least := g.minLogLevel
	if !g.wantsFiles() && !g.logToStderr && !g.alsoLogToStderr {
		least = max(least, g.stderrThreshold)
	}
	switch {
	case least <= severityInfo:
		return logrus.InfoLevel
	case least == severityWarning:
		return logrus.WarnLevel
	}
	return logrus.ErrorLevel
}
