package model

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/sirupsen/logrus"
	"github.com/swcaffe/swcaffe/data"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// usualItems is how many items of a data layer are read by default.
const usualItems = 1000

// checkedItems says what was found in the items of a data layer.
type checkedItems struct {
	Layer    string `json:"layer"`
	Items    uint64 `json:"items"` // of its list or database; 0: too many to count
	Read     int    `json:"read"`
	Repaired int    `json:"repaired"` // damaged images that are read as far as they go
	Unread   int    `json:"unread"`
}

// examiner is a layer that reads items.
type examiner interface {
	Examine(most int, told func(done, of int)) (*data.Examination, error)
}

// parseItems parses -items.
func parseItems(s string) (int, error) {
	if s == "all" {
		return -1, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0, cli.Usagef("-items %q: must be a number, or all", s)
	}
	return n, nil
}

// items reads items of a net's data layers as training would. Phases that share a layer read it once.
func (c *checker) items(n *swnet.Net, log *logrus.Logger) (list []checkedItems, found error) {
	list = []checkedItems{}
	for i := range n.NumLayers() {
		layer, ok := n.Layer(i).(examiner)
		if !ok || c.most == 0 || c.known(n.LayerParam(i)) {
			continue
		}
		bar := cli.NewProgress(c.stderr, 0, "items")
		x, err := layer.Examine(c.most, bar.Set)
		bar.Finish()
		if err != nil {
			found = errors.Join(found, n.Fail(i, err))
			continue
		}
		for _, err := range x.Faults {
			found = errors.Join(found, n.Fail(i, err))
		}
		for _, d := range x.Damaged {
			if err := fmt.Errorf("%s: the image is damaged: %s", d.Name, d.Text); c.o.strict {
				found = errors.Join(found, n.Fail(i, err))
			} else {
				log.Warnf("layer %q: %s: the image is damaged and is read as far as it goes: %s", n.LayerName(i), d.Name, d.Text)
			}
		}
		list = append(list, checkedItems{n.LayerName(i), x.Items, x.Read, x.Repaired, x.Unread})
	}
	return list, found
}

// known reports whether a layer's items were read before.
func (c *checker) known(p *caffepb.LayerParameter) bool {
	p = proto.CloneOf(p)
	p.Phase, p.Include, p.Exclude = nil, nil, nil
	text := p.String()
	if c.seen[text] {
		return true
	}
	c.seen[text] = true
	return false
}

// text is a line of the report.
func (d checkedItems) text() string {
	of := ""
	if uint64(d.Read) < d.Items {
		of = fmt.Sprintf(" of %d", d.Items)
	}
	return fmt.Sprintf("layer %q: %d%s items read, %d with damaged images, %d unreadable", d.Layer, d.Read, of, d.Repaired, d.Unread)
}
