package python

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/swcaffe/swcaffe/data/imageio"
	"github.com/swcaffe/swcaffe/data/regular"
	"github.com/swcaffe/swcaffe/internal/app/netdraw"
	swproto "github.com/swcaffe/swcaffe/proto"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
)

func init() {
	functions["describe_messages"] = with(describeMessages)
	functions["decode_picture"] = with(decodePicture)
	functions["draw_net"] = with(drawNet)
	functions["picture"] = on(func(n *Net, _ arguments) (any, error) { return n.picture() })
}

// describeMessages returns a FileDescriptorProto with all of Caffe's messages. Python makes its classes from it.
func describeMessages(struct{}) ([]byte, error) {
	return proto.Marshal(protodesc.ToFileDescriptorProto(caffepb.File_swcaffe_caffe_proto))
}

// picture is a decoded image: rows of pixels, which are B, G, R in bytes, or R, G, B in 16 bits each, the low byte first.
type picture struct {
	Height int    `json:"height"`
	Width  int    `json:"width"`
	Bits   int    `json:"bits"`
	Pixels []byte `json:"pixels"`
}

// readPicture reads an image file in colour.
func readPicture(path string) (*picture, error) {
	file, err := regular.ReadFile(path)
	if err != nil {
		return nil, err
	}
	deep, err := imageio.DecodeDeep(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if deep != nil {
		p := &picture{Height: deep.Height, Width: deep.Width, Bits: 16, Pixels: make([]byte, 0, 2*len(deep.Values))}
		for _, v := range deep.Values {
			p.Pixels = binary.LittleEndian.AppendUint16(p.Pixels, v)
		}
		return p, nil
	}
	im, err := imageio.Decode(file, imageio.Color)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &picture{im.Height, im.Width, 8, im.Pix}, nil
}

// decodePicture is readPicture with Python's kinds of errors.
func decodePicture(file string) (*picture, error) {
	p, err := readPicture(file)
	if err != nil {
		kind := "ValueError" // Python's word for contents that are wrong
		var failed *fs.PathError
		switch {
		case errors.Is(err, fs.ErrNotExist):
			kind = "FileNotFoundError"
		case errors.As(err, &failed):
			kind = "OSError"
		}
		return nil, &Fault{Kind: kind, Text: err.Error()}
	}
	return p, nil
}

// drawing says how a net is drawn.
type drawing struct {
	Net       []byte         `json:"net"`       // a NetParameter in binary form
	Direction string         `json:"direction"` // from inputs to outputs: LR, TB, BT, RL
	Format    string         `json:"format"`    // svg, png, dot
	Phase     *caffepb.Phase `json:"phase"`     // nil: layers of both phases
	Rates     bool           `json:"rates"`     // show learning-rate multipliers
}

// picture returns a drawing of the net in SVG, without the Split layers that the net has inserted.
func (n *Net) picture() (string, error) {
	p := &caffepb.NetParameter{Name: proto.String(n.net.Name())}
	split := map[string]string{} // by top of a Split layer: its bottom
	for i := range n.net.NumLayers() {
		l := proto.CloneOf(n.net.LayerParam(i))
		l.Include, l.Exclude = nil, nil
		for _, names := range [][]string{l.Bottom, l.Top} {
			for k, name := range names {
				if bottom, ok := split[name]; ok {
					names[k] = bottom
				}
			}
		}
		if l.GetType() == "Split" {
			for _, top := range l.Top {
				split[top] = l.Bottom[0]
			}
			continue
		}
		p.Layer = append(p.Layer, l)
	}
	graph, err := netdraw.New(p, netdraw.Options{RankDir: "TB", States: []*caffepb.NetState{{}}})
	if err != nil {
		return "", err
	}
	svg, err := graph.Draw("svg")
	return string(svg), err
}

// drawNet returns a picture of a net. Nets in old formats are upgraded first.
func drawNet(d drawing) ([]byte, error) {
	if !slices.Contains([]string{"LR", "TB", "BT", "RL"}, d.Direction) {
		return nil, &Fault{Kind: "ValueError", Text: fmt.Sprintf("rankdir %q: must be LR, TB, BT or RL", d.Direction)}
	}
	var p caffepb.NetParameter
	if err := proto.Unmarshal(d.Net, &p); err != nil {
		return nil, fmt.Errorf("the NetParameter: %w", err)
	}
	if _, err := swproto.UpgradeNet(&p, "net "+p.GetName()); err != nil {
		return nil, err
	}
	phases := []caffepb.Phase{caffepb.Phase_TRAIN, caffepb.Phase_TEST}
	if d.Phase != nil {
		phases = []caffepb.Phase{*d.Phase}
	}
	opt := netdraw.Options{RankDir: d.Direction, Rates: d.Rates}
	for _, phase := range phases {
		opt.States = append(opt.States, &caffepb.NetState{Phase: phase.Enum()})
	}
	graph, err := netdraw.New(&p, opt)
	if err != nil {
		return nil, fmt.Errorf("net %s: %w", p.GetName(), err)
	}
	if d.Format == "dot" {
		return graph.DOT(), nil
	}
	return graph.Draw(d.Format)
}
