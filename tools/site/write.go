package main

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed assets
var assets embed.FS

var layout = template.Must(template.ParseFS(assets, "assets/page.html"))

// item is a line of the menu.
type item struct {
	Address, Title string
	Here           bool
}

// opened is a group of the menu; it is open on its own pages.
type opened struct {
	Name  string
	Open  bool
	Items []item
}

// write writes the site anew.
func (s *site) write() error {
	if err := os.RemoveAll(s.out); err != nil {
		return err
	}
	titles := map[string]string{}
	for _, p := range s.pages {
		titles[p.Address] = p.Title
	}
	groups, err := s.menuOf(titles)
	if err != nil {
		return err
	}
	var index [][4]string // address, title of the page, heading, text
	for _, p := range s.pages {
		top := strings.Repeat("../", strings.Count(p.Address, "/"))
		var file bytes.Buffer
		err := layout.Execute(&file, map[string]any{"Page": p, "Top": top, "Groups": here(groups, titles, p.Address), "Home": titles["index.html"]})
		if err != nil {
			return err
		}
		if err := s.put(p.Address, file.Bytes()); err != nil {
			return err
		}
		for _, part := range p.sections {
			to := p.Address
			if part.id != "" {
				to += "#" + part.id
			}
			index = append(index, [4]string{to, p.Title, part.heading, part.text})
		}
	}
	for to, from := range s.files {
		content, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		if err := s.put(to, content); err != nil {
			return err
		}
	}
	for _, name := range []string{"style.css", "search.js"} {
		content, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return err
		}
		if err := s.put(name, content); err != nil {
			return err
		}
	}
	list, err := json.Marshal(index)
	if err != nil {
		return err
	}
	return s.put("index.js", fmt.Appendf(nil, "const pages = %s;\n", list))
}

func (s *site) put(name string, content []byte) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o666)
}

// menuOf returns the groups of the menu: those of docs/README.md, commands, models and whatever is left.
func (s *site) menuOf(titles map[string]string) ([]group, error) {
	groups := slices.Clone(s.groups)
	listed := map[string]bool{"index.html": true}
	for _, g := range groups {
		for _, p := range g.pages {
			if titles[p] == "" {
				return nil, fmt.Errorf("docs/README.md links to %s, which is no page", p)
			}
			listed[p] = true
		}
	}
	commands, models, more := group{name: "Commands"}, group{name: "Models"}, group{name: "More"}
	for _, p := range s.pages {
		g := &more
		switch {
		case strings.HasPrefix(p.Address, "commands/"):
			g = &commands
		case strings.HasPrefix(p.Address, "models/"):
			g = &models
		}
		if !listed[p.Address] {
			g.pages = append(g.pages, p.Address)
		}
	}
	for _, g := range []*group{&commands, &models, &more} {
		slices.SortFunc(g.pages, func(a, b string) int { return strings.Compare(titles[a], titles[b]) })
		if len(g.pages) > 0 {
			groups = append(groups, *g)
		}
	}
	return groups, nil
}

func here(groups []group, titles map[string]string, address string) []opened {
	var menu []opened
	for _, g := range groups {
		s := opened{Name: g.name, Open: slices.Contains(g.pages, address)}
		for _, p := range g.pages {
			s.Items = append(s.Items, item{p, strings.TrimPrefix(titles[p], "swcaffe "), p == address})
		}
		menu = append(menu, s)
	}
	return menu
}
