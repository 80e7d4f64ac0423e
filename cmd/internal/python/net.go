package python

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// Net is a net that Python holds: one opened by itself, or one of a solver's.
type Net struct {
	net   *swnet.Net
	gate  *gate
	owner *owner
	// shaped counts the first layers whose tops have shapes that follow from their bottoms'. A blob that Python reshapes makes it 0, and
	// layers that run forward increase it.
	shaped int
	solver *Solver // nil for a net opened by itself
	hooks  int64   // key of the net's hooks in Python, which the solver's runs call; 0: none
	inference
	watched int             // live views of blobs that are hidden while the net economises; guarded by memory.mu
	spent   []time.Duration // by layer: its time in the last run forward; 0: it was computed along with another, or not at all
	held    int             // live views of weights and of tops of layers without bottoms; guarded by memory.mu
}

// owner closes a net, or a solver with its nets, when nobody holds one of them.
type owner struct {
	mu    sync.Mutex
	uses  int
	close func() error
}

func (o *owner) hold() *owner {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.uses++
	return o
}

func (o *owner) drop() {
	o.mu.Lock()
	o.uses--
	last := o.uses == 0
	o.mu.Unlock()
	if last {
		if err := o.close(); err != nil {
			logger().Warn(err)
		}
	}
}

func (n *Net) release() { n.owner.drop() }

// closeNet releases the handle of a net that no thread runs.
func closeNet(n *Net, a arguments) (any, error) {
	if err := n.gate.enter(true); err != nil {
		return nil, err
	}
	defer n.gate.leave(true)
	Release(a.Handle)
	return nil, nil
}

// netRequest asks for a net.
type netRequest struct {
	File    string   `json:"file"`
	Phase   int32    `json:"phase"`
	Level   int32    `json:"level"`
	Stages  []string `json:"stages"`
	Weights string   `json:"weights"`
}

// netReply describes a net. Blobs are numbered in the order of BlobNames.
type netReply struct {
	Handle  Handle       `json:"handle"`
	Name    string       `json:"name"`
	Phase   int32        `json:"phase"`
	Layers  []layerReply `json:"layers"`
	Names   []string     `json:"names"`
	Blobs   []Handle     `json:"blobs"`
	Losses  []float32    `json:"losses"`
	Inputs  []int        `json:"inputs"`
	Outputs []int        `json:"outputs"`
}

type layerReply struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Bottoms []int    `json:"bottoms"`
	Tops    []int    `json:"tops"`
	Blobs   []Handle `json:"blobs"`
	Python  int64    `json:"python,omitempty"` // key of the Python layer's object
}

// openNet opens a net that keeps all its blobs, or seems to (infer.go).
func openNet(r netRequest) (reply *netReply, err error) {
	defer guard(&err)
	if err := mustExist(r.File); err != nil {
		return nil, err
	}
	phase := caffepb.Phase(r.Phase)
	if caffepb.Phase_name[r.Phase] == "" {
		return nil, invalid("phase %d: it must be caffe.TRAIN (0) or caffe.TEST (1)", r.Phase)
	}
	file, err := swproto.ReadNet(r.File)
	if err != nil {
		return nil, err
	}
	d, err := newDevice()
	if err != nil {
		return nil, err
	}
	for _, w := range file.Warnings {
		d.Log.Warn(w)
	}
	turns.Lock()
	defer turns.Unlock()
	may := inferable(file, phase)
	asked := swnet.Asked{Level: r.Level, Stages: r.Stages}
	if w := asked.Replaces(r.File+": state", file.Param.State); w != "" {
		d.Log.Warn(w)
	}
	n, err := swnet.New(file.Param, swnet.Options{
		Device: d, State: asked.Over(phase, file.Param.State), Pos: file.LayerPos,
		Economise: may, ForwardOnly: may,
	})
	if err != nil {
		return nil, err
	}
	if r.Weights != "" {
		if err := loadWeights(n, r.Weights); err != nil {
			return nil, errors.Join(err, n.Close())
		}
	}
	n.GiveStarts()
	o := &owner{close: n.Close}
	return (&Net{net: n, gate: &gate{}, owner: o.hold(), inference: inference{may: may}}).reply(phase), nil
}

func loadWeights(n *swnet.Net, files string) error {
	return solver.LoadWeights(n, files, logger())
}

// reply gives out handles of the net and of its blobs and weights.
func (n *Net) reply(phase caffepb.Phase) *netReply {
	m := n.net
	n.shaped, n.spent = m.NumLayers(), make([]time.Duration, m.NumLayers())
	r := &netReply{
		Handle: objects.add(n), Name: m.Name(), Phase: int32(phase), Names: m.BlobNames(), Inputs: []int{}, Outputs: append([]int{}, m.OutputIDs()...),
	}
	source := map[int]bool{}
	for i := range m.NumLayers() {
		for _, id := range m.TopIDs(i) {
			source[id] = source[id] || len(m.BottomIDs(i)) == 0
		}
	}
	for id := range r.Names {
		r.Blobs = append(r.Blobs, objects.add(&Blob{blob: m.BlobAt(id), net: n, top: true, hidden: !m.Visible(id), source: source[id]}))
		r.Losses = append(r.Losses, m.LossWeight(id))
	}
	for i := range m.NumLayers() {
		l := layerReply{
			Name: m.LayerName(i), Type: m.LayerType(i), Blobs: []Handle{},
			Bottoms: append([]int{}, m.BottomIDs(i)...), Tops: append([]int{}, m.TopIDs(i)...),
		}
		for _, b := range m.Layer(i).Params() {
			l.Blobs = append(l.Blobs, objects.add(&Blob{blob: b, net: n}))
		}
		if p, ok := m.Layer(i).(*pythonLayer); ok {
			l.Python = p.key
		}
		if l.Type == "Input" {
			r.Inputs = append(r.Inputs, l.Tops...)
		}
		r.Layers = append(r.Layers, l)
	}
	return r
}

// mostFound returns for each layer the number of detections per image that it keeps at most: keep_top_k of DetectionOutput, where it is
// limited, and 0 otherwise.
func (n *Net) mostFound() []int {
	most := make([]int, n.net.NumLayers())
	for i := range most {
		if n.net.LayerType(i) == "DetectionOutput" {
			most[i] = max(0, int(n.net.LayerParam(i).GetDetectionOutputParam().GetKeepTopK()))
		}
	}
	return most
}

// hasPython reports whether a net has a layer written in Python.
func hasPython(n *swnet.Net) bool {
	for i := range n.NumLayers() {
		if _, ok := n.Layer(i).(*pythonLayer); ok {
			return true
		}
	}
	return false
}

// use runs f while the calling thread has the net and its turn on the machine. The net then keeps all blobs. run says that f runs the
// net's layers.
func (n *Net) use(run bool, f func() error) error {
	return n.inside(run, func() error {
		if err := n.settle(); err != nil {
			return err
		}
		if s := n.solver; s != nil && (n == s.nets[0] || !run) {
			if err := s.settle(); err != nil {
				return err
			}
		}
		if err := n.net.Economise(false); err != nil {
			return err
		}
		return f()
	})
}

// inside runs f while the calling thread has the net and its turn on the machine.
func (n *Net) inside(run bool, f func() error) (err error) {
	defer guard(&err)
	debug.SetPanicOnFault(true) // as the machine's own goroutines do
	if err := n.gate.enter(run); err != nil {
		return err
	}
	defer n.gate.leave(run)
	turns.Lock()
	defer turns.Unlock()
	return f()
}

// layerIndex checks the number of a layer.
func (n *Net) layerIndex(i int) error {
	if i < 0 || i >= n.net.NumLayers() {
		return &Fault{Kind: "IndexError", Text: fmt.Sprintf("net %q has no layer %d: it has %d", n.net.Name(), i, n.net.NumLayers())}
	}
	return nil
}
