package topology

import (
	"embed"
	"errors"
	"fmt"
	"math"
	"os"
	"sort"
	"strings"

	"github.com/swcaffe/swcaffe/internal/base/suggest"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/clusterpb"
)

//go:embed clusters/*.prototxt
var clusterFiles embed.FS

// VTime is a span of virtual time, in seconds.
type VTime float64

// Spec describes a cluster. It is a value: copy it and change a figure to describe another one.
type Spec struct {
	Name              string
	Description       string
	Nodes             int
	NodesPerSupernode int
	BytesPerSecond    float64 // bandwidth of a node's link, each way
	Latency           VTime   // latency of a message inside a supernode
	Oversubscription  float64 // total bandwidth of the node links, relative to the uplink
	UplinkLatency     VTime   // additional latency of a message between supernodes
	// ReduceBytesPerSecond is the rate at which a node adds a received array to its own; 0: in no time.
	ReduceBytesPerSecond float64
	Storage              *Storage // nil: reading costs nothing

	bySize []sizePoint
}

type sizePoint struct{ bytes, bytesPerSecond float64 }

// MessageTime is the time of a message that shares no link, inside a supernode or between two.
func (s Spec) MessageTime(bytes float64, across bool) VTime {
	t := s.Latency + VTime(bytes/s.messageBandwidth(bytes))
	if across {
		t += s.UplinkLatency
	}
	return t
}

// uplinkBandwidth is the bandwidth of a supernode's uplink, each way, in bytes a second.
func (s Spec) uplinkBandwidth() float64 {
	return float64(s.NodesPerSupernode) * s.BytesPerSecond / s.Oversubscription
}

// messageBandwidth is the highest bandwidth of a message of a given size, in bytes a second.
func (s Spec) messageBandwidth(bytes float64) float64 {
	t := s.bySize
	if len(t) == 0 {
		return s.BytesPerSecond
	}
	i := sort.Search(len(t), func(i int) bool { return t[i].bytes >= bytes })
	switch i {
	case 0:
		return t[0].bytesPerSecond
	case len(t):
		return t[i-1].bytesPerSecond
	}
	a, b := t[i-1], t[i]
	share := math.Log(bytes/a.bytes) / math.Log(b.bytes/a.bytes)
	return a.bytesPerSecond + share*(b.bytesPerSecond-a.bytesPerSecond)
}

// ReduceTime is the time to add received bytes.
func (s Spec) ReduceTime(bytes float64) VTime {
	if s.ReduceBytesPerSecond == 0 {
		return 0
	}
	return VTime(bytes / s.ReduceBytesPerSecond)
}

// ClusterNames returns the names of the built-in clusters.
func ClusterNames() []string {
	entries, err := clusterFiles.ReadDir("clusters")
	if err != nil {
		panic("topology: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".prototxt"))
	}
	return names
}

// LoadSpec returns a built-in cluster by its name, or a cluster from a file.
func LoadSpec(nameOrFile string) (Spec, error) {
	if text, err := clusterFiles.ReadFile("clusters/" + nameOrFile + ".prototxt"); err == nil {
		return ParseSpec(nameOrFile+".prototxt", text)
	}
	text, err := swproto.ReadFile(nameOrFile)
	if errors.Is(err, os.ErrNotExist) {
		return Spec{}, &suggest.UnknownError{Kind: "cluster", Kinds: "clusters", Name: nameOrFile, Known: ClusterNames(), OrFile: true}
	}
	if err != nil {
		return Spec{}, err
	}
	return ParseSpec(nameOrFile, text)
}

// ParseSpec parses the text of a cluster's file.
func ParseSpec(file string, text []byte) (Spec, error) {
	var m clusterpb.Cluster
	source, err := swproto.UnmarshalText(file, text, &m)
	if err != nil {
		return Spec{}, err
	}
	const giga, micro = 1e9, 1e-6
	s := Spec{
		Name: m.GetName(), Description: m.GetDescription(),
		Nodes: int(m.GetNodes()), NodesPerSupernode: int(m.GetNodesPerSupernode()),
		BytesPerSecond:       m.GetNodeLink().GetBandwidthGbytesPerS() * giga,
		Latency:              VTime(m.GetNodeLink().GetLatencyUs() * micro),
		Oversubscription:     1,
		ReduceBytesPerSecond: m.GetReduceGbytesPerS() * giga,
	}
	if u := m.GetUplink(); u != nil {
		s.Oversubscription, s.UplinkLatency = u.GetOversubscription(), VTime(u.GetLatencyUs()*micro)
	}
	if d := m.GetStorage(); d != nil {
		s.Storage = &Storage{int(d.GetArrays()), d.GetBandwidthGbytesPerS() * giga, d.GetStripeMbytes() * (1 << 20)}
	}
	for _, p := range m.GetNodeLink().GetBySize() {
		s.bySize = append(s.bySize, sizePoint{float64(p.GetMessageBytes()), p.GetBandwidthGbytesPerS() * giga})
	}
	if field, err := validate(&m); err != nil {
		return Spec{}, fmt.Errorf("%s: cluster %q: %s %w", source.Nearest(field), s.Name, field, err)
	}
	return s, nil
}
