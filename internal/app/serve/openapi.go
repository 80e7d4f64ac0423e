package serve

import (
	"encoding/json"
	"net/http"
	goreflect "reflect"
	"regexp"
	"strings"

	build "github.com/swcaffe/swcaffe/internal/base/version"
)

// jsonObject is an object of JSON.
type jsonObject = map[string]any

// document describes the routes as OpenAPI 3.1 has it.
func document(list []route) []byte {
	paths := jsonObject{}
	for _, r := range list {
		if r.about == "" {
			continue
		}
		if paths[r.path] == nil {
			paths[r.path] = jsonObject{}
		}
		paths[r.path].(jsonObject)[strings.ToLower(r.method)] = r.operation()
	}
	text, err := json.Marshal(jsonObject{
		"openapi": "3.1.0",
		"info": jsonObject{
			"title": "swcaffe serve", "version": build.Read().Version,
			"description": "Trained nets by the Open Inference Protocol. A server may need a token.",
		},
		"paths":    paths,
		"security": []jsonObject{{}, {"token": []string{}}},
		"components": jsonObject{
			"securitySchemes": jsonObject{"token": jsonObject{"type": "http", "scheme": "bearer"}},
			"schemas":         jsonObject{"error": jsonObject{"type": "object", "properties": jsonObject{"error": jsonObject{"type": "string"}}, "required": []string{"error"}}},
		},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// inPath matches the values in a path.
var inPath = regexp.MustCompile(`\{(\w+)\}`)

// operation describes a route.
func (r *route) operation() jsonObject {
	parameters := []jsonObject{}
	for _, name := range inPath.FindAllStringSubmatch(r.path, -1) {
		parameters = append(parameters, jsonObject{"name": name[1], "in": "path", "required": true, "schema": jsonObject{"type": "string"}})
	}
	for _, f := range r.query {
		parameters = append(parameters, jsonObject{"name": f.name, "in": f.in, "description": f.about, "schema": jsonObject{"type": f.kind}})
	}
	fails := jsonObject{"description": "an error", "content": jsonObject{"application/json": jsonObject{"schema": jsonObject{"$ref": "#/components/schemas/error"}}}}
	o := jsonObject{
		"summary": r.about, "parameters": parameters,
		"responses": jsonObject{"200": jsonObject{"description": r.about, "content": contentsOf(r.gives, true)}, "default": fails},
	}
	if r.public {
		o["security"] = []jsonObject{}
	}
	if r.takes != nil {
		o["requestBody"] = jsonObject{"content": contentsOf(r.takes, false)}
	}
	return o
}

func contentsOf(list []content, whole bool) jsonObject {
	o := jsonObject{}
	for _, c := range list {
		if o[c.kind] = (jsonObject{}); c.of != nil {
			o[c.kind] = jsonObject{"schema": schemaOf(goreflect.TypeOf(c.of), whole)}
		}
	}
	return o
}

// schemaOf describes a type as encoding/json writes it. In a whole value, all fields are there but those that are left out when they are empty.
func schemaOf(t goreflect.Type, whole bool) jsonObject {
	switch {
	case t == goreflect.TypeFor[json.RawMessage]():
		return jsonObject{}
	case t == goreflect.TypeFor[[]byte]():
		return jsonObject{"type": "string", "format": "binary"}
	case t == goreflect.TypeFor[number]():
		return jsonObject{"type": []string{"number", "null"}}
	}
	switch t.Kind() {
	case goreflect.Bool:
		return jsonObject{"type": "boolean"}
	case goreflect.String:
		return jsonObject{"type": "string"}
	case goreflect.Int, goreflect.Int64:
		return jsonObject{"type": "integer"}
	case goreflect.Float32, goreflect.Float64:
		return jsonObject{"type": "number"}
	case goreflect.Pointer:
		return schemaOf(t.Elem(), whole)
	case goreflect.Slice:
		return jsonObject{"type": "array", "items": schemaOf(t.Elem(), whole)}
	case goreflect.Map:
		return jsonObject{"type": "object", "additionalProperties": schemaOf(t.Elem(), whole)}
	case goreflect.Interface:
		return jsonObject{}
	case goreflect.Struct:
		properties, required := jsonObject{}, []string{}
		for _, f := range goreflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || name == "" {
				continue
			}
			properties[name] = schemaOf(f.Type, whole)
			if whole && options == "" {
				required = append(required, name)
			}
		}
		o := jsonObject{"type": "object", "properties": properties}
		if len(required) > 0 {
			o["required"] = required
		}
		return o
	}
	panic("serve: no schema for " + t.String())
}

func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Write(s.document)
}
