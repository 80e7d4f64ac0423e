package events

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
)

// TestDocumentedFields: docs/events.md lists the kinds and their fields, in the order of the code, with their types, and no others.
func TestDocumentedFields(t *testing.T) {
	text, err := os.ReadFile("../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := strings.Split(string(text), "\n## `")
	if len(sections)-1 != len(samples) {
		t.Errorf("%d kinds are documented, there are %d", len(sections)-1, len(samples))
	}
	for i, b := range samples {
		var want, got []string
		body := reflect.TypeOf(b).Elem()
		for k := range body.NumField() {
			f := body.Field(k)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			want = append(want, fmt.Sprintf("%s %s", name, documentedType(f.Type)))
		}
		kind, rest, _ := strings.Cut(sections[i+1], "`")
		for line := range strings.Lines(rest) {
			if cells := strings.Split(line, "|"); len(cells) > 3 && strings.HasPrefix(cells[1], " `") {
				got = append(got, strings.Trim(cells[1], " `")+" "+strings.TrimSpace(cells[2]))
			}
		}
		if kind != b.Kind() || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is documented as %s with %q, want %q", b.Kind(), kind, got, want)
		}
	}
}

func documentedType(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[Number]():
		return "number"
	case t.Kind() == reflect.Slice:
		return "list"
	case t.Kind() == reflect.Bool:
		return "boolean"
	case t.Kind() == reflect.String:
		return "string"
	}
	return "integer"
}
