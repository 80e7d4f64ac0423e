package serve

import (
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
)

// query is what a request for labels or boxes asks for.
type query struct {
	file      []byte
	top       int
	threshold float64
}

// queryJSON is a query in JSON, of which each call has its part, as it has of one in a form.
type (
	queryJSON struct {
		Image     string   `json:"image"` // base64
		Top       *int     `json:"top"`
		Threshold *float64 `json:"threshold"`
	}
	labelJSON struct {
		Image string `json:"image"`
		Top   *int   `json:"top"`
	}
	boxJSON struct {
		Image     string   `json:"image"`
		Threshold *float64 `json:"threshold"`
	}
	labelForm struct {
		Image []byte `json:"image"`
		Top   *int   `json:"top"`
	}
	boxForm struct {
		Image     []byte   `json:"image"`
		Threshold *float64 `json:"threshold"`
	}
)

// readQuery reads the image of a request: the body itself, the file of a form, or base64 in JSON. known are the call's parameters.
func readQuery(r *http.Request, known []field) (q query, err error) {
	q = query{top: 5, threshold: 0.5}
	given, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return q, badf("the parameters %q: %w", r.URL.RawQuery, err)
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isForm := kind == "multipart/form-data"
	if isForm {
		q.file, err = readForm(r, params["boundary"], given)
	}
	if err == nil {
		err = q.readParameters(given, known)
	}
	switch {
	case err != nil:
	case kind == "application/json":
		err = q.readJSON(r, known)
	case !isForm:
		q.file, err = readBody(r)
	}
	switch {
	case err != nil:
		return q, err
	case q.top < 1:
		return q, badf("top %d: at least one class is needed", q.top)
	case math.IsNaN(q.threshold):
		return q, badf("the threshold is not a number")
	case len(q.file) == 0:
		return q, badf("the request has no image")
	}
	return q, nil
}

// readParameters reads the parameters behind an address and those of a form, which must be known.
func (q *query) readParameters(given url.Values, known []field) error {
	if err := checkNames("parameter", slices.Sorted(maps.Keys(given)), known); err != nil {
		return err
	}
	for name, list := range given {
		if len(list) > 1 {
			return badf("the parameter %s is given %d times", name, len(list))
		}
		var err error
		if name == "top" {
			q.top, err = strconv.Atoi(list[0])
		} else {
			q.threshold, err = strconv.ParseFloat(list[0], 64)
		}
		if err != nil {
			return badf("%s=%s is no number", name, list[0])
		}
	}
	return nil
}

// checkNames refuses the first name that is not known.
func checkNames(kind string, names []string, known []field) error {
	var list []string
	for _, f := range known {
		list = append(list, f.name)
	}
	for _, name := range names {
		if !slices.Contains(list, name) {
			return &failure{http.StatusBadRequest, suggest.Unknown(kind, name, kind+"s", list)}
		}
	}
	return nil
}

// readForm returns the part of a form that has a file name, and adds the other parts to the parameters. The answer is for one image, so a second one is an error.
func readForm(r *http.Request, boundary string, given url.Values) (only []byte, err error) {
	parts := multipart.NewReader(r.Body, boundary)
	for found := false; ; {
		p, err := parts.NextPart()
		switch {
		case err == io.EOF && found:
			return only, nil
		case err == io.EOF:
			return nil, badf("the form has no file; curl -F image=@FILE sends one")
		case err != nil:
			return nil, badf("the form: %w", err)
		case found && p.FileName() != "":
			return nil, badf("the form has several files, one image is expected; the call infer takes several, as elements of a BYTES input")
		}
		content, err := io.ReadAll(p)
		switch {
		case err != nil:
			return nil, badf("the form's part %q: %w", p.FormName(), err)
		case p.FileName() != "":
			only, found = content, true
		default:
			given.Add(p.FormName(), string(content))
		}
	}
}

func (q *query) readJSON(r *http.Request, known []field) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	given := queryJSON{Top: &q.top, Threshold: &q.threshold}
	if err := json.Unmarshal(body, &given); err != nil {
		return badf("the request's JSON: %w", err)
	}
	var keys map[string]json.RawMessage
	_ = json.Unmarshal(body, &keys) // it is an object, or null
	if err := checkNames("key", slices.Sorted(maps.Keys(keys)), append([]field{{name: "image"}}, known...)); err != nil {
		return err
	}
	if q.file, err = base64.StdEncoding.DecodeString(given.Image); err != nil {
		return badf("image: %w", err)
	}
	return nil
}
