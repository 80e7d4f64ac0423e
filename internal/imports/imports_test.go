// Package imports holds the test of the import directions; it has no code of its own.
package imports

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/swcaffe/swcaffe/"

// allowed lists, for every package of the module (a trailing slash takes in what lies below), what it may import of
// the module. proto is at the bottom; each line may use those above it.
var allowed = []struct {
	pkg  string
	from []string
}{
	{"proto/caffepb", nil},
	{"proto/machinepb", nil},
	{"proto/clusterpb", nil},
	{"internal/suggest", nil},
	{"internal/simd", nil},
	{"internal/imports", nil},
	{"proto", []string{"proto/", "internal/suggest"}},
	{"blob", []string{"proto/"}},
	{"topology/", []string{"proto/", "internal/suggest", "topology/"}},
	{"cpe/kernel", []string{"cpe", "internal/simd"}},
	{"cpe", []string{"proto/", "internal/simd", "internal/suggest"}},
	{"data/", []string{"proto/", "blob", "internal/simd", "internal/suggest", "data/"}},
	{"layers/", []string{"proto/", "blob", "internal/simd", "internal/suggest", "data/", "cpe/", "layers/"}},
	{"net", []string{"proto/", "blob", "internal/simd", "internal/suggest", "data/", "cpe/", "layers/"}},
	{"solver", []string{"proto/", "blob", "internal/simd", "internal/suggest", "data/", "cpe/", "layers/", "net"}},
	{"cmd/", []string{""}},
}

func match(pattern, pkg string) bool {
	if base, tree := strings.CutSuffix(pattern, "/"); tree {
		return pkg == base || strings.HasPrefix(pkg, pattern)
	}
	return pattern == "" || pattern == pkg
}

func rules(t *testing.T, pkg string) []string {
	for _, a := range allowed {
		if match(a.pkg, pkg) {
			return a.from
		}
	}
	t.Errorf("package %s is not in the list of import directions", pkg)
	return nil
}

// TestDirections holds every import inside the module against the list, tests excepted: these may build on anything.
func TestDirections(t *testing.T) {
	eachFile(t, func(pkg, file string, imports []string) {
		from := rules(t, pkg)
		for _, imported := range imports {
			ok := imported == pkg
			for _, a := range from {
				ok = ok || match(a, imported)
			}
			if !ok {
				t.Errorf("%s: package %s must not import %s", file, pkg, imported)
			}
		}
	})
}

// eachFile visits the module's Go files, tests and generators with modules of their own excepted.
func eachFile(t *testing.T, visit func(pkg, file string, imports []string)) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		if d.IsDir() && (rel == "tools" || strings.HasPrefix(d.Name(), ".") && rel != ".") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		var inside []string
		for _, spec := range f.Imports {
			p, _ := strconv.Unquote(spec.Path.Value)
			if p, ok := strings.CutPrefix(p, module); ok {
				inside = append(inside, p)
			}
		}
		visit(filepath.ToSlash(filepath.Dir(rel)), rel, inside)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
