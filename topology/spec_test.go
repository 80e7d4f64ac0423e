package topology

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const goodSpec = `name: "test"
nodes: 8
nodes_per_supernode: 4
node_link { bandwidth_gbytes_per_s: 10 latency_us: 2 }
uplink { oversubscription: 2 latency_us: 3 }
reduce_gbytes_per_s: 4
`

func TestParseSpec(t *testing.T) {
	got, err := ParseSpec("test.prototxt", []byte(goodSpec))
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "test" || got.Nodes != 8 || got.NodesPerSupernode != 4 || got.Oversubscription != 2 {
		t.Errorf("got %+v", got)
	}
	near(t, "bandwidth", got.BytesPerSecond, 10e9, 1e-15)
	near(t, "latency", float64(got.Latency), 2e-6, 1e-15)
	near(t, "uplink latency", float64(got.UplinkLatency), 3e-6, 1e-15)
	near(t, "reduction", got.ReduceBytesPerSecond, 4e9, 1e-15)
	near(t, "uplink", got.uplinkBandwidth(), 4*10e9/2, 1e-15)
	if got.Storage != nil || got.bySize != nil {
		t.Errorf("got %+v", got)
	}
	more := strings.Replace(goodSpec, "latency_us: 2", "latency_us: 2 "+sizes, 1) + disks
	if got, err = ParseSpec("test.prototxt", []byte(more)); err != nil {
		t.Fatal(err)
	}
	if want := (Storage{32, 2.5e9, 256 << 20}); *got.Storage != want || !slices.Equal(got.bySize, []sizePoint{{8, 0.5e9}, {4096, 3e9}}) {
		t.Errorf("storage %+v, bandwidth by size %+v", got.Storage, got.bySize)
	}
	// The limits themselves are allowed.
	for _, c := range [][2]string{
		{"oversubscription: 2", "oversubscription: 1e6"}, {"oversubscription: 2", "oversubscription: 1e-6"}, {" latency_us: 2", " latency_us: 1e9"},
		{" latency_us: 2", " latency_us: 0"}, {"s: 10 ", "s: 1e-6 "}, {"nodes: 8", "nodes: 1048576"},
		{"nodes_per_supernode: 4", "nodes_per_supernode: 1"}, {"arrays: 32", "arrays: 1"},
	} {
		if _, err := ParseSpec("test.prototxt", []byte(strings.Replace(more, c[0], c[1], 1))); err != nil {
			t.Errorf("%s: %v", c[1], err)
		}
	}
}

// Optional fields of a cluster.
const (
	sizes = "by_size { message_bytes: 8 bandwidth_gbytes_per_s: 0.5 } by_size { message_bytes: 4096 bandwidth_gbytes_per_s: 3 }"
	disks = "storage { arrays: 32 bandwidth_gbytes_per_s: 2.5 stripe_mbytes: 256 }\n"
)

// TestParseSpecErrors: an error names every figure that is missing or impossible, with its place and value.
func TestParseSpecErrors(t *testing.T) {
	for _, c := range []struct{ old, new, want string }{
		{"nodes: 8", "nodes: 0", `test.prototxt:2: cluster "test": nodes must be positive, it is 0`},
		{"nodes: 8", "nodes: -8", `test.prototxt:2:`},
		{"nodes: 8\n", "", `nodes`},
		{"nodes_per_supernode: 4", "nodes_per_supernode: 0", `nodes_per_supernode must be positive, it is 0`},
		{"bandwidth_gbytes_per_s: 10", "bandwidth_gbytes_per_s: -10", `node_link.bandwidth_gbytes_per_s must be positive, it is -10`},
		{"bandwidth_gbytes_per_s: 10", "bandwidth_gbytes_per_s: inf", `node_link.bandwidth_gbytes_per_s must be positive, it is +Inf`},
		{"bandwidth_gbytes_per_s: 10", "", `bandwidth_gbytes_per_s`},
		{"bandwidth_gbytes_per_s: 10", "bandwidth_gbytes_per_s: 1e-320", `node_link.bandwidth_gbytes_per_s must be at least 1e-06, it is 1e-320`},
		{" latency_us: 2", " latency_us: 1e300", `node_link.latency_us must be at most 1e+09, it is 1e+300`},
		{"oversubscription: 2", "oversubscription: 1e300", `uplink.oversubscription must be 1e-06 to 1e+06, it is 1e+300`},
		{"oversubscription: 2", "oversubscription: 1e-300", `uplink.oversubscription must be 1e-06 to 1e+06, it is 1e-300`},
		{"reduce_gbytes_per_s: 4", "reduce_gbytes_per_s: 1e-300", `reduce_gbytes_per_s must be at least 1e-06, it is 1e-300`},
		{"bandwidth_gbytes_per_s: 10", "bandwidth_gbytes_per_s: 1e308", `node_link.bandwidth_gbytes_per_s must be at most 1e+09, it is 1e+308`},
		{"nodes: 8", "nodes: 2000000000", `nodes must be at most 1048576, it is 2000000000`},
		{" latency_us: 2", " latency_us: -2", `node_link.latency_us must not be negative, it is -2`},
		{"oversubscription: 2", "oversubscription: 0", `uplink.oversubscription must be positive, it is 0`},
		{"oversubscription: 2", "", `oversubscription`},
		{"latency_us: 3", "latency_us: nan", `uplink.latency_us must not be negative, it is NaN`},
		{"uplink { oversubscription: 2 latency_us: 3 }", "", `uplink is missing: 8 nodes do not fit one supernode of 4`},
		{"reduce_gbytes_per_s: 4", "reduce_gbytes_per_s: -4", `reduce_gbytes_per_s must be positive, it is -4`},
		{"latency_us: 2", "latency_us: 2 by_size { message_bytes: 8 bandwidth_gbytes_per_s: 1 } by_size { message_bytes: 8 bandwidth_gbytes_per_s: 2 }",
			`node_link.by_size[1].message_bytes must grow from entry to entry, it is 8 after 8`},
		{"latency_us: 2", "latency_us: 2 by_size { message_bytes: 8 bandwidth_gbytes_per_s: 0 }",
			`node_link.by_size[0].bandwidth_gbytes_per_s must be positive, it is 0`},
		{"arrays: 32", "arrays: 0", `storage.arrays must be positive, it is 0`},
		{"bandwidth_gbytes_per_s: 2.5", "bandwidth_gbytes_per_s: 0", `storage.bandwidth_gbytes_per_s must be positive, it is 0`},
		{"stripe_mbytes: 256", "stripe_mbytes: -1", `storage.stripe_mbytes must be positive, it is -1`},
	} {
		text := strings.Replace(goodSpec+disks, c.old, c.new, 1)
		_, err := ParseSpec("test.prototxt", []byte(text))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "test.prototxt") {
			t.Errorf("%q: got %v, want %s", c.new, err, c.want)
		}
	}
}

// TestMessageBandwidth interpolates over the logarithm of the size, and nowhere else.
func TestMessageBandwidth(t *testing.T) {
	spec := testSpec(2, 2, 1)
	near(t, "no table", spec.messageBandwidth(5), 10e9, 0)
	spec.bySize = []sizePoint{{100, 1e9}, {10000, 3e9}}
	for _, c := range []struct{ bytes, want float64 }{{1, 1e9}, {100, 1e9}, {1000, 2e9}, {10000, 3e9}, {1e9, 3e9}} {
		near(t, "table", spec.messageBandwidth(c.bytes), c.want, 1e-12)
	}
}

// TestBuiltInClusters: each can be read, is named as its file, and states a source or an assumption beside each figure.
func TestBuiltInClusters(t *testing.T) {
	names := ClusterNames()
	if len(names) < 5 {
		t.Errorf("only %v", names)
	}
	for _, name := range names {
		spec, err := LoadSpec(name)
		if err != nil {
			t.Error(err)
			continue
		}
		if spec.Name != name || spec.Description == "" {
			t.Errorf("%s: name %q, description %q", name, spec.Name, spec.Description)
		}
		text, err := os.ReadFile(filepath.Join("clusters", name+".prototxt"))
		if err != nil {
			t.Fatal(err)
		}
		var before string
		for line := range strings.Lines(string(text)) {
			field := strings.TrimSpace(line)
			figure := strings.Contains(field, ": ") && !strings.HasPrefix(field, "#") && !strings.Contains(strings.Split(field, "#")[0], `"`)
			if figure && !strings.Contains(field, "#") && !strings.HasPrefix(before, "#") {
				t.Errorf("%s: no source beside %q", name, field)
			}
			before = field
		}
	}
}
