package testreport

import (
	"fmt"
	"html"
	"strings"
)

// markup builds HTML. It is no template: text/template finds methods by their names, so that the linker would keep every method of every type.
type markup struct{ strings.Builder }

// put appends HTML. Each $ in it stands for one of the values, which is escaped as text or as an attribute in quotation marks.
func (m *markup) put(text string, values ...any) {
	for _, v := range values {
		before, after, found := strings.Cut(text, "$")
		if !found {
			panic("testreport: no $ for the value " + fmt.Sprint(v))
		}
		m.WriteString(before)
		m.WriteString(html.EscapeString(fmt.Sprint(v)))
		text = after
	}
	if strings.Contains(text, "$") {
		panic("testreport: no value for $ in " + text)
	}
	m.WriteString(text)
}

// unless returns a text if a condition does not hold, else "".
func unless(condition bool, text string) string {
	if condition {
		return ""
	}
	return text
}
