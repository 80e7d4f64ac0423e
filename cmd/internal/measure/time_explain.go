package measure

import (
	"fmt"
	"io"
	"slices"

	"github.com/swcaffe/swcaffe/cpe/kernel/shape"
	"github.com/swcaffe/swcaffe/internal/app/cli"
	swnet "github.com/swcaffe/swcaffe/net"
)

// explain prints what every algorithm would cost in a layer of a net on this computer, with a tuner also what it takes.
func explain(e *cli.Env, n *swnet.Net, o *timeOptions) error {
	list, err := n.Explain(o.explain)
	if o.forwardOnly {
		list = slices.DeleteFunc(list, func(x swnet.Explanation) bool { return x.Direction != shape.Forward })
	}
	return printExplanations(e.Tables, list, err)
}

// printExplanations prints a table for each direction of each layer.
func printExplanations(w io.Writer, list []swnet.Explanation, err error) error {
	if err != nil {
		return cli.FlagError("explain", err)
	}
	for i, e := range list {
		if i > 0 {
			fmt.Fprintln(w)
		}
		if _, err := fmt.Fprintf(w, "%s, %v:\n%s", e.Layer, e.Direction, e.Explanation); err != nil {
			return err
		}
	}
	return nil
}
