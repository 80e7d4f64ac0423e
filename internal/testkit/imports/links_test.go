package imports

import (
	"os/exec"
	"strings"
	"testing"
)

// TestBinaryLinks: the binary has no package that makes every command larger or slower to start although few need it.
func TestBinaryLinks(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "./cmd/swcaffe")
	list.Dir = "../../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	refused := map[string]string{
		"text/template": "it finds methods by name, so that the linker keeps every method of every type (5.6 MB)",
		"google.golang.org/protobuf/reflect/protodesc": "it reads descriptors at start (0.2 MB of memory)",
		"runtime/pprof":                "it makes the runtime sample allocations",
		"github.com/chromedp/chromedp": "only tests drive a browser",
		"google.golang.org/grpc":       "every command has 11 MB more and begins with 5 MB more memory; serve answers gRPC without it",
	}
	found := strings.Fields(string(out))
	if len(found) < 100 {
		t.Fatalf("go list names %d packages", len(found))
	}
	for _, name := range found {
		if why, ok := refused[name]; ok {
			t.Errorf("cmd/swcaffe links %s: %s", name, why)
		}
	}
}
