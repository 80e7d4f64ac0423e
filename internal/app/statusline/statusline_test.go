package statusline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/internal/app/statusline/screentest"
)

// TestBlockBelowLog: log lines stand above the block and scroll, the block is always the last lines, and nothing of it stays behind.
func TestBlockBelowLog(t *testing.T) {
	screen := screentest.New(20, 6)
	write := func(s string) {
		t.Helper()
		if _, err := screen.Write([]byte(strings.ReplaceAll(s, "\n", "\r\n"))); err != nil {
			t.Fatal(err)
		}
	}
	var b Block
	var log []string
	for i := range 9 {
		block := []string{fmt.Sprintf("state %d", i), "second"}[:1+i%2]
		line := fmt.Sprintf("log %d", i)
		log = append(log, line)
		write(b.Clear(20) + line + "\n")
		write(b.Draw([]string{"\033[1mother\033[0m", "lines", "than these"}, 20))
		write(b.Draw(block, 20))
		if got, want := screen.All(), append(slices.Clone(log), block...); !slices.Equal(got, want) || !b.Shown() {
			t.Fatalf("the screen shows %q, want %q", got, want)
		}
	}
	write(b.Draw([]string{"\033[2m" + strings.Repeat("wide", 9) + "\033[0m", strings.Repeat("▁", 19)}, 20))
	if got := screen.Lines(); got[len(got)-2] != strings.Repeat("wide", 5)[:19] || got[len(got)-1] != strings.Repeat("▁", 19) {
		t.Errorf("wide lines are shown as %q", got)
	}
	write(b.Clear(20) + b.Clear(20))
	if got := screen.All(); !slices.Equal(got, log) || b.Shown() {
		t.Errorf("the screen shows %q in the end, want %q", got, log)
	}
}

// TestNarrower: nothing of the block stays when the terminal has broken its lines. One that clips lines has not.
func TestNarrower(t *testing.T) {
	for _, clear := range []bool{true, false} {
		screen := screentest.New(20, 9)
		write := func(s string) {
			t.Helper()
			if _, err := screen.Write([]byte(strings.ReplaceAll(s, "\n", "\r\n"))); err != nil {
				t.Fatal(err)
			}
		}
		var b Block
		write("log\n" + b.Draw([]string{"\033[1m" + strings.Repeat("x", 25) + "\033[0m", strings.Repeat("▁", 14), "", "short"}, 20))
		screen.Narrow(7)
		if got := screen.All(); len(got) != 8 {
			t.Fatalf("the screen shows %q", got)
		}
		want := []string{"log"}
		if clear {
			write(b.Clear(7))
		} else {
			write(b.Draw([]string{"new"}, 7))
			want = append(want, "new")
		}
		if got := screen.All(); !slices.Equal(got, want) {
			t.Errorf("the screen shows %q, want %q", got, want)
		}
	}
	b := Block{Clips: true}
	b.Draw([]string{strings.Repeat("x", 19)}, 20)
	if got := b.Clear(7); got != "\r\033[A\033[J" {
		t.Errorf("a block on a terminal that clips is removed by %q", got)
	}
}

func TestClips(t *testing.T) {
	for variables, want := range map[string]bool{"": false, "XTERM_VERSION": true, "STY": true, "TMUX": false, "TMUX STY XTERM_VERSION": false} {
		env := func(name string) string {
			if slices.Contains(strings.Fields(variables), name) {
				return "x"
			}
			return ""
		}
		if got := Clips(env); got != want {
			t.Errorf("with %q: %v, want %v", variables, got, want)
		}
	}
}

func TestBars(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		want   string
	}{
		{nil, ""}, {[]float64{3, 3}, "▁▁"}, {[]float64{0, 1, 2, 3, 4, 5, 6, 7, 8}, "▁▂▃▄▅▆▇██"}, {[]float64{-1, nan, 1, math.Inf(1)}, "▁!█!"},
	} {
		if got := Bars(c.values, false); got != c.want {
			t.Errorf("%v: %s, want %s", c.values, got, c.want)
		}
	}
	if got := Bars([]float64{0, 3.9, 8}, true); got != "_-#" {
		t.Errorf("in ASCII: %s", got)
	}
}
