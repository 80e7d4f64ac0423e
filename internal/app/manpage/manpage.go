// Package manpage writes manual pages in the language of man(7). A Page collects the parts of a page in their order; Bytes returns it.
package manpage

import (
	"bytes"
	"fmt"
	"strings"
)

// Page is a manual page.
type Page struct{ out bytes.Buffer }

// New begins a page of section 1. source names the program and its version.
func New(name, source string) *Page {
	p := &Page{}
	p.request("TH", strings.ToUpper(name), "1", "", source, "User Commands")
	p.request("nh") // no hyphens in names of flags, and even spaces
	p.request("ad", "l")
	return p
}

// Bytes returns the page.
func (p *Page) Bytes() []byte { return p.out.Bytes() }

// Section begins a section.
func (p *Page) Section(title string) { p.request("SH", strings.ToUpper(title)) }

// Subsection begins a part of a section.
func (p *Page) Subsection(title string) { p.request("SS", title) }

// Line adds a line of text to the current paragraph.
func (p *Page) Line(text string) { p.line(escape(text)) }

// Text adds paragraphs, which are separated by empty lines. A line that begins with spaces stays a line of its own.
func (p *Page) Text(text string) {
	p.request("PP")
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		indented := strings.HasPrefix(line, "  ")
		switch {
		case strings.TrimSpace(line) == "":
			p.request("PP")
			continue
		case indented:
			p.request("br")
		}
		p.line(escape(line))
	}
}

// Example adds a command line, shown as it is typed.
func (p *Page) Example(text string) {
	p.request("PP")
	p.request("in", "+4n")
	p.request("nf")
	p.line(escape(text))
	p.request("fi")
	p.request("in")
}

// Item adds an entry of a list: a term in bold face, what stands for its value in italics, and a description.
func (p *Page) Item(term, value, text string) {
	p.request("TP")
	head := `\fB` + escape(term) + `\fR`
	if value != "" {
		head += ` \fI` + escape(value) + `\fR`
	}
	p.line(head)
	p.line(escape(strings.Join(strings.Fields(text), " ")))
}

// request adds a request or a call of a macro. Its arguments are quoted if need be.
func (p *Page) request(name string, args ...string) {
	p.out.WriteString("." + name)
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\"") {
			a = `"` + strings.ReplaceAll(escape(a), `"`, `\(dq`) + `"`
		}
		p.out.WriteString(" " + a)
	}
	p.out.WriteByte('\n')
}

// line adds a line of text. A dot or an apostrophe at its beginning would be a request.
func (p *Page) line(text string) {
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	fmt.Fprintln(&p.out, text)
}

// escape protects the characters that roff reads in another way than they stand there.
var escape = strings.NewReplacer(`\`, `\e`, "-", `\-`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, "'", `\(aq`).Replace
