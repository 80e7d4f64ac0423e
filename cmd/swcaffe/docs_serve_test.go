package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestServeExamples: the command lines of the systemd unit and of the Kubernetes manifest are accepted, and the manifest's probes ask for calls
// that docs/serve.md lists.
func TestServeExamples(t *testing.T) {
	t.Chdir("../..")
	read := func(page, pattern string) []string {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			found = append(found, m[1])
		}
		if len(found) == 0 {
			t.Fatalf("%s has nothing like %s", page, pattern)
		}
		return found
	}
	const unit, manifest = "examples/serve/swcaffe-serve.service", "examples/serve/kubernetes.yaml"
	checkCommandLine(t, unit, strings.Fields(read(unit, `ExecStart=/usr/bin/swcaffe (.*)`)[0]))
	line := strings.NewReplacer(`"`, "", ",", "").Replace(read(manifest, `command: \["swcaffe", (.*)\]`)[0])
	checkCommandLine(t, manifest, strings.Fields(line))
	calls := strings.Join(read("docs/serve.md", `GET (.*) \|`), " ")
	for _, path := range read(manifest, `path: (/[^,}]*)`) {
		if !strings.Contains(calls, path) {
			t.Errorf("%s asks for %s, which docs/serve.md does not list", manifest, path)
		}
	}
}
