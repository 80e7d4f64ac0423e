package proto

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// TestUpgrade compares what ReadNet and ReadSolver make of each file, warnings first, with testdata/upgrade.txt.
func TestUpgrade(t *testing.T) {
	golden, err := filepath.Abs("testdata/upgrade.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "snap"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	checkSections(t, golden, func(t *testing.T, c section) string {
		file := c.kind + ".prototxt"
		if err := os.WriteFile(file, []byte(c.input), 0o644); err != nil {
			t.Fatal(err)
		}
		if c.kind == "solver" {
			s, err := ReadSolver(file)
			if err != nil {
				return "error: " + err.Error() + "\n"
			}
			return comments(s.Warnings) + string(MarshalText(s.Param))
		}
		n, err := ReadNet(file)
		if err != nil {
			return "error: " + err.Error() + "\n"
		}
		return comments(n.Warnings) + string(MarshalText(n.Param))
	})
}

func comments(lines []string) string {
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "# %s\n", line)
	}
	return b.String()
}

func TestLayerPositionsAfterUpgrade(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"current", "layer {}\nlayer {}", []string{":1", ":2"}},
		{"input", "input: 'a' input_dim: [1, 1, 1, 1]\nlayer {}", []string{"", ":2"}},
		{"V1", "layers {}\n\nlayers {}", []string{":1", ":3"}},
		{"V0 with padding", "input: 'a' input_dim: [1, 1, 1, 1]\nlayers { layer { type: 'padding' } bottom: 'a' top: 'p' }\n" +
			"layers { layer { type: 'conv' } bottom: 'p' top: 'c' }\nlayers { layer { type: 'relu' } bottom: 'c' }", []string{"", ":3", ":4"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "n.prototxt")
			if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			n, err := ReadNet(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(n.Param.Layer) != len(c.want) {
				t.Fatalf("%d layers, want %d", len(n.Param.Layer), len(c.want))
			}
			for i, want := range c.want {
				if got := n.LayerPos(i); got != file+want {
					t.Errorf("LayerPos(%d) = %q, want %q", i, got, file+want)
				}
			}
			if got := n.LayerPos(-1); got != file {
				t.Errorf("the net is in %q, want %q", got, file)
			}
		})
	}
}

// Every type and field of the old forms, but those without a meaning today, has a place in the current one.
func TestOldFormsAreCovered(t *testing.T) {
	for v0, v1 := range v0Types {
		if v1Types[v1] == "" {
			t.Errorf("V0 type %q becomes V1 type %v, which has no name", v0, v1)
		}
	}
	for number, name := range caffepb.V1LayerParameter_LayerType_name {
		if _, ok := v1Types[caffepb.V1LayerParameter_LayerType(number)]; !ok {
			t.Errorf("V1 type %s has no name", name)
		}
	}
	const unused = "new_num new_channels type" // the sizes are of a reshaping layer that V1 does not have
	fields := (&caffepb.V0LayerParameter{}).ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if name := string(fields.Get(i).Name()); v0Fields[name] == nil && !strings.Contains(unused, name) {
			t.Errorf("V0 field %s goes nowhere", name)
		}
	}
}

func TestUpgradeIsDoneOnce(t *testing.T) {
	p := &caffepb.NetParameter{}
	text := "input: 'a' input_dim: [1, 1, 1, 1] layers { layer { type: 'data' scale: 2 } } layers { layer { type: 'relu' } }"
	if _, err := UnmarshalText("n", []byte(text), p); err != nil {
		t.Fatal(err)
	}
	if _, err := UpgradeNet(p, "n"); err != nil {
		t.Fatal(err)
	}
	once := proto.Clone(p)
	warnings, err := UpgradeNet(p, "n")
	if err != nil || len(warnings) > 0 || !proto.Equal(once, p) {
		t.Errorf("a second upgrade: error %v, warnings %q, net %v", err, warnings, p)
	}
}
