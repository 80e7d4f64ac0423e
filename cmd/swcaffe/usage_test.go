package main

import (
	"errors"
	"flag"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/glog"
)

// refusal runs a command line that must be a usage error: exit code 2, one line on stderr without a position in the source, and
// nothing on stdout or in the log. It returns the line's text between the program's name and the reference to the help.
func refusal(t *testing.T, command string, args ...string) string {
	t.Helper()
	var stdout, stderr, log strings.Builder
	code := commands.Run(&cli.Env{Log: glog.New(&log), Stdout: &stdout, Stderr: &stderr}, args)
	match := regexp.MustCompile(`^swcaffe: (.+?)\.? See 'swcaffe help ` + command + `'\n$`).FindStringSubmatch(stderr.String())
	if code != 2 || match == nil || stdout.Len() > 0 || log.Len() > 0 {
		t.Errorf("%q: exit code %d, stderr %q, stdout %q, log %q", args, code, stderr.String(), stdout.String(), log.String())
		return ""
	}
	return match[1]
}

// TestUsageErrors: every flag of every command, misspelt, without its value and with a bad value.
func TestUsageErrors(t *testing.T) {
	for _, c := range commands {
		fs := flag.NewFlagSet(c.Name, flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		c.Do(fs)
		expect := func(want string, args ...string) {
			if got := refusal(t, c.Name, append([]string{c.Name}, args...)...); got != "" && !strings.HasPrefix(got, want) {
				t.Errorf("%s %q: %q, want %q", c.Name, args, got, want)
			}
		}
		expect("unknown flag -no_such_flag_at_all", "-no_such_flag_at_all=1")
		expect("unknown flag -minloglevvel; did you mean -minloglevel?", "-minloglevvel=1")
		fs.VisitAll(func(f *flag.Flag) {
			if fs.Lookup(f.Name+"q") == nil {
				expect("unknown flag -"+f.Name+"q", "-"+f.Name+"q=1")
			}
			getter, typed := f.Value.(flag.Getter)
			if glog.IsBool(f) {
				expect(`invalid boolean value "perhaps" for -`+f.Name, "-"+f.Name+"=perhaps")
				return
			}
			expect("flag -"+f.Name+" needs a value", "-"+f.Name)
			if typed {
				if _, text := getter.Get().(string); !text {
					expect(`invalid value "x" for flag -`+f.Name+": not a ", "-"+f.Name, "x")
				}
			}
		})
	}
}

// TestMissingArguments: commands that need a flag or a word refuse an empty command line.
func TestMissingArguments(t *testing.T) {
	without := map[string]bool{"device_query": true, "version": true, "fmt": true}
	for _, c := range commands {
		if !without[c.Name] {
			refusal(t, c.Name, c.Name)
		}
	}
}

// exits checks "exits CODE COMMAND ARGS...": the command ends with the exit code. Its output is that of exec.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || neg {
		ts.Fatalf("usage: exits code command args...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%v", err)
		}
		code = ended.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
