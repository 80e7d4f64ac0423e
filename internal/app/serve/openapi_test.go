package serve

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestOpenAPI: the document has each call that the server answers, and no other; what calls answer fits its schemas.
func TestOpenAPI(t *testing.T) {
	s, url := run(t, config(t))
	status, _, body := call(t, "GET", url+"/openapi.json", nil)
	var d struct {
		OpenAPI string
		Paths   map[string]map[string]struct {
			RequestBody struct {
				Content map[string]map[string]any
			}
			Responses map[string]struct {
				Content map[string]struct{ Schema map[string]any }
			}
		}
	}
	if err := json.Unmarshal(body, &d); err != nil || status != 200 || d.OpenAPI != "3.1.0" {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	var stated, routes []string
	for path, methods := range d.Paths {
		for m := range methods {
			stated = append(stated, strings.ToUpper(m)+" "+path)
		}
	}
	for _, r := range s.table() {
		if r.about != "" {
			routes = append(routes, r.method+" "+r.path)
		} else if pageFiles[r.path] == "" {
			t.Errorf("%s %s is not described, and no file of the page", r.method, r.path)
		}
	}
	slices.Sort(stated)
	slices.Sort(routes)
	if !slices.Equal(stated, routes) {
		t.Errorf("the document has %q, the server answers %q", stated, routes)
	}
	png, err := os.ReadFile(pictureFile(t))
	if err != nil {
		t.Fatal(err)
	}
	infer := fmt.Sprintf(`{"id": "x", "inputs": [{"name": "data", "shape": [1, 3, 4, 5], "datatype": "FP32", "data": [%s0]}]}`, strings.Repeat("0,", 59))
	asked := 0
	for path, methods := range d.Paths {
		for m, o := range methods {
			at, body := strings.NewReplacer("{model}", "m", "{version}", "1").Replace(path), []byte(nil)
			switch {
			case strings.HasSuffix(path, "/detect") || strings.HasSuffix(path, "/unload"): // an error, or the end of the others
				continue
			case strings.HasSuffix(path, "/infer"):
				body = []byte(infer)
			case strings.HasSuffix(path, "/classify"):
				body = png
			}
			status, h, answer := call(t, strings.ToUpper(m), url+at, body)
			kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
			c, ok := o.Responses["200"].Content[kind]
			if status != 200 || !ok {
				t.Errorf("%s %s: status %d, type %s, which the document does not state: %s", m, path, status, kind, answer)
				continue
			}
			if c.Schema == nil {
				continue
			}
			asked++
			var value any
			if err := json.Unmarshal(answer, &value); err != nil {
				t.Fatal(err)
			}
			if why := misfit(value, c.Schema); why != "" {
				t.Errorf("%s %s: %s: %s", m, path, why, answer)
			}
		}
	}
	if asked < 12 {
		t.Errorf("only %d answers were compared with their schemas", asked)
	}
}

// misfit says how a value of JSON is none of a schema's; "": it is.
func misfit(value any, schema map[string]any) string {
	if schema["type"] == nil {
		return ""
	}
	kind := map[string]string{"map[string]interface {}": "object", "[]interface {}": "array", "string": "string", "bool": "boolean", "float64": "number", "<nil>": "null"}[fmt.Sprintf("%T", value)]
	if want := fmt.Sprint(schema["type"]); !strings.Contains(want, kind) && !(want == "integer" && kind == "number") {
		return fmt.Sprintf("%v is a %s, the schema wants %s", value, kind, want)
	}
	switch v := value.(type) {
	case []any:
		for _, e := range v {
			if why := misfit(e, schema["items"].(map[string]any)); why != "" {
				return why
			}
		}
	case map[string]any:
		properties, _ := schema["properties"].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			p, ok := properties[name].(map[string]any)
			if properties != nil && !ok {
				return name + " is not in the schema"
			}
			if why := misfit(v[name], p); why != "" {
				return why
			}
		}
		required, _ := schema["required"].([]any)
		for _, name := range required {
			if _, ok := v[name.(string)]; !ok {
				return fmt.Sprintf("%v is missing", name)
			}
		}
	}
	return ""
}
