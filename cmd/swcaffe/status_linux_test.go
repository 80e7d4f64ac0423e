package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/statusline/screentest"
	"golang.org/x/sys/unix"
)

// openTerminal returns the two ends of a new terminal: what the user sees and types, and what programs use. Lines of the log fit into its
// columns.
func openTerminal(t *testing.T, columns, rows int) (user, programs *os.File) {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { user.Close() })
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		programs, err = os.OpenFile(fmt.Sprint("/dev/pts/", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	err = unix.IoctlSetWinsize(int(programs.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(columns), Row: uint16(rows)})
	mode, modeErr := unix.IoctlGetTermios(int(programs.Fd()), unix.TCGETS)
	if err := errors.Join(err, modeErr); err != nil {
		t.Fatal(err)
	}
	// Without these settings a Ctrl-C is shown where the cursor is at that moment, and discards what the terminal has not shown yet.
	mode.Lflag = mode.Lflag&^unix.ECHO | unix.NOFLSH
	if err := unix.IoctlSetTermios(int(programs.Fd()), unix.TCSETS, mode); err != nil {
		t.Fatal(err)
	}
	return user, programs
}

// onTerminal starts a training whose standard streams are a terminal. keys are what the user types.
func onTerminal(t *testing.T, solverText string, environment ...string) (cmd *exec.Cmd, screen *screentest.Screen, keys io.Writer, ended func() error) {
	t.Helper()
	const columns, rows = 400, 12
	keyboard, terminal := openTerminal(t, columns, rows)
	defer terminal.Close()
	dir := t.TempDir()
	for _, name := range []string{"logs", "states"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "solver.prototxt"), []byte(solverText), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd = exec.Command(buildBinary(t), "train", "-solver", "solver.prototxt", "-log_dir", "logs")
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = dir, terminal, terminal, terminal
	cmd.Env = append(os.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8", "NO_COLOR=")
	cmd.Env = append(cmd.Env, environment...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	screen = screentest.New(columns, rows)
	read := make(chan error, 1)
	go func() {
		_, err := io.Copy(screen, keyboard)
		if failed, ok := err.(*os.PathError); ok && failed.Err == syscall.EIO { // nobody has the terminal open any more
			err = nil
		}
		read <- err
	}()
	return cmd, screen, keyboard, func() error {
		err := cmd.Wait()
		if shown := <-read; shown != nil {
			t.Error(shown)
		}
		return err
	}
}

// logged returns the lines of a training's log file, without spaces at their ends.
func logged(t *testing.T, cmd *exec.Cmd) (lines []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(cmd.Dir, "logs", "swcaffe.INFO"))
	if err != nil {
		t.Fatal(err)
	}
	_, log, _ := strings.Cut(string(text), "file:line] msg\n")
	for line := range strings.Lines(log) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// shown is what a terminal shows in the end.
var shown = regexp.MustCompile(`\nIteration \d+ of 100000000  ─{24} 0 %  .+\nloss \S+ [▁▂▃▄▅▆▇█]+  lr 0.0001  \S+ images/s  waits for data \d+ %\ntest at iteration \d+:  \S+ \S+$`)

// TestStatusOnTerminal: while a training runs, a terminal's last lines are its status, and the log scrolls above. After Ctrl-C the
// terminal has the lines of the log and nothing else.
func TestStatusOnTerminal(t *testing.T) {
	cmd, screen, keys, ended := onTerminal(t, paged)
	eventually(t, "a status", func() bool { return shown.MatchString(strings.Join(screen.Lines(), "\n")) })
	lines := screen.All()
	for _, line := range lines[:len(lines)-3] {
		if !regexp.MustCompile(`^[IW]\d{4} `).MatchString(line) {
			t.Errorf("above the status stands %q", line)
		}
	}
	if _, err := keys.Write([]byte("\x03")); err != nil {
		t.Fatal(err)
	}
	if err := ended(); err != nil {
		t.Error(err)
	}
	if got, want := screen.All(), logged(t, cmd); !slices.Equal(got, want) {
		t.Errorf("the terminal has\n%s\nthe log file has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !screen.Styled() {
		t.Error("nothing was in bold face")
	}
}

// TestStatusBeforeAnError: the status has gone when the error is shown. With NO_COLOR nothing is styled.
func TestStatusBeforeAnError(t *testing.T) {
	text := strings.Replace(paged, `snapshot_prefix: "s"`, `snapshot: 40 snapshot_prefix: "states/s"`, 1)
	cmd, screen, _, ended := onTerminal(t, text, "NO_COLOR=1")
	eventually(t, "a status", func() bool { return shown.MatchString(strings.Join(screen.Lines(), "\n")) })
	if err := os.RemoveAll(filepath.Join(cmd.Dir, "states")); err != nil {
		t.Fatal(err)
	}
	if err := ended(); err == nil {
		t.Error("it ended without an error")
	}
	got := screen.All()
	if want := logged(t, cmd); !slices.Equal(got, want) || !strings.Contains(got[len(got)-1], "snapshot at iteration") {
		t.Errorf("the terminal has\n%s\nthe log file has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if screen.Styled() {
		t.Error("something was styled")
	}
}

// TestNoStatusOnDumbTerminal: a terminal that cannot move its cursor gets the lines of the log alone.
func TestNoStatusOnDumbTerminal(t *testing.T) {
	cmd, screen, _, ended := onTerminal(t, strings.Replace(paged, "max_iter: 100000000", "max_iter: 3", 1), "TERM=dumb")
	if err := ended(); err != nil {
		t.Error(err)
	}
	if got, want := screen.All(), logged(t, cmd); !slices.Equal(got, want) || screen.Styled() {
		t.Errorf("the terminal has\n%s\nthe log file has\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
