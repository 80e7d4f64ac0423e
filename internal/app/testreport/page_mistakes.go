package testreport

// mistakes appends the section of the worst images.
func (m *markup) mistakes(s *Results) {
	title := "Worst images"
	if s.Unit != "" && !s.Maps {
		title = "Worst-misclassified images"
	}
	m.put("<section>\n<h2>$</h2>\n", title)
	if len(s.Mistakes) == 0 {
		m.put("<p>There are none.</p>\n</section>\n")
		return
	}
	switch n := len(s.Mistakes); {
	case s.Unit == "":
		m.put("<p>The $ images with the smallest number of right detections, divided by that of objects and wrong detections. Boxes are shown from score 0.5 on: objects dashed, right detections solid, wrong ones dotted.</p>\n", n)
	case s.Maps:
		m.put("<p>The $ images with the smallest share of right pixels. Classes have PASCAL VOC's colours; pixels without a label are white.</p>\n", n)
	default:
		m.put("<p>$ of $ misclassified images: those whose label has the smallest probability, of the scores that layer $ reads.</p>\n", n, s.Wrong, s.ScoresOf)
	}
	if s.NoPictures {
		m.put("<p>The net's data has no grey or colour images, so that there are no pictures.</p>\n")
	}
	m.put("<ol class=\"cards$\">\n", unless(!s.Maps, " maps"))
	for _, c := range s.Mistakes {
		m.mistake(&c)
	}
	m.put("</ol>\n</section>\n")
}

// mistake appends the card of an image.
func (m *markup) mistake(c *Mistake) {
	m.put("<li>\n<div class=\"pictures\">")
	for _, p := range c.Pictures {
		m.picture(c, &p)
	}
	m.put("</div>\n<table><tbody><tr><th scope=\"row\"><strong>$</strong></th><td>$</td></tr>\n", c.Head, c.Score)
	m.rows(c.Guesses)
	m.put("</tbody></table>\n<p class=\"faint\">$image $ of the test</p>\n</li>\n", unless(c.Name == "", c.Name+", "), c.Item)
}

// picture appends a picture of an image, with the boxes of its objects and detections over it.
func (m *markup) picture(c *Mistake, p *Picture) {
	caption := ""
	if p.Caption != "" {
		caption = ", " + p.Caption
	}
	m.put("<figure")
	if len(c.Boxes) > 0 {
		m.put(" class=\"boxed\"")
	}
	m.put(`><img src="$" alt="Image $$" width="$" height="$">`, p.URL(), c.Item, caption, p.Width, p.Height)
	if len(c.Boxes) > 0 {
		m.put(`<svg class="boxes" viewBox="0 0 1 1" preserveAspectRatio="none" aria-hidden="true">`)
		for _, b := range c.Boxes {
			m.put(`<rect class="$" x="$" y="$" width="$" height="$"/>`, b.Kind, b.Left, b.Top, b.Width, b.Height)
		}
		m.put("</svg>")
	}
	if p.Caption != "" {
		m.put("<figcaption>$</figcaption>", p.Caption)
	}
	m.put("</figure>")
}
