// Package imports holds tests of all packages: what they import, and that they are correct Go on other systems. It has no code of its own.
package imports

import (
	"go/ast"
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
	{"proto/tuningpb", nil},
	{"proto/inferencepb", nil},
	{"proto/healthpb", nil},
	{"proto/reflectionpb", nil},
	{"internal/suggest", nil},
	{"internal/simd/isa", nil},
	{"internal/simd/vec", []string{"internal/simd/isa"}},
	{"internal/simd/", []string{"internal/simd/isa", "internal/simd/vec"}},
	{"internal/pages", nil},
	{"internal/costtest", nil},
	{"internal/relay", nil},
	{"internal/origin", nil},
	{"internal/words", nil},
	{"internal/bill", nil},
	{"internal/version", nil},
	{"internal/version/testdata/print", []string{"internal/version"}},
	{"internal/box", nil},
	{"internal/figure", nil},
	{"internal/picture", nil},
	{"internal/mpitest", nil},
	{"internal/elastic", []string{"topology", "topology/tcp"}},
	{"internal/faultnet", []string{"topology", "internal/simd/vec", "solver/centre"}},
	{"internal/imports", nil},
	{"internal/alloctest", nil},
	{"internal/racing", nil},
	{"internal/conformance", nil},
	{"internal/conformance/judge", []string{"proto/", "data/hdf5"}},
	{"internal/caffelog", nil},
	{"proto", []string{"proto/", "internal/suggest"}},
	{"blob", []string{"proto/", "internal/pages"}},
	{"topology/mpiabi", []string{"topology"}},
	{"topology/empi", []string{"topology"}},
	{"topology/", []string{"proto/", "internal/suggest", "internal/relay", "internal/simd/", "topology/"}},
	{"cpe/validation", nil},
	{"cpe/pipes", nil},
	{"cpe/kernel/tiling", nil},
	{"cpe/kernel/shape", []string{"cpe", "cpe/kernel/tiling", "internal/simd/", "internal/suggest"}},
	{"cpe/kernel/kerneltest", []string{"cpe", "cpe/kernel/shape", "internal/simd/vec"}},
	{"cpe/kernel/op", []string{"cpe", "cpe/kernel/shape", "internal/pages"}},
	{"cpe/kernel/stream", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/gemm", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/im2col", []string{"cpe", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/gemm", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/pool", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/norm", []string{"cpe", "cpe/kernel/shape", "cpe/kernel/pool", "internal/simd/"}},
	{"cpe/kernel/conv", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/conv/tensor", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/conv", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/conv/direct", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/gemm", "cpe/kernel/im2col", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/conv/explicit", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/gemm", "cpe/kernel/im2col", "cpe/kernel/conv", "internal/simd/"}},
	{"cpe/kernel/conv/offsets", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/pool", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "internal/simd/"}},
	{"cpe/kernel/conv/pointwise", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "cpe/kernel/conv/direct", "internal/simd/"}},
	{"cpe/kernel/conv/depthwise", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/conv/winograd", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/gemm", "cpe/kernel/pool", "cpe/kernel/conv", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/conv/mesh", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/gemm", "cpe/kernel/im2col", "cpe/kernel/conv", "internal/simd/", "internal/pages"}},
	{"cpe/kernel/conv/pooled", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/pool", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "cpe/kernel/conv/offsets", "cpe/kernel/conv/winograd", "internal/simd/"}},
	{"cpe/kernel/conv/plan", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/pool", "cpe/kernel/conv/", "internal/simd/", "internal/pages", "internal/suggest"}},
	{"cpe/kernel/conv/convtest", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/kerneltest", "cpe/kernel/pool", "cpe/kernel/conv", "cpe/kernel/conv/plan", "cpe/kernel/conv/winograd"}},
	{"cpe/kernel", nil},
	{"cpe", []string{"proto/", "internal/simd/", "internal/pages", "internal/relay", "internal/suggest"}},
	{"cpe/tune", []string{"proto/", "cpe", "cpe/kernel/", "internal/simd/"}},
	{"data/imageio", []string{"internal/pages", "internal/simd/vpixel", "data/imageio/jpeg", "data/regular", "internal/costtest"}},
	{"data/imageio/jpeg", []string{"internal/costtest", "internal/pages", "internal/simd/vpixel"}},
	{"data/", []string{"proto/", "blob", "internal/box", "internal/pages", "internal/simd/vpixel", "data/", "internal/relay"}},
	{"layers/layertest", []string{"proto/", "blob", "internal/alloctest", "internal/racing", "cpe/", "layers"}},
	{"layers", []string{"proto/", "blob", "internal/simd/", "internal/pages", "internal/suggest", "cpe/"}},
	{"layers/part", []string{"proto/", "blob", "internal/simd/", "internal/pages", "cpe/", "layers"}},
	{"layers/data", []string{"proto/", "blob", "internal/simd/", "internal/pages", "internal/suggest", "data/", "cpe/", "layers", "layers/part"}},
	{"layers/vision", []string{"proto/", "blob", "internal/simd/", "internal/pages", "cpe/", "layers", "layers/part", "layers/utility"}},
	{"layers/detect", []string{"proto/", "blob", "data/regular", "internal/simd/", "internal/pages", "internal/box", "cpe/", "layers", "layers/part"}},
	{"layers/all", []string{"layers/"}},
	{"layers/", []string{"proto/", "blob", "internal/simd/", "internal/pages", "cpe/", "layers", "layers/part"}},
	{"net/schedule", []string{"blob", "cpe/", "layers"}},
	{"net", []string{"proto/", "blob", "internal/simd/", "internal/pages", "internal/suggest", "internal/caffelog", "cpe/", "layers/", "net/schedule"}},
	{"solver/caffeh5", []string{"proto/", "blob", "data/hdf5", "net"}},
	{"solver/evaluate", []string{"internal/box", "internal/caffelog", "internal/words", "layers", "net"}},
	{"solver/events", nil},
	{"solver/rules", []string{"proto/", "internal/simd/", "internal/suggest"}},
	{"solver/centre", []string{"internal/relay"}},
	{"solver", []string{"internal/pages", "solver/caffeh5", "solver/centre", "solver/rules", "solver/evaluate", "solver/events", "proto/", "blob", "internal/simd/", "internal/suggest", "internal/caffelog", "internal/relay", "internal/words", "data/", "cpe/", "layers/", "net"}},
	{"internal/onnx/onnxpb", nil},
	{"internal/onnx", []string{"internal/onnx/onnxpb"}},
	{"internal/onnx/onnxtest", []string{"internal/onnx", "internal/onnx/onnxpb", "proto/", "layers", "net"}},
	{"internal/onnx/intake", []string{"internal/onnx", "internal/onnx/onnxpb", "internal/onnx/export", "proto/", "blob", "layers", "net"}},
	{"internal/onnx/export", []string{"internal/box", "internal/onnx", "internal/onnx/onnxpb", "proto/", "blob", "layers", "net"}},
	{"internal/testreport", []string{"proto/", "blob", "data/", "layers", "net", "internal/caffelog", "solver/evaluate", "internal/picture"}},
	{"internal/netdraw", []string{"proto/", "net", "internal/figure"}},
	{".", []string{"proto/", "cpe", "layers", "net", "solver"}},
	{"predict", []string{"internal/box", "internal/suggest", "proto/", "blob", "data/", "cpe", "layers", "net", "solver"}},
	{"internal/serve", []string{"internal/origin", "internal/pages", "internal/relay", "internal/suggest", "internal/timeline", "internal/version", "data/imageio", "predict", "proto/healthpb", "proto/inferencepb", "proto/reflectionpb"}},
	{"modeltime/trust", nil},
	{"modeltime", []string{"proto/", "internal/suggest", "internal/relay", "blob", "cpe/", "layers/", "net", "modeltime/trust"}},
	{"internal/modelplot", []string{"cpe/", "internal/figure", "proto/", "modeltime/"}},
	{"scaling", []string{"proto/", "internal/suggest", "topology/", "cpe", "modeltime/"}},
	{"internal/modelfigures", []string{"proto/"}},
	{"internal/randomtest/kernels", []string{"internal/randomtest", "internal/simd/", "cpe", "cpe/kernel/"}},
	{"internal/randomtest/nets", []string{"proto/", "blob", "internal/randomtest", "internal/simd/", "cpe", "cpe/kernel/", "layers", "net"}},
	{"internal/randomtest/run", []string{"internal/randomtest/", "internal/simd/"}},
	{"internal/randomtest", []string{"cpe"}},
	{"internal/page/pagetest", nil},
	{"internal/inspect", []string{"proto/", "blob", "cpe", "cpe/kernel/shape", "layers", "net", "solver/events", "internal/picture"}},
	{"internal/timeline", nil},
	{"internal/tensorboard", []string{"proto/", "net", "solver/events"}},
	{"internal/metrics", []string{"solver/events"}},
	{"internal/board", []string{"solver/events"}},
	{"internal/page", []string{"internal/inspect", "internal/origin", "internal/netdraw", "proto/", "solver/events", "internal/picture", "internal/testreport", "internal/timeline", "internal/modelplot"}},
	{"internal/glog", nil},
	{"internal/launch", nil},
	{"internal/manpage", nil},
	{"internal/statusline", nil},
	{"internal/statusline/screentest", nil},
	{"internal/cli", []string{"proto/", "internal/glog", "internal/launch", "internal/manpage", "internal/pages", "internal/simd/isa", "internal/suggest", "internal/version", "data/", "cpe/", "layers", "net", "solver", "topology", "internal/relay", "internal/statusline"}},
	{"cmd/internal/train", []string{"internal/cli", "internal/elastic", "internal/figure", "proto/", "cpe", "layers", "net", "modeltime/", "scaling", "solver", "solver/centre", "solver/events", "topology", "internal/inspect", "internal/metrics", "internal/page", "internal/tensorboard", "internal/timeline", "cpe/kernel/shape", "internal/picture", "internal/testreport", "internal/statusline", "internal/caffelog"}},
	{"cmd/internal/infer", []string{"internal/cli", "internal/serve", "solver/events", "internal/testreport", "internal/figure", "predict", "solver/evaluate", "internal/caffelog", "internal/suggest", "proto/", "blob", "cpe", "data/", "layers", "net", "solver", "topology"}},
	{"cmd/internal/measure", []string{"internal/cli", "internal/caffelog", "internal/figure", "internal/modelplot", "internal/pages", "internal/simd/", "internal/suggest", "proto/", "cpe/", "layers", "net", "net/schedule", "scaling", "solver", "topology", "modeltime/"}},
	{"cmd/internal/model", []string{"data", "internal/cli", "solver/events", "internal/netdraw", "internal/onnx/", "proto/", "blob", "cpe", "layers", "net", "solver", "solver/evaluate"}},
	{"cmd/internal/dataset", []string{"internal/cli", "internal/caffelog", "internal/pages", "internal/relay", "internal/suggest", "proto/", "blob", "data/", "layers", "net", "solver"}},
	{"cmd/internal/logs", []string{"internal/cli", "internal/caffelog", "solver/events", "internal/board", "internal/figure", "internal/page", "proto"}},
	{"cmd/internal/scoretest", []string{"proto/", "data/"}},
	{"cmd/internal/all", []string{"internal/cli", "cmd/internal/", "topology/empi"}},
	{"cmd/internal/python", []string{"internal/glog", "internal/netdraw", "internal/onnx", "internal/onnx/intake", "internal/pages", "internal/relay", "internal/simd/vec", "proto/", "blob", "data/hdf5", "data/imageio", "data/regular", "cpe", "layers", "layers/data", "net", "solver", "solver/caffeh5"}},
	{"cmd/swcaffe", []string{"cmd/internal/all"}},
	{"cmd/swcaffe-mpi", []string{"cmd/internal/all", "topology/mpiabi"}},
	{"cmd/libswcaffe", []string{"cmd/internal/all", "cmd/internal/python"}},
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

// machineKinds are the names in package cpe that tell this computer from a modelled machine.
var machineKinds = map[string]bool{"Native": true, "Functional": true, "CostOnly": true, "Mode": true}

// TestOnlyKernelsKnowTheMachine: above cpe/kernel nobody asks whether a machine is this computer or a model, so that a layer
// has its two paths and no third.
func TestOnlyKernelsKnowTheMachine(t *testing.T) {
	fset := token.NewFileSet()
	eachFile(t, func(pkg, file string, _ []string) {
		if !isLayers(pkg) && pkg != "net" && pkg != "net/schedule" && pkg != "solver" {
			return // no machine, or (layertest, cmd) one is made there
		}
		f, err := parser.ParseFile(fset, filepath.Join("..", "..", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok || !machineKinds[s.Sel.Name] {
				return true
			}
			t.Errorf("%s: %s asks what kind of machine it runs on", fset.Position(s.Pos()), s.Sel.Name)
			return true
		})
	})
}

// isLayers reports whether a package is layers or one of its rooms.
func isLayers(pkg string) bool {
	return pkg == "layers" || strings.HasPrefix(pkg, "layers/") && pkg != "layers/layertest"
}

// TestLayersHaveTwoPaths: the engine is compared in one place, Base.MPE, so that a layer can only choose between its reference
// and its tiled path.
func TestLayersHaveTwoPaths(t *testing.T) {
	fset := token.NewFileSet()
	eachFile(t, func(pkg, file string, _ []string) {
		if !isLayers(pkg) || strings.HasSuffix(file, "device.go") || strings.HasSuffix(file, "base.go") {
			return
		}
		f, err := parser.ParseFile(fset, filepath.Join("..", "..", file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "Engine" {
				t.Errorf("%s: the engine is asked for outside Base.MPE", fset.Position(s.Pos()))
			}
			return true
		})
	})
}
