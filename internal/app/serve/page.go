package serve

import (
	"cmp"
	"embed"
	"net/http"
	"path"
	"slices"
)

//go:embed assets
var assets embed.FS

// pageFiles are the files of the page by their paths. They are the same for every server and need no token: what they show does.
var pageFiles = map[string]string{"/": "index.html", "/page.css": "page.css", "/page.js": "page.js", "/chart.js": "chart.js"}

// pagePolicy lets the page use nothing but this server.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"

var pageTypes = map[string]string{".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}

// pageRoutes are the routes of the page's files.
func pageRoutes() (list []route) {
	for at, name := range pageFiles {
		text, err := assets.ReadFile("assets/" + name)
		if err != nil {
			panic(err)
		}
		list = append(list, route{method: "GET", path: at, public: true, handler: func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Set("Content-Type", pageTypes[path.Ext(name)])
			h.Set("Content-Security-Policy", pagePolicy)
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Cache-Control", "no-cache")
			w.Write(text)
		}})
	}
	return list
}

// isPage reports whether a request is for a file of the page. A link from elsewhere may open it.
func isPage(r *http.Request) bool {
	return pageFiles[r.URL.Path] != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead)
}

// ready is a version that is ready, as the page shows it.
type ready struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Inputs  []port `json:"inputs"`
	Outputs []port `json:"outputs"`
	Images  string `json:"images,omitempty"` // the call that takes an image, classify or detect
}

// ready answers with the versions that are ready, by name, the highest first.
func (s *Server) ready(w http.ResponseWriter, _ *http.Request) error {
	index, err := s.repository.index(true)
	if err != nil {
		return err
	}
	slices.Reverse(index)
	slices.SortStableFunc(index, func(a, b indexed) int { return cmp.Compare(a.Name, b.Name) })
	list := []ready{}
	for _, i := range index {
		v, err := s.repository.find(i.Name, i.Version)
		if err != nil {
			continue // unloaded meanwhile
		}
		one := ready{Name: v.name, Version: v.number, Inputs: v.inputs, Outputs: v.outputs}
		switch {
		case v.model.Detects() == nil:
			one.Images = "detect"
		case v.model.Classifies() == nil:
			one.Images = "classify"
		}
		v.users.Done()
		list = append(list, one)
	}
	return writeJSON(w, http.StatusOK, list)
}
