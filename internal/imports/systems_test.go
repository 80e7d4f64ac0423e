package imports

import (
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestOtherSystems: all packages and their tests are correct Go for the systems of users that this computer may not have. They are only checked
// for types, which takes a tenth of the time to compile them.
func TestOtherSystems(t *testing.T) {
	percent := debug.SetGCPercent(400) // halves the time
	t.Cleanup(func() { debug.SetGCPercent(percent) })
	for _, system := range []string{"darwin/arm64", "windows/amd64"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			goos, goarch, _ := strings.Cut(system, "/")
			roots, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedSyntax,
				Tests: true,
				Dir:   "../..",
				Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+goos, "GOARCH="+goarch),
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			packages.Visit(roots, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					t.Error(e)
				}
			})
			if len(roots) < 100 {
				t.Errorf("only %d packages were found", len(roots))
			}
		})
	}
}
