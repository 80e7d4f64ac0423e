package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// serverAt matches the address that serve prints.
var serverAt = regexp.MustCompile(`the server: (http://\S+)`)

// ask sends a request to the server whose address stands in a log: "ask LOG METHOD PATH [FILE [HEADER:VALUE...]]". It prints the status and the body.
// "!" expects a status from 400 on.
func ask(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 3 {
		ts.Fatalf("usage: ask log method path [file [header:value...]]")
	}
	var found [][]byte
	if !comes(func() bool {
		text, _ := os.ReadFile(ts.MkAbs(args[0]))
		found = serverAt.FindSubmatch(text)
		return found != nil
	}) {
		ts.Fatalf("%s names no server", args[0])
	}
	var body []byte
	if len(args) > 3 {
		body = []byte(ts.ReadFile(args[3]))
	}
	r, err := http.NewRequest(args[1], string(found[1])+args[2], bytes.NewReader(body))
	ts.Check(err)
	for _, h := range args[min(4, len(args)):] {
		name, value, _ := strings.Cut(h, ":")
		r.Header.Set(name, value)
	}
	w, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer w.Body.Close()
	answer, err := io.ReadAll(w.Body)
	ts.Check(err)
	io.WriteString(ts.Stdout(), w.Status+"\n"+string(answer))
	if (w.StatusCode >= 400) != neg {
		ts.Fatalf("%s: %s", w.Status, answer)
	}
}
