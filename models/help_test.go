package models_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/modeltime"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

const (
	trainVal = "train_val.prototxt"
	deploy   = "deploy.prototxt"
)

// synthetic is the stage in which nets for ImageNet need no images; the others know nothing of it.
const synthetic = "synthetic"

// sets are the data that the small models are trained on, in as few items as small batches need.
var sets = [][]string{
	{"digits", "-train", "8", "-test", "4"},
	{"shapes", "-train", "8", "-test", "4"},
	{"pairs", "-train", "8", "-test", "4"},
	{"scenes", "-train", "8", "-test", "4"},
	{"objects", "-train", "8", "-test", "4", "-size", "96"},
	{"points", "-train", "8", "-test", "4"},
	{"text", "-train", "289", "-test", "289"},
}

// root is a directory like the repository's root, where all tests run: models is there, and data has small sets of every kind.
// Processes that tests start find it in the environment variable rootVariable.
var root string

const rootVariable = "SWCAFFE_MODELS_ROOT"

func TestMain(m *testing.M) {
	os.Exit(runIn(m))
}

func runIn(m *testing.M) int {
	if root = os.Getenv(rootVariable); root != "" {
		return printChoices()
	}
	var err error
	if root, err = makeRoot(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(root)
	if err := os.Chdir(root); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func makeRoot() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "swcaffe-models-*"); err != nil {
		return "", err
	}
	here, err := os.Getwd()
	if err != nil {
		return dir, err
	}
	if err := os.Symlink(here, filepath.Join(dir, "models")); err != nil {
		return dir, err
	}
	command := os.Getenv("SWCAFFE_TEST_BINARY") // scripts/check.sh has built it; Stat lets go test see when it changes
	if command == "" {
		command = filepath.Join(dir, "swcaffe")
		if out, err := exec.Command("go", "build", "-o", command, "../cmd/swcaffe").CombinedOutput(); err != nil {
			return dir, fmt.Errorf("go build: %w\n%s", err, out)
		}
	} else if _, err := os.Stat(command); err != nil {
		return dir, err
	}
	for _, set := range sets {
		c := exec.Command(command, append([]string{"dataset"}, set...)...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("%v: %w\n%s", c.Args, err, out)
		}
	}
	return dir, nil
}

// names lists the models: the directories beside this file.
func names(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, "models"))
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, e := range entries {
		if e.IsDir() {
			all = append(all, e.Name())
		}
	}
	return all
}

// forImageNet reports whether a model is trained on images that are not here.
func forImageNet(file *swproto.Net) bool {
	return slices.ContainsFunc(file.Param.Layer, func(l *caffepb.LayerParameter) bool {
		return slices.ContainsFunc(l.Include, func(r *caffepb.NetStateRule) bool { return slices.Contains(r.Stage, synthetic) })
	})
}

func readNet(t *testing.T, model, file string) *swproto.Net {
	t.Helper()
	n, err := swproto.ReadNet(filepath.Join("models", model, file))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func measure(t *testing.T, model, file string, phase caffepb.Phase) *modeltime.Size {
	t.Helper()
	s, err := modeltime.Measure(readNet(t, model, file), modeltime.SizeOptions{
		State: swnet.MergeState(phase, &caffepb.NetState{Stage: []string{synthetic, "test-on-test"}}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withCommas writes a number as the READMEs do: 60,965,224.
func withCommas(n int64) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}
