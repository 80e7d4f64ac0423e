package testreport

import (
	_ "embed"
	"html/template"
	"io"
)

//go:embed page.html
var pageText string

var page = template.Must(template.New("page").Parse(pageText))

// Write writes the page. outputs are figures for its head.
func (r *Report) Write(w io.Writer, outputs []Figure) error {
	return page.Execute(w, r.Results(outputs))
}
