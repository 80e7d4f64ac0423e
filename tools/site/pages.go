package main

import (
	"bytes"
	"fmt"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// site is what will be written.
type site struct {
	root, out string
	pages     []*page
	groups    []group           // the menu's, of docs/README.md and of the commands
	files     map[string]string // files that pages link to, by their paths in the site
}

// page is a page: its address and its parts.
type page struct {
	Address  string // docs/solver.html
	Title    string
	Body     template.HTML
	sections []section
}

// section is what stands below a heading, for the search.
type section struct{ id, heading, text string }

// group is a part of the menu: its name, and the addresses of its pages.
type group struct {
	name  string
	pages []string
}

var markdown = goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(parser.WithAutoHeadingID()))

// address returns the address of a Markdown file's page.
func address(name string) string {
	if dir, base := path.Split(name); base == "README.md" {
		return dir + "index.html"
	}
	return strings.TrimSuffix(name, ".md") + ".html"
}

// read makes a page of a Markdown file.
func (s *site) read(name string) error {
	source, err := os.ReadFile(filepath.Join(s.root, name))
	if err != nil {
		return err
	}
	document := markdown.Parser().Parse(text.NewReader(source), parser.WithContext(parser.NewContext(parser.WithIDs(anchors{}))))
	p := &page{Address: address(name)}
	if err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		var err error
		switch n := n.(type) {
		case *ast.Link:
			n.Destination, err = s.link(name, n.Destination)
		case *ast.Image:
			n.Destination, err = s.link(name, n.Destination)
		}
		return ast.WalkContinue, err
	}); err != nil {
		return err
	}
	p.sections = sections(document, source)
	if p.Title = p.sections[0].heading; p.Title == "" {
		return fmt.Errorf("%s does not begin with a heading", name)
	}
	if name == "docs/README.md" {
		s.groups = menu(document, source)
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, document); err != nil {
		return err
	}
	p.Body = template.HTML(wide.Replace(body.String()))
	s.pages = append(s.pages, p)
	return nil
}

// wide lets tables scroll in a narrow window.
var wide = strings.NewReplacer("<table>", `<div class="wide"><table>`, "</table>", "</table></div>")

// link returns the link of a Markdown file as its page has it. Files that are no pages are copied.
func (s *site) link(from string, destination []byte) ([]byte, error) {
	u, err := url.Parse(string(destination))
	if err != nil || u.Scheme != "" || u.Path == "" {
		return destination, err
	}
	name := path.Join(path.Dir(from), u.Path)
	info, err := os.Stat(filepath.Join(s.root, name))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s links to %s: %w", from, destination, err)
	case info.IsDir():
		if _, err := os.Stat(filepath.Join(s.root, name, "README.md")); err == nil {
			u.Path = strings.TrimSuffix(u.Path, "/") + "/index.html"
			break
		}
		entries, err := os.ReadDir(filepath.Join(s.root, name))
		if err != nil {
			return nil, err
		}
		s.listing(name, entries)
		u.Path = strings.TrimSuffix(u.Path, "/") + "/index.html"
	case path.Ext(name) == ".md":
		u.Path = address(u.Path)
	default:
		u.Path = path.Join(path.Dir(u.Path), path.Base(s.copied(name)))
	}
	return []byte(u.String()), nil
}

// shown are the files that browsers show as they are; the others are copied as texts.
var shown = []string{".svg", ".png", ".json", ".txt"}

// copied has a file copied and returns its path in the site.
func (s *site) copied(name string) string {
	to := name
	if !slices.Contains(shown, path.Ext(name)) {
		to += ".txt"
	}
	if s.files == nil {
		s.files = map[string]string{}
	}
	s.files[to] = filepath.Join(s.root, name)
	return to
}

// listing makes a page of a folder's files, once.
func (s *site) listing(name string, entries []os.DirEntry) {
	p := &page{Address: name + "/index.html", Title: name}
	if slices.ContainsFunc(s.pages, func(q *page) bool { return q.Address == p.Address }) {
		return
	}
	var body strings.Builder
	fmt.Fprintf(&body, "<h1>%s</h1>\n<ul>\n", template.HTMLEscapeString(name))
	for _, e := range entries {
		if e.Type().IsRegular() {
			to := path.Base(s.copied(path.Join(name, e.Name())))
			fmt.Fprintf(&body, "<li><a href=\"%s\">%s</a></li>\n", url.PathEscape(to), template.HTMLEscapeString(e.Name()))
		}
	}
	p.Body = template.HTML(body.String() + "</ul>\n")
	s.pages = append(s.pages, p)
}

// sections cuts a document at its headings. The first section has the title.
func sections(document ast.Node, source []byte) []section {
	all := []section{{}}
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if ok {
			id, _ := h.AttributeString("id")
			next := section{heading: words(h, source)}
			if b, ok := id.([]byte); ok {
				next.id = string(b)
			}
			if h.Level == 1 && all[0].heading == "" {
				next.id = ""
				all[0] = next
				continue
			}
			all = append(all, next)
			continue
		}
		last := &all[len(all)-1]
		last.text = strings.TrimSpace(last.text + " " + words(n, source))
	}
	return all
}

// words returns the text of a node on one line.
func words(n ast.Node, source []byte) string {
	var b strings.Builder
	ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.Text:
			if entering {
				b.Write(n.Segment.Value(source))
				if n.SoftLineBreak() || n.HardLineBreak() {
					b.WriteString(" ")
				}
			}
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			if entering {
				b.Write(n.Lines().Value(source))
			}
		default:
			if !entering && n.Type() == ast.TypeBlock {
				b.WriteString(" ")
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// menu returns the groups of an index: paragraphs that end with a colon, and the pages that the lists behind them link to.
func menu(document ast.Node, source []byte) []group {
	var groups []group
	for n := document.FirstChild(); n != nil; n = n.NextSibling() {
		name, ok := strings.CutSuffix(words(n, source), ":")
		if _, list := n.(*ast.List); !list && ok {
			groups = append(groups, group{name: name})
			continue
		}
		if len(groups) == 0 {
			continue
		}
		g := &groups[len(groups)-1]
		ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
			if l, ok := n.(*ast.Link); ok && entering && strings.HasSuffix(string(l.Destination), ".html") {
				if to := path.Join("docs", string(l.Destination)); !slices.Contains(g.pages, to) {
					g.pages = append(g.pages, to)
				}
			}
			return ast.WalkContinue, nil
		})
	}
	return groups
}

// anchors names headings as GitHub does, so that links to them work in both places.
type anchors map[string]bool

func (a anchors) Generate(value []byte, _ ast.NodeKind) []byte {
	id := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-', r == '_', unicode.IsLetter(r), unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, strings.TrimSpace(string(value)))
	unique := id
	for n := 1; a[unique]; n++ {
		unique = fmt.Sprintf("%s-%d", id, n)
	}
	a[unique] = true
	return []byte(unique)
}

func (a anchors) Put(value []byte) { a[string(value)] = true }
