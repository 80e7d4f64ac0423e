package testreport

import (
	_ "embed"
	"io"
)

// head is the page up to its heading; $ is the title.
//
//go:embed head.html
var head string

// Write writes the page. outputs are figures for its head.
func (r *Report) Write(w io.Writer, outputs []Figure) error {
	s, m := r.Results(outputs), &markup{}
	m.put(head, "Test of "+s.Model)
	m.summary(s)
	if s.Unit != "" {
		m.confusion(s)
		m.classes(s)
	}
	m.mistakes(s)
	if len(s.Curves) > 0 {
		m.curves(s)
	}
	m.put("</main>\n</body>\n</html>\n")
	_, err := io.WriteString(w, m.String())
	return err
}

// summary appends the names of the files and the figures.
func (m *markup) summary(s *Results) {
	m.put("<h1>Test of $</h1>\n<p class=\"faint\">Weights: $</p>\n<p class=\"faint\">$ batches", s.Model, s.Weights, s.Batches)
	if s.Items > 0 {
		m.put(", $ images", s.Items)
		if s.Different < s.Items {
			m.put(" (only $ different ones: items repeat, and some count more than others)", s.Different)
		}
		if s.Damaged > 0 {
			m.put(" ($ are damaged and were read as far as they go; the log names them)", s.Damaged)
		}
	}
	m.put("</p>\n<dl>\n")
	for _, f := range s.Figures {
		m.put("<div><dt>$</dt><dd>$</dd></div>\n", f.Name, f.Value)
	}
	m.put("</dl>\n")
}

// rows appends named values as the body of a table.
func (m *markup) rows(list []Row) {
	for _, r := range list {
		m.put("<tr><th scope=\"row\">$</th><td>$</td></tr>\n", r.Name, r.Value)
	}
}

// confusion appends the confusion matrix, as a table or a picture, and the most frequent mistakes.
func (m *markup) confusion(s *Results) {
	m.put("<section>\n<h2>Confusion matrix</h2>\n<div class=\"flow\">\n")
	switch p := s.MatrixPicture; {
	case len(s.Matrix) > 0:
		m.matrix(s)
	case p != nil:
		m.put(`<div><p>A row of pixels for each label, a column for each predicted class, from class 0 at the top left; the darker, the larger the share of the row. Right predictions are blue.</p>
<img class="large" src="$" alt="Confusion matrix; the table of classes has its diagonal" width="$" height="$"></div>
`, p.URL(), p.Width, p.Height)
	default:
		m.put("<p>The net has too many classes for a picture of the matrix.</p>\n")
	}
	if len(s.Confused) > 0 {
		m.put(`<div class="scroll"><table>
<caption>Most frequent mistakes</caption>
<thead><tr><th scope="row">mistake</th><th scope="col">$</th></tr></thead>
<tbody>
`, s.Unit)
		m.rows(s.Confused)
		m.put("</tbody>\n</table></div>\n")
	}
	m.put("</div>\n</section>\n")
}

// matrix appends the confusion matrix as a table.
func (m *markup) matrix(s *Results) {
	m.put("<div class=\"scroll\"><table class=\"matrix\">\n<caption>$: labels in rows, predictions in columns</caption>\n<thead><tr><th></th>", s.Unit)
	for _, name := range s.Names {
		m.put("<th scope=\"col\">$</th>", name)
	}
	m.put("</tr></thead>\n<tbody>\n")
	for _, row := range s.Matrix {
		m.put("<tr><th scope=\"row\">$</th>", row.Name)
		for _, c := range row.Cells {
			m.put(`<td class="$$" style="--a:$" title="$">$</td>`, unless(!c.Right, "right"), unless(c.Shade <= 0.7, " strong"), c.Shade, c.Title, c.Text)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody>\n</table></div>\n")
}

// classes appends the table of classes.
func (m *markup) classes(s *Results) {
	m.put(`<section>
<h2>Accuracy by class</h2>
<div class="scroll"><table>
<caption>Accuracy: the share of a label's $ that are predicted as it. Precision: the share of the $ predicted as a class that have its label.$</caption>
<thead><tr><th scope="row">class</th><th scope="col">$</th><th scope="col">right</th><th scope="col">accuracy</th><td></td><th scope="col">precision</th>`,
		s.Unit, s.Unit, unless(!s.Maps, " IoU: intersection over union."), s.Unit)
	if s.Maps {
		m.put("<th scope=\"col\">IoU</th>")
	}
	m.put("</tr></thead>\n<tbody>\n")
	for _, c := range s.Classes {
		m.put(`<tr><th scope="row">$</th><td>$</td><td>$</td><td>$</td><td><meter value="$" aria-hidden="true"></meter></td><td>$</td>`,
			c.Name, c.Items, c.Right, c.Recall, c.Share, c.Precision)
		if s.Maps {
			m.put("<td>$</td>", c.IoU)
		}
		m.put("</tr>\n")
	}
	m.put("</tbody>\n</table></div>\n</section>\n")
}

// curves appends a card with the curve of precision over recall for each class.
func (m *markup) curves(s *Results) {
	m.put(`<section>
<h2>Precision over recall</h2>
<p>Average precision ($) of every class. Recall grows to the right and precision upwards, both from 0 to 1.</p>
<ul class="cards">
`, s.AveragePrecision)
	for _, c := range s.Curves {
		m.put("<li><table><tbody><tr><th scope=\"row\"><strong>class $</strong></th><td>$</td></tr></tbody></table>\n", c.Name, c.Average)
		if c.Found {
			m.put(`<svg viewBox="0 0 100 100" role="img" aria-label="Precision over recall of class $"><path d="M0 50H100M50 0V100"/><polyline points="$"/></svg>`, c.Name, c.Points)
		} else {
			m.put("<p class=\"faint\">no detections</p>")
		}
		m.put("</li>\n")
	}
	m.put("</ul>\n</section>\n")
}
