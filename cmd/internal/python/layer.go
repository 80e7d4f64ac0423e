package python

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// Op is an event that Python code handles.
type Op int32

// The events. key is a Python layer, a solver or a net.
const (
	SetUp       Op = iota // a layer's setup; text describes the layer
	ReshapeTops           // a layer's reshape
	RunForward            // a layer's forward
	RunBackward           // a layer's backward; flags has a byte per bottom, 1 if its gradient is wanted
	CloseLayer            // the layer is not used any more
	Poll                  // between iterations, now and then: signals
	OnStart               // a solver's callbacks before the passes of an iteration
	OnGradients           // a solver's callbacks between the passes and the update
	RunHooks              // a net's hooks; text is the layer's number, flags[0] is the kind (hookKind)
)

// Callback calls Python. It returns 0, or the key of the exception that was raised; -1 is a KeyboardInterrupt. libswcaffe sets it.
var Callback func(op Op, key int64, text string, flags []byte) int64

// call handles an event in Python, while other threads may use the machine.
func call(op Op, key int64, text string, flags []byte) error {
	if Callback == nil {
		return errors.New("Python code cannot be called: the module caffe is not loaded")
	}
	if exception := Callback(op, key, text, flags); exception != 0 {
		return &raised{exception}
	}
	return nil
}

func init() {
	layers.Register(layers.Type{
		Name: "Python", Doc: "computes what a class in Python says",
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &pythonLayer{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.AtLeast(0), Tops: layers.AtLeast(0), InPlace: true, Effects: layers.Effect("does what its class does"), Foreign: true,
	})
}

// pythonLayer is a layer whose class is written in Python.
type pythonLayer struct {
	layers.Base
	key    int64
	blobs  []Handle
	shapes bool // Python may give tops their shapes

	settingUp bool // Python may add weights
}

// pythonLayers holds the layers by key.
var pythonLayers struct {
	mu   sync.Mutex
	of   map[int64]*pythonLayer
	last int64
}

func pythonLayerOf(key int64) *pythonLayer {
	pythonLayers.mu.Lock()
	defer pythonLayers.mu.Unlock()
	return pythonLayers.of[key]
}

// description is what a layer's setup gets to know.
type description struct {
	Name            string   `json:"name"`
	Module          string   `json:"module"`
	Class           string   `json:"class"`
	ParamStr        string   `json:"param_str"`
	Phase           int32    `json:"phase"`
	ShareInParallel bool     `json:"share_in_parallel"`
	Bottoms         []Handle `json:"bottoms"`
	Tops            []Handle `json:"tops"`
}

// SetUp makes the Python object and calls its setup.
func (l *pythonLayer) SetUp(bottom, top []*blob.Blob) error {
	p := l.Param.GetPythonParam()
	if p.GetModule() == "" || p.GetLayer() == "" {
		return fmt.Errorf("python_param needs a module and a layer (the name of a class in the module): module %q, layer %q", p.GetModule(), p.GetLayer())
	}
	if !l.Device.Machine.Values() {
		return errors.New("a Python layer needs values, and this machine computes only their costs")
	}
	pythonLayers.mu.Lock()
	if pythonLayers.of == nil {
		pythonLayers.of = map[int64]*pythonLayer{}
	}
	pythonLayers.last++
	l.key = pythonLayers.last
	pythonLayers.of[l.key] = l
	pythonLayers.mu.Unlock()
	text, err := json.Marshal(description{
		Name: l.Param.GetName(), Module: p.GetModule(), Class: p.GetLayer(), ParamStr: p.GetParamStr(), Phase: int32(l.Param.GetPhase()),
		ShareInParallel: p.GetShareInParallel(), Bottoms: l.handles(bottom, false), Tops: l.handles(top, true),
	})
	if err != nil {
		return err
	}
	return l.call(SetUp, string(text), nil)
}

// handles returns handles of blobs, which end with the layer. own says that the layer gives them their shapes.
func (l *pythonLayer) handles(blobs []*blob.Blob, own bool) []Handle {
	list := []Handle{}
	for _, b := range blobs {
		list = append(list, objects.add(&Blob{blob: b, of: l, own: own}))
	}
	l.blobs = append(l.blobs, list...)
	return list
}

// call lets Python handle an event of the layer. Other threads may use the machine meanwhile, if this thread has it.
func (l *pythonLayer) call(op Op, text string, flags []byte) error {
	l.shapes = op == SetUp || op == ReshapeTops || op == RunForward
	l.settingUp = op == SetUp
	defer func() { l.shapes, l.settingUp = false, false }()
	run := func() error { return call(op, l.key, text, flags) }
	if !isShared(l.Device.Machine) { // of a command, which has a machine of its own
		return run()
	}
	return aside(run)
}

// Reshape implements layers.Layer.
func (l *pythonLayer) Reshape(_, _ []*blob.Blob) error { return l.call(ReshapeTops, "", nil) }

// Forward implements layers.Layer.
func (l *pythonLayer) Forward(_, _ []*blob.Blob) error { return l.call(RunForward, "", nil) }

// Backward implements layers.Layer.
func (l *pythonLayer) Backward(_ []*blob.Blob, propagateDown []bool, _ []*blob.Blob) error {
	flags := make([]byte, len(propagateDown))
	for i, wanted := range propagateDown {
		if wanted {
			flags[i] = 1
		}
	}
	return l.call(RunBackward, "", flags)
}

// Close implements layers.Closer.
func (l *pythonLayer) Close() error {
	pythonLayers.mu.Lock()
	delete(pythonLayers.of, l.key)
	pythonLayers.mu.Unlock()
	for _, h := range l.blobs {
		Release(h)
	}
	if l.key == 0 {
		return nil
	}
	return call(CloseLayer, l.key, "", nil)
}
