package testreport

import "io"

// Table is a page with figures and one table, in the style of the page of a test.
type Table struct {
	Title   string
	Notes   []string // lines below the title
	Figures []Row
	Caption string
	Head    []string // names of columns; the first one names the rows
	Rows    [][]string
}

// Write writes the page.
func (t *Table) Write(w io.Writer) error {
	m := &markup{}
	m.put(head, t.Title)
	m.put("<h1>$</h1>\n", t.Title)
	for _, note := range t.Notes {
		m.put("<p class=\"faint\">$</p>\n", note)
	}
	m.put("<dl>\n")
	for _, f := range t.Figures {
		m.put("<div><dt>$</dt><dd>$</dd></div>\n", f.Name, f.Value)
	}
	m.put("</dl>\n<div class=\"scroll\"><table>\n<caption>$</caption>\n<thead><tr>", t.Caption)
	for _, name := range t.Head {
		m.put("<th scope=\"col\">$</th>", name)
	}
	m.put("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		m.put("<tr><th scope=\"row\">$</th>", row[0])
		for _, value := range row[1:] {
			m.put("<td>$</td>", value)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody>\n</table></div>\n</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, m.String())
	return err
}
