package imports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherSystems: all packages and their tests are correct Go for the systems of users that this computer may not have. They are only checked
// for types, which takes a tenth of the time to compile them. Of the
// standard library, declarations alone are checked.
func TestOtherSystems(t *testing.T) {
	percent := debug.SetGCPercent(400) // halves the time
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	library, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	sources := &sources{
		library: filepath.Join(strings.TrimSpace(string(library)), "src") + string(filepath.Separator),
		files:   map[string]func() (*ast.File, error){},
	}
	for _, system := range []string{"darwin/arm64", "windows/amd64"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			goos, goarch, _ := strings.Cut(system, "/")
			roots, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedSyntax,
				Tests:     true,
				Dir:       "../../..",
				Env:       append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
				Fset:      &sources.set,
				ParseFile: sources.parse,
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(roots, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					// An import that only bodies and elements use is an error in a package without them.
					if e.Kind != packages.TypeError || !sources.standard(p.CompiledGoFiles) {
						t.Error(e)
					}
				}
			})
			if len(roots) < 100 {
				t.Errorf("only %d packages were found", len(roots))
			}
		})
	}
}

// sources are files that are parsed once for all systems.
type sources struct {
	library string // the standard library's folder
	set     token.FileSet
	mutex   sync.Mutex
	files   map[string]func() (*ast.File, error)
}

// standard reports whether files are of the standard library.
func (s *sources) standard(files []string) bool {
	return len(files) > 0 && strings.HasPrefix(files[0], s.library)
}

// parse parses a file of Go.
func (s *sources) parse(_ *token.FileSet, name string, text []byte) (*ast.File, error) {
	s.mutex.Lock()
	once, ok := s.files[name]
	if !ok {
		once = sync.OnceValues(func() (*ast.File, error) {
			f, err := parser.ParseFile(&s.set, name, text, parser.AllErrors|parser.SkipObjectResolution)
			if f != nil && s.standard([]string{name}) {
				declare(f)
			}
			return f, err
		})
		s.files[name] = once
	}
	s.mutex.Unlock()
	return once()
}

// declare leaves nothing but declarations in a file: bodies of functions, and the elements of variables, go. Types stay as they are.
func declare(f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				d.Body.List = []ast.Stmt{&ast.ForStmt{Body: &ast.BlockStmt{}}} // it never returns, so it needs no value to return
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if v, ok := spec.(*ast.ValueSpec); ok && d.Tok == token.VAR {
					for _, value := range v.Values {
						empty(value)
					}
				}
			}
		}
	}
}

// empty removes the elements of a composite literal, unless their number is part of its type.
func empty(value ast.Expr) {
	literal, ok := value.(*ast.CompositeLit)
	if !ok {
		return
	}
	if array, ok := literal.Type.(*ast.ArrayType); ok {
		if _, counted := array.Len.(*ast.Ellipsis); counted {
			return
		}
	}
	literal.Elts = nil
}
