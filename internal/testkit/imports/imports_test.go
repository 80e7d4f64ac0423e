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
	{"internal/base/suggest", nil},
	{"internal/base/simd/isa", nil},
	{"internal/base/simd/vec", []string{"internal/base/simd/isa"}},
	{"internal/base/simd/", []string{"internal/base/simd/isa", "internal/base/simd/vec"}},
	{"internal/base/pages", nil},
	{"internal/base/cputime", nil},
	{"internal/testkit/costtest", []string{"internal/base/cputime"}},
	{"internal/base/relay", nil},
	{"internal/base/origin", nil},
	{"internal/base/half", nil},
	{"internal/base/words", nil},
	{"internal/app/bill", nil},
	{"internal/base/version", nil},
	{"internal/base/version/testdata/print", []string{"internal/base/version"}},
	{"internal/base/box", nil},
	{"internal/base/rank", nil},
	{"internal/app/figure", nil},
	{"internal/app/picture", nil},
	{"internal/testkit/mpitest", nil},
	{"internal/app/elastic", []string{"topology", "topology/tcp"}},
	{"internal/testkit/faultnet", []string{"topology", "internal/base/simd/vec", "solver/centre"}},
	{"internal/testkit/imports", nil},
	{"internal/testkit/alloctest", nil},
	{"internal/testkit/racing", nil},
	{"internal/testkit/conformance", nil},
	{"internal/testkit/conformance/judge", []string{"proto/", "data/hdf5"}},
	{"internal/base/caffelog", nil},
	{"proto", []string{"proto/", "internal/base/suggest"}},
	{"blob", []string{"proto/", "internal/base/pages"}},
	{"topology/mpiabi", []string{"topology"}},
	{"topology/empi", []string{"topology"}},
	{"topology/", []string{"proto/", "internal/base/suggest", "internal/base/relay", "internal/base/simd/", "topology/"}},
	{"cpe/validation", nil},
	{"cpe/pipes", nil},
	{"cpe/kernel/tiling", nil},
	{"cpe/kernel/shape", []string{"cpe", "cpe/kernel/tiling", "internal/base/simd/", "internal/base/suggest"}},
	{"cpe/kernel/kerneltest", []string{"cpe", "cpe/kernel/quant", "cpe/kernel/shape", "internal/base/cputime", "internal/base/simd/vec", "internal/base/simd/isa"}},
	{"cpe/kernel/op", []string{"cpe", "cpe/kernel/quant", "cpe/kernel/shape", "internal/base/pages"}},
	{"cpe/kernel/quant", nil},
	{"cpe/kernel/factors", []string{"cpe/kernel/quant", "cpe/kernel/shape", "internal/base/simd/"}},
	{"cpe/kernel/stream", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/gemm", []string{"cpe", "cpe/kernel/op", "cpe/kernel/factors", "cpe/kernel/quant", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/im2col", []string{"cpe", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/gemm", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/pool", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/norm", []string{"cpe", "cpe/kernel/shape", "cpe/kernel/tiling", "cpe/kernel/pool", "internal/base/simd/"}},
	{"cpe/kernel/conv", []string{"cpe", "cpe/kernel/op", "cpe/kernel/factors", "cpe/kernel/quant", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/conv/tensor", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/conv", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/conv/direct", []string{"cpe", "cpe/kernel/op", "cpe/kernel/factors", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/gemm", "cpe/kernel/im2col", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/conv/explicit", []string{"cpe", "cpe/kernel/op", "cpe/kernel/factors", "cpe/kernel/quant", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/gemm", "cpe/kernel/im2col", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "internal/base/simd/"}},
	{"cpe/kernel/conv/offsets", []string{"cpe", "cpe/kernel/op", "cpe/kernel/factors", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/pool", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "internal/base/simd/"}},
	{"cpe/kernel/conv/pointwise", []string{"cpe", "cpe/kernel/op", "cpe/kernel/factors", "cpe/kernel/quant", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "cpe/kernel/conv/direct", "internal/base/simd/"}},
	{"cpe/kernel/conv/depthwise", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "cpe/kernel/conv/pointwise", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/conv/winograd", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/gemm", "cpe/kernel/pool", "cpe/kernel/conv", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/conv/mesh", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/gemm", "cpe/kernel/im2col", "cpe/kernel/conv", "internal/base/simd/", "internal/base/pages"}},
	{"cpe/kernel/conv/pooled", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/pool", "cpe/kernel/conv", "cpe/kernel/conv/tensor", "cpe/kernel/conv/offsets", "cpe/kernel/conv/winograd", "internal/base/simd/"}},
	{"cpe/kernel/conv/plan", []string{"cpe", "cpe/kernel/op", "cpe/kernel/quant", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/stream", "cpe/kernel/pool", "cpe/kernel/conv/", "internal/base/simd/", "internal/base/pages", "internal/base/suggest"}},
	{"cpe/kernel/conv/convtest", []string{"cpe", "cpe/kernel/op", "cpe/kernel/tiling", "cpe/kernel/shape", "cpe/kernel/kerneltest", "cpe/kernel/pool", "cpe/kernel/conv", "cpe/kernel/conv/plan", "cpe/kernel/conv/winograd", "internal/base/simd/isa", "internal/testkit/alloctest", "internal/testkit/racing"}},
	{"cpe/kernel", nil},
	{"cpe", []string{"proto/", "internal/base/simd/", "internal/base/pages", "internal/base/relay", "internal/base/suggest"}},
	{"cpe/tune", []string{"proto/", "cpe", "cpe/kernel/", "internal/base/simd/"}},
	{"data/imageio", []string{"internal/base/pages", "internal/base/simd/vpixel", "data/imageio/jpeg", "data/regular", "internal/testkit/costtest"}},
	{"data/imageio/jpeg", []string{"internal/testkit/costtest", "internal/base/pages", "internal/base/simd/vpixel"}},
	{"data/", []string{"proto/", "blob", "internal/base/box", "internal/base/pages", "internal/base/simd/vpixel", "data/", "internal/base/relay"}},
	{"layers/layertest", []string{"proto/", "blob", "internal/testkit/alloctest", "internal/testkit/racing", "cpe/", "layers"}},
	{"layers", []string{"proto/", "blob", "internal/base/simd/", "internal/base/pages", "internal/base/suggest", "cpe/"}},
	{"layers/part", []string{"proto/", "blob", "internal/base/simd/", "internal/base/pages", "cpe/", "layers"}},
	{"layers/data", []string{"proto/", "blob", "internal/base/simd/", "internal/base/pages", "internal/base/suggest", "data/", "cpe/", "layers", "layers/part"}},
	{"layers/vision", []string{"proto/", "blob", "internal/base/simd/", "internal/base/pages", "cpe/", "layers", "layers/part", "layers/utility"}},
	{"layers/detect", []string{"proto/", "blob", "data/regular", "internal/base/simd/", "internal/base/pages", "internal/base/box", "internal/base/rank", "cpe/", "layers", "layers/part"}},
	{"layers/all", []string{"layers/"}},
	{"layers/", []string{"proto/", "blob", "internal/base/simd/", "internal/base/pages", "cpe/", "layers", "layers/part"}},
	{"net/schedule", []string{"blob", "cpe/", "layers"}},
	{"net", []string{"proto/", "blob", "internal/base/simd/", "internal/base/pages", "internal/base/suggest", "internal/base/caffelog", "cpe/", "layers/", "net/schedule"}},
	{"solver/caffeh5", []string{"proto/", "blob", "data/hdf5", "net"}},
	{"solver/evaluate", []string{"internal/base/box", "internal/base/caffelog", "internal/base/words", "layers", "net"}},
	{"solver/events", nil},
	{"solver/rules", []string{"proto/", "internal/base/simd/", "internal/base/suggest"}},
	{"solver/centre", []string{"internal/base/relay"}},
	{"solver", []string{"internal/base/pages", "solver/caffeh5", "solver/centre", "solver/rules", "solver/evaluate", "solver/events", "proto/", "blob", "internal/base/simd/", "internal/base/suggest", "internal/base/caffelog", "internal/base/relay", "internal/base/words", "data/", "cpe/", "layers/", "net"}},
	{"internal/tensors", []string{"internal/base/half"}},
	{"internal/onnx/onnxpb", nil},
	{"internal/onnx", []string{"internal/base/half", "internal/onnx/onnxpb"}},
	{"internal/onnx/onnxtest", []string{"internal/onnx", "internal/onnx/onnxpb", "proto/", "layers", "net"}},
	{"internal/onnx/intake", []string{"cpe/kernel/quant", "internal/onnx", "internal/onnx/onnxpb", "internal/onnx/export", "proto/", "blob", "layers", "net"}},
	{"internal/onnx/export", []string{"cpe", "cpe/kernel/quant", "internal/base/box", "internal/onnx", "internal/onnx/onnxpb", "proto/", "blob", "layers", "net"}},
	{"internal/app/testreport", []string{"proto/", "blob", "data/", "layers", "net", "internal/base/caffelog", "solver/evaluate", "internal/app/picture"}},
	{"internal/app/quantise", []string{"proto/", "blob", "cpe", "cpe/kernel/quant", "layers", "net"}},
	{"internal/app/netdraw", []string{"proto/", "net", "internal/app/figure"}},
	{".", []string{"proto/", "cpe", "layers", "net", "solver"}},
	{"predict", []string{"internal/base/box", "internal/base/pages", "internal/base/suggest", "proto/", "blob", "data/", "cpe", "layers", "net", "solver"}},
	{"internal/app/serve", []string{"internal/base/cputime", "internal/base/half", "internal/base/origin", "internal/base/pages", "internal/base/relay", "internal/base/suggest", "internal/app/timeline", "internal/base/version", "data/imageio", "predict", "proto/healthpb", "proto/inferencepb", "proto/reflectionpb"}},
	{"modeltime/trust", nil},
	{"modeltime", []string{"proto/", "internal/base/suggest", "internal/base/relay", "blob", "cpe/", "layers/", "net", "modeltime/trust"}},
	{"internal/app/modelplot", []string{"cpe/", "internal/app/figure", "proto/", "modeltime/"}},
	{"scaling", []string{"proto/", "internal/base/suggest", "topology/", "cpe", "modeltime/"}},
	{"internal/app/modelfigures", []string{"proto/"}},
	{"internal/testkit/randomtest/kernels", []string{"internal/testkit/randomtest", "internal/base/simd/", "cpe", "cpe/kernel/"}},
	{"internal/testkit/randomtest/nets", []string{"proto/", "blob", "internal/testkit/randomtest", "internal/base/simd/", "cpe", "cpe/kernel/", "layers", "net"}},
	{"internal/testkit/randomtest/run", []string{"internal/testkit/randomtest/", "internal/base/simd/"}},
	{"internal/testkit/randomtest", []string{"cpe"}},
	{"internal/app/page/pagetest", nil},
	{"internal/app/inspect", []string{"proto/", "blob", "cpe", "cpe/kernel/shape", "layers", "net", "solver/events", "internal/app/picture"}},
	{"internal/app/timeline", nil},
	{"internal/app/tensorboard", []string{"proto/", "net", "solver/events"}},
	{"internal/app/metrics", []string{"solver/events"}},
	{"internal/app/board", []string{"data/regular", "solver/events"}},
	{"internal/app/page", []string{"internal/app/inspect", "internal/base/origin", "internal/app/netdraw", "proto/", "solver/events", "internal/app/picture", "internal/app/testreport", "internal/app/timeline", "internal/app/modelplot"}},
	{"internal/app/glog", nil},
	{"internal/app/launch", nil},
	{"internal/app/manpage", nil},
	{"internal/app/statusline", nil},
	{"internal/app/statusline/screentest", nil},
	{"internal/app/cli", []string{"proto/", "internal/app/glog", "internal/app/launch", "internal/app/manpage", "internal/base/pages", "internal/base/simd/isa", "internal/base/suggest", "internal/base/version", "data/", "cpe/", "layers", "net", "solver", "topology", "internal/base/relay", "internal/app/statusline"}},
	{"cmd/internal/train", []string{"internal/app/cli", "internal/app/elastic", "internal/app/figure", "proto/", "cpe", "layers", "net", "modeltime/", "scaling", "solver", "solver/centre", "solver/events", "topology", "internal/app/inspect", "internal/app/metrics", "internal/app/page", "internal/app/tensorboard", "internal/app/timeline", "cpe/kernel/shape", "internal/app/picture", "internal/app/testreport", "internal/app/statusline", "internal/base/caffelog"}},
	{"cmd/internal/infer", []string{"internal/app/cli", "internal/app/quantise", "internal/app/serve", "solver/events", "internal/app/testreport", "internal/app/figure", "predict", "solver/evaluate", "internal/base/caffelog", "internal/base/suggest", "proto/", "blob", "cpe", "data/", "layers", "net", "solver", "topology"}},
	{"cmd/internal/measure", []string{"internal/app/cli", "internal/base/caffelog", "internal/app/figure", "internal/app/modelplot", "internal/base/pages", "internal/base/simd/", "internal/base/suggest", "proto/", "cpe/", "layers", "net", "net/schedule", "scaling", "solver", "topology", "modeltime/"}},
	{"cmd/internal/model", []string{"data", "internal/app/cli", "solver/events", "internal/app/netdraw", "internal/onnx/", "internal/tensors", "internal/base/simd/vec", "proto/", "blob", "cpe", "cpe/kernel/op", "cpe/kernel/shape", "layers", "net", "solver", "solver/evaluate"}},
	{"cmd/internal/dataset", []string{"internal/app/cli", "internal/base/caffelog", "internal/base/pages", "internal/base/relay", "internal/base/suggest", "proto/", "blob", "data/", "layers", "net", "solver"}},
	{"cmd/internal/logs", []string{"internal/app/cli", "internal/base/caffelog", "solver/events", "internal/app/board", "internal/app/figure", "internal/app/page", "proto"}},
	{"cmd/internal/scoretest", []string{"proto/", "data/"}},
	{"cmd/internal/all", []string{"internal/app/cli", "cmd/internal/", "topology/empi"}},
	{"cmd/internal/python", []string{"internal/app/glog", "internal/app/netdraw", "internal/onnx", "internal/onnx/intake", "internal/base/pages", "internal/base/relay", "internal/base/simd/vec", "proto/", "blob", "data/hdf5", "data/imageio", "data/regular", "cpe", "layers", "layers/data", "net", "solver", "solver/caffeh5"}},
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
	root := filepath.Join("..", "..", "..")
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
		f, err := parser.ParseFile(fset, filepath.Join("..", "..", "..", file), nil, 0)
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
		f, err := parser.ParseFile(fset, filepath.Join("..", "..", "..", file), nil, 0)
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
