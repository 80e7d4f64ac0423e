package main

import (
	"cmp"
	"fmt"
	"html/template"
	"regexp"
	"strings"
)

var (
	commandLine = regexp.MustCompile(`^  ([a-z_]+) +(\S.*)$`)
	documentOf  = regexp.MustCompile(`\bdocs/([A-Za-z_]+)\.md\b`)
)

// commands makes a page of every command's help, and one that lists them by the groups of the program's own help.
func (s *site) commands(run func(...string) (string, error)) error {
	all, err := run("help")
	if err != nil {
		return fmt.Errorf("help: %w\n%s", err, all)
	}
	index := &page{Address: "commands/index.html", Title: "All commands"}
	var body strings.Builder
	body.WriteString("<h1>All commands</h1>\n")
	open, name := false, ""
	end := func() {
		if open {
			body.WriteString("</table></div>\n")
		}
		open = false
	}
	for line := range strings.Lines(all) {
		line = strings.TrimRight(line, "\n")
		found := commandLine.FindStringSubmatch(line)
		switch {
		case found == nil && strings.HasSuffix(line, ":"):
			end()
			name = strings.TrimSuffix(line, ":")
			fmt.Fprintf(&body, "<h2>%s</h2>\n<div class=\"wide\"><table>\n", template.HTMLEscapeString(strings.ToUpper(name[:1])+name[1:]))
			open = true
		case found != nil && open:
			help, err := run("help", found[1])
			if err != nil {
				return fmt.Errorf("help %s: %w\n%s", found[1], err, help)
			}
			p := helpPage(found[1], help)
			s.pages = append(s.pages, p)
			fmt.Fprintf(&body, "<tr><td><a href=\"%s.html\"><code>%[1]s</code></a></td><td>%s</td></tr>\n", found[1], template.HTMLEscapeString(found[2]))
			index.sections = append(index.sections, section{heading: found[1], text: found[2]})
		case line != "":
			end()
		}
	}
	end()
	if len(index.sections) == 0 {
		return fmt.Errorf("the program's help lists no commands:\n%s", all)
	}
	index.Body = template.HTML(body.String())
	s.pages = append(s.pages, index)
	return nil
}

// helpPage makes the page of a command, with links to the documents that its help names.
func helpPage(name, help string) *page {
	body := documentOf.ReplaceAllString(template.HTMLEscapeString(strings.TrimSpace(help)), `<a href="../docs/$1.html">docs/$1.md</a>`)
	first, rest, _ := strings.Cut(help, "flags:")
	return &page{
		Address: "commands/" + name + ".html",
		Title:   "swcaffe " + name,
		Body:    template.HTML(fmt.Sprintf("<h1>swcaffe %s</h1>\n<pre><code>%s</code></pre>\n", name, body)),
		sections: []section{{heading: "swcaffe " + name, text: strings.Join(strings.Fields(first), " ")},
			{heading: "flags of " + name, text: strings.Join(strings.Fields(cmp.Or(rest, "none")), " ")}},
	}
}
