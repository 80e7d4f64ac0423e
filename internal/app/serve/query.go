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

// queryJSON is a query in JSON, of which each call has its part; formOfImage is one in a form.
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
	formOfImage struct {
		Image []byte `json:"image"`
	}
)

// readQuery reads the image of a request: the body itself, the file of a form, or base64 in JSON. known are the call's parameters.
func readQuery(r *http.Request, known []field) (q query, err error) {
	q = query{top: 5, threshold: 0.5}
	if err := q.readParameters(r.URL.RawQuery, known); err != nil {
		return q, err
	}
	kind, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "multipart/form-data":
		q.file, err = onlyFile(r, params["boundary"])
	case "application/json":
		err = q.readJSON(r, known)
	default:
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

// readParameters reads the parameters behind an address, which must be known.
func (q *query) readParameters(text string, known []field) error {
	given, err := url.ParseQuery(text)
	if err != nil {
		return badf("the parameters %q: %w", text, err)
	}
	if err := checkNames("parameter", slices.Sorted(maps.Keys(given)), known); err != nil {
		return err
	}
	if text := given.Get("top"); text != "" {
		if q.top, err = strconv.Atoi(text); err != nil {
			return badf("top=%s is no number", text)
		}
	}
	if text := given.Get("threshold"); text != "" {
		if q.threshold, err = strconv.ParseFloat(text, 64); err != nil {
			return badf("threshold=%s is no number", text)
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

// onlyFile returns the part of a form that has a file name. The answer is for one image, so a second one is an error.
func onlyFile(r *http.Request, boundary string) (only []byte, err error) {
	parts := multipart.NewReader(r.Body, boundary)
	for found := false; ; {
		p, err := parts.NextPart()
		switch {
		case err == io.EOF && found:
			return only, nil
		case err == io.EOF:
			return nil, badf("the form has no file; curl -F image=@FILE sends one")
		case err != nil && statusOf(err) == http.StatusRequestEntityTooLarge:
			return nil, err
		case err != nil:
			return nil, badf("the form: %w", err)
		case p.FileName() == "":
			continue
		case found:
			return nil, badf("the form has several files, one image is expected; the call infer takes several, as elements of a BYTES input")
		}
		found = true
		switch only, err = io.ReadAll(p); {
		case err != nil && statusOf(err) == http.StatusRequestEntityTooLarge:
			return nil, err
		case err != nil:
			return nil, badf("the form's file: %w", err)
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
