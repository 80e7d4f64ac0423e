package regular

import (
	"os"
	"strings"
)

// blanks separate the paths of a line, and may be parts of them.
const blanks = " \t\r\v\f"

// Paths cuts a line of a list into paths, to each of which root is prepended. They are the line's words if there are as many as wanted, or if all words
// are files. Else a path may have blanks: Paths returns the only way to cut the line into files. If there is none, or more than one, it returns the words.
func Paths(root, line string, wanted int) []string {
	words := strings.Fields(line)
	if len(words) == wanted {
		return words
	}
	const many = 64 // words of a line of which no path has blanks
	c := &cutter{root: root, line: strings.Trim(line, blanks), known: map[string]bool{}}
	plain := true
	for _, w := range words {
		plain = plain && c.exists(w)
	}
	if plain || len(words) > many {
		return words
	}
	if ways := c.ways(0); len(ways) == 1 {
		return ways[0]
	}
	return words
}

// cutter looks for ways to cut a line into files.
type cutter struct {
	root, line string
	known      map[string]bool
	found      map[int][][]string // the ways from a byte of the line on, at most two
}

func (c *cutter) exists(path string) bool {
	is, known := c.known[path]
	if !known {
		info, err := os.Stat(c.root + path)
		is = err == nil && !info.IsDir()
		c.known[path] = is
	}
	return is
}

// ways returns the ways to cut the line from a byte on, at most two.
func (c *cutter) ways(from int) [][]string {
	if from == len(c.line) {
		return [][]string{nil}
	}
	if all, ok := c.found[from]; ok {
		return all
	}
	var all [][]string
	for end := from + 1; end <= len(c.line) && len(all) < 2; end++ {
		if end < len(c.line) && !strings.ContainsRune(blanks, rune(c.line[end])) || !c.exists(c.line[from:end]) {
			continue
		}
		rest := end
		for rest < len(c.line) && strings.ContainsRune(blanks, rune(c.line[rest])) {
			rest++
		}
		for _, way := range c.ways(rest) {
			all = append(all, append([]string{c.line[from:end]}, way...))
		}
	}
	if c.found == nil {
		c.found = map[int][][]string{}
	}
	c.found[from] = all[:min(2, len(all))]
	return c.found[from]
}
