package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// parsed is what check knows of a page: where its links lead, and the places that links can lead to.
type parsed struct {
	links []string
	ids   map[string]bool
}

// check fails if a link of a site leads nowhere, or if no way of links leads from index.html to a page.
func check(out string) error {
	pages := map[string]parsed{}
	files := map[string]bool{}
	if err := filepath.WalkDir(out, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(out, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		files[name] = true
		if path.Ext(name) == ".html" {
			pages[name], err = parse(file)
		}
		return err
	}); err != nil {
		return err
	}
	var faults []error
	for name, p := range pages {
		for _, link := range p.links {
			if err := leads(name, link, pages, files); err != nil {
				faults = append(faults, err)
			}
		}
	}
	reached := map[string]bool{"index.html": true}
	for queue := []string{"index.html"}; len(queue) > 0; queue = queue[1:] {
		for _, link := range pages[queue[0]].links {
			to, _, _ := strings.Cut(link, "#")
			if to = path.Join(path.Dir(queue[0]), to); !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	for name := range pages {
		if !reached[name] {
			faults = append(faults, fmt.Errorf("%s: no link leads there", name))
		}
	}
	slices.SortFunc(faults, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return errors.Join(faults...)
}

// leads returns an error if a link of a page leads nowhere in the site. Addresses of other sites are not asked.
func leads(from, link string, pages map[string]parsed, files map[string]bool) error {
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "" {
		return err
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	if !files[to] {
		return fmt.Errorf("%s links to %s, which is not there", from, link)
	}
	if u.Fragment != "" && !pages[to].ids[u.Fragment] {
		return fmt.Errorf("%s links to %s: that page has no such place", from, link)
	}
	return nil
}

func parse(file string) (parsed, error) {
	f, err := os.Open(file)
	if err != nil {
		return parsed{}, err
	}
	defer f.Close()
	document, err := html.Parse(f)
	if err != nil {
		return parsed{}, fmt.Errorf("%s: %w", file, err)
	}
	p := parsed{ids: map[string]bool{}}
	for n := range document.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "href", "src":
				p.links = append(p.links, a.Val)
			case "id":
				p.ids[a.Val] = true
			}
		}
	}
	return p, nil
}
