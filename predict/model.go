package predict

import (
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/cpe"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/data/annotation"
	"github.com/swcaffe/swcaffe/layers"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver"
)

// Options say what to load. Only Net is required.
type Options struct {
	Net     string // the net for deployment: a prototxt with Input layers, in any of Caffe's forms
	Weights string // .caffemodel or HDF5 files, separated by commas; "": the weights that the prototxt states or fills
	Labels  string // the names of classes: a file with one a line, or SSD's LabelMap; "": classes have their numbers

	Preprocessing

	Batch   int  // the most items that one run of the net has, more are run in several; 0: the batch of the prototxt
	Plans   int  // the most plans that a session keeps, for batches of different sizes; 0: 8
	AnySize bool // inputs may differ from the prototxt in other axes than the first, as images of any size do

	Machine *cpe.Spec      // the machine; nil: this computer
	Engine  layers.Engine  // the path of every layer
	Seed    uint64         // of weights that no file has
	Log     *logrus.Logger // nil: none
}

// defaultPlans is the default of Options.Plans.
const defaultPlans = 8

// Model is a trained net for sessions to run. It never changes after Load: any number of goroutines may use it.
type Model struct {
	opt       Options
	file      *swproto.Net
	state     *caffepb.NetState
	weights   *swnet.Net // never runs: its weights are frozen, and those of all sessions
	inputs    []Port
	outputs   []Port
	untrained string
	names     []string
	detector  string // the blob with the rows of a detection layer, "" without one
	kinds     int    // one more than the highest class of these rows, 0 if it is not known
	effect    string // what a layer does beside computing its tops, which binds the net to one session
	mixes     error
	prepare   *data.Preprocessor
	noPrepare error // why there is none
	extents   extents

	mu       sync.Mutex // held while a plan is made
	sessions int
}

// Port is an input or an output of a net.
type Port struct {
	Name  string
	Shape []int // as the prototxt states it; axis 0 is the batch
}

// Load reads a net, its weights, its preprocessing and its labels. A net whose images' preprocessing is not stated can still be run on arrays.
func Load(opt Options) (*Model, error) {
	if opt.Log == nil {
		opt.Log = layers.NoLog()
	}
	if opt.Batch < 0 || opt.Plans < 0 {
		return nil, fmt.Errorf("batch %d and plans %d: neither can be negative", opt.Batch, opt.Plans)
	}
	if opt.Plans == 0 {
		opt.Plans = defaultPlans
	}
	m := &Model{opt: opt}
	if err := m.open(); err != nil {
		return nil, err
	}
	if err := m.describe(); err != nil {
		return nil, err
	}
	if m.opt.Batch == 0 {
		m.opt.Batch = 1
		if s := m.inputs[0].Shape; len(s) > 0 && s[0] > 0 {
			m.opt.Batch = s[0]
		}
	}
	if err := m.readLabels(); err != nil {
		return nil, err
	}
	m.prepare, m.noPrepare = m.preprocessor()
	if m.noPrepare != nil && opt.Preprocessing.stated() {
		return nil, m.noPrepare
	}
	return m, nil
}

// open builds the net that holds the weights, and loads and freezes them. Its layers are on the reference path, where they plan no kernels.
func (m *Model) open() (err error) {
	if m.file, m.state, err = readNet(m.opt.Net, m.opt.Log); err != nil {
		return err
	}
	machine, err := cpe.NewHost(1)
	if err != nil {
		return err
	}
	defer machine.Close()
	d := &layers.Device{Engine: layers.MPE, Machine: machine, Random: layers.NewRandom(m.opt.Seed), Log: m.opt.Log}
	if m.opt.Weights != "" {
		if d.Stored, err = solver.StoredLayers(nil, m.opt.Weights); err != nil {
			return err
		}
	}
	n, err := swnet.New(m.file.Param, swnet.Options{State: m.state, Device: d, Pos: m.file.LayerPos, ForwardOnly: true, Prepares: true})
	if err != nil {
		return err
	}
	m.weights = n
	if m.opt.Weights != "" {
		if m.untrained, err = solver.LoadTrained(n, m.opt.Weights, m.opt.Log); err != nil {
			return err
		}
	}
	for i := range n.NumLayers() {
		for _, w := range n.Layer(i).Params() {
			w.Seal()
			w.Freeze()
		}
	}
	return n.Close()
}

// readNet reads a net and its state in phase TEST.
func readNet(path string, log *logrus.Logger) (*swproto.Net, *caffepb.NetState, error) {
	file, err := swproto.ReadNet(path)
	if err != nil {
		return nil, nil, err
	}
	for _, w := range file.Warnings {
		log.Warn(w)
	}
	var asked swnet.Asked
	if w := asked.Replaces(path+": state", file.Param.State); w != "" {
		log.Warn(w)
	}
	return file, asked.Over(caffepb.Phase_TEST, file.Param.State), nil
}

// describe finds the net's inputs and outputs, and what its layers do that sessions and batches must know.
func (m *Model) describe() error {
	n := m.weights
	eachInput(n, func(name string, b *blob.Blob) { m.inputs = append(m.inputs, Port{name, slices.Clone(b.Shape())}) })
	if len(m.inputs) == 0 {
		return fmt.Errorf("%s has no Input layer; is it a net for deployment?", m.opt.Net)
	}
	for _, o := range n.Outputs() {
		m.outputs = append(m.outputs, Port{o.Name, slices.Clone(o.Blob.Shape())})
	}
	for i := range n.NumLayers() {
		p := n.LayerParam(i)
		kind, err := layers.Find(p.GetType())
		if err != nil {
			return err
		}
		if what := kind.Effect(p); what != "" {
			m.effect = fmt.Sprintf("%s: layer %q (%s) %s", m.opt.Net, p.GetName(), p.GetType(), what)
		}
		if kind.Detections {
			m.detector, m.kinds = p.Top[0], 0
			if kind.Classes != nil {
				m.kinds = kind.Classes(p)
			}
		}
		if err := m.checkInPlace(i); err != nil {
			return err
		}
	}
	if list := n.Mixing(); len(list) > 0 {
		m.mixes = fmt.Errorf("%s: layer %q (%s) %s", m.opt.Net, list[0].Layer, list[0].Type, list[0].Why)
	}
	return nil
}

// checkInPlace returns an error if a layer writes over a weight, which other sessions read.
func (m *Model) checkInPlace(i int) error {
	n := m.weights
	for _, t := range n.Tops(i) {
		if !slices.Contains(n.Bottoms(i), t) {
			continue
		}
		for _, w := range n.Learnable() {
			if w.Blob.SharesData(t) {
				return fmt.Errorf("%s: layer %q (%s) writes over weight %d of layer %q in place: give its top another name", m.opt.Net, n.LayerName(i), n.LayerType(i), w.Index, w.Layer)
			}
		}
	}
	return nil
}

// eachInput calls f with the name and the blob of each top of the Input layers.
func eachInput(n *swnet.Net, f func(name string, b *blob.Blob)) {
	for i := range n.NumLayers() {
		if n.LayerType(i) != "Input" {
			continue
		}
		for k, b := range n.Tops(i) {
			f(n.LayerParam(i).Top[k], b)
		}
	}
}

// readLabels reads the names of the classes. A class without a name has its number for one.
func (m *Model) readLabels() (err error) {
	if m.opt.Labels == "" {
		return nil
	}
	gap := strconv.Itoa
	if m.detector != "" {
		gap = objectName
	}
	var listed bool
	if m.names, listed, err = annotation.ReadNames(m.opt.Labels, gap); err != nil {
		return err
	}
	switch n := len(m.names); {
	case m.kinds > 0 && listed && n != m.kinds:
		return fmt.Errorf("%s: number of labels (%d) is different from the number of classes of %q (%d): give a line for each class, from 0 on", m.opt.Labels, n, m.detector, m.kinds)
	case m.kinds > 0 && n > m.kinds:
		return fmt.Errorf("%s: the label %d is not one of the %d classes of %q, which are 0 to %d", m.opt.Labels, n-1, m.kinds, m.detector, m.kinds-1)
	case m.Classifies() == nil && n != m.classes():
		return fmt.Errorf("%s: number of labels (%d) is different from the output layer's dimension (%d)", m.opt.Labels, n, m.classes())
	}
	return nil
}

// Untrained returns a sentence that names the layers for which the files of Options.Weights have no weights, so that results are those of untrained ones; ""
// if there are none. Files without weights for any layer are an error of Load.
func (m *Model) Untrained() string { return m.untrained }

// Inputs returns the net's inputs, in the order of the prototxt, and Outputs its outputs, sorted by name. Callers must not change them.
func (m *Model) Inputs() []Port  { return m.inputs }
func (m *Model) Outputs() []Port { return m.outputs }

// Batch returns the most items that one run of the net has.
func (m *Model) Batch() int { return m.opt.Batch }

// Mixes returns an error that names a layer in which the items of a batch meet, nil if there is none. Only without one does an item have the same results
// in any company, so that a server may join the items of several requests.
func (m *Model) Mixes() error { return m.mixes }

// Continues returns an error that names a layer whose results depend on earlier runs, or that does something beside computing its tops; nil if
// there is none. Only without one can a model have several sessions at a time.
func (m *Model) Continues() error {
	if m.effect == "" {
		return nil
	}
	return fmt.Errorf("%s", m.effect)
}
