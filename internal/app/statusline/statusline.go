// Package statusline draws some lines below the output of a program on a terminal, and replaces or removes them. A Block remembers the lengths
// of the lines it has drawn. Its methods return the characters to write; nothing else may be written between them but whole lines.
package statusline

import (
	"strings"
	"unicode/utf8"
)

// Block is the lines that are on the terminal now. The cursor stands at the beginning of the line below them, so that what a dying program
// or a shell prints begins there.
type Block struct {
	Clips bool  // see Clips
	drawn []int // the columns of each line
}

// Clips reports, from the environment, whether the terminal clips its lines when it becomes narrower, as xterm and screen do. All others break
// them into several rows.
func Clips(env func(string) string) bool {
	return env("TMUX") == "" && (env("XTERM_VERSION") != "" || env("STY") != "")
}

// Shown reports whether lines are on the terminal.
func (b *Block) Shown() bool { return len(b.drawn) > 0 }

// Clear removes the lines. width is that of the terminal now in columns, 0 if it is unknown.
func (b *Block) Clear(width int) string {
	if !b.Shown() {
		return ""
	}
	s := b.up(width) + "\033[J"
	b.drawn = nil
	return s
}

// Draw puts lines in the place of the earlier ones. Each is cut to the terminal's width.
func (b *Block) Draw(lines []string, width int) string {
	var s strings.Builder
	s.WriteString(b.up(width))
	b.drawn = nil
	for _, line := range lines {
		line, columns := cut(line, width)
		s.WriteString(line + "\033[K\n")
		b.drawn = append(b.drawn, columns)
	}
	s.WriteString("\033[J")
	return s.String()
}

// up moves the cursor to the first line. Lines that the terminal has broken since they were drawn have several rows.
func (b *Block) up(width int) string {
	rows := 0
	for _, columns := range b.drawn {
		rows++
		if width > 0 && columns > 0 && !b.Clips {
			rows += (columns - 1) / width
		}
	}
	return "\r" + strings.Repeat("\033[A", rows)
}

// cut shortens a line to a number of columns, and returns how many it has then. Escape sequences of colours, which end in m, have none. The last column stays free, since
// terminals differ in where the cursor is after it.
func cut(line string, width int) (short string, columns int) {
	reset := ""
	for i := 0; i < len(line); {
		if strings.HasPrefix(line[i:], "\033[") {
			if end := strings.IndexByte(line[i:], 'm'); end > 0 {
				i += end + 1
				reset = "\033[0m"
				continue
			}
		}
		if columns+1 >= width {
			return line[:i] + reset, columns
		}
		columns++
		_, size := utf8.DecodeRuneInString(line[i:])
		i += size
	}
	return line, columns
}

// Bars returns values as bars of eight heights, a character each, between the least and the largest finite one. With ascii it has no
// characters beyond ASCII. Values that are not finite are exclamation marks.
func Bars(values []float64, ascii bool) string {
	levels := []rune("▁▂▃▄▅▆▇█")
	if ascii {
		levels = []rune("_.,-=+*#")
	}
	least, most := extremes(values)
	var s strings.Builder
	for _, v := range values {
		switch {
		case v-v != 0:
			s.WriteByte('!')
		case most == least:
			s.WriteRune(levels[0])
		default:
			s.WriteRune(levels[min(int((v-least)/(most-least)*float64(len(levels))), len(levels)-1)])
		}
	}
	return s.String()
}

// extremes returns the least and the largest of the finite values.
func extremes(values []float64) (least, most float64) {
	first := true
	for _, v := range values {
		if v-v != 0 {
			continue
		}
		if first {
			least, most, first = v, v, false
		}
		least, most = min(least, v), max(most, v)
	}
	return least, most
}
