package infer

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/swcaffe/swcaffe/internal/app/testreport"
	"github.com/swcaffe/swcaffe/internal/base/caffelog"
	swnet "github.com/swcaffe/swcaffe/net"
	"github.com/swcaffe/swcaffe/proto/caffepb"
	"google.golang.org/protobuf/proto"
)

// columns are the names of the report's columns.
var quantizeColumns = []string{"layer", "type", "input scale", "zero point", "SNR dB", "saturated", "multiply-adds"}

// rows returns the report's rows.
func (j *quantizeJob) rows() (rows [][]string) {
	for _, l := range j.result.Layers {
		row := []string{l.Name, l.Type, fmt.Sprintf("%.5g", l.Scale), fmt.Sprint(l.Zero), fmt.Sprintf("%.1f", l.SNR), fmt.Sprintf("%.3f %%", 100*l.Saturated), fmt.Sprintf("%.1f %%", 100*l.Share)}
		if l.Kept != "" {
			row = []string{l.Name, l.Type, "fp32: " + l.Kept, "", "", "", row[6]}
		}
		rows = append(rows, row)
	}
	return rows
}

// report prints the table, runs both nets, prints their outputs, and writes the page.
func (j *quantizeJob) report(build func(*caffepb.NetParameter, bool) (*swnet.Net, error), exact *caffepb.NetParameter, load func(*swnet.Net) error) error {
	w := j.env.Tables
	j.print(w)
	before := proto.CloneOf(exact)
	before.Precision = caffepb.Precision_FP32.Enum()
	outputs, err := j.compare(build, before, load)
	if err != nil {
		return err
	}
	page := &testreport.Table{
		Title: "Quantisation of " + j.options.model, Notes: []string{"Weights: " + j.options.weights, fmt.Sprintf("%d batches, method %s", j.options.iterations, j.options.method)},
		Caption: "Layers that can be quantised. SNR: signal and noise of a layer's outputs, if its inputs are those of the net in fp32.", Head: quantizeColumns, Rows: j.rows(),
	}
	for _, o := range outputs {
		fmt.Fprintf(w, "%s: %s in fp32, %s in int8\n", o.name, caffelog.Figure(o.exact), caffelog.Figure(o.rounded))
		page.Figures = append(page.Figures, testreport.Row{Name: o.name + ", fp32", Value: caffelog.Figure(o.exact)}, testreport.Row{Name: o.name + ", int8", Value: caffelog.Figure(o.rounded)})
	}
	fmt.Fprintf(w, "Written: %s, %s, %s\n", j.options.path(".prototxt"), j.options.path(".caffemodel"), filepath.Join(j.options.folder, reportFile))
	return j.env.CreateFile(filepath.Join(j.options.folder, reportFile), page.Write)
}

// print prints the table.
func (j *quantizeJob) print(w io.Writer) {
	const line = "%-28s %-14s %12s %10s %7s %10s %13s\n"
	put := func(row []string) {
		fmt.Fprintf(w, line, row[0], row[1], row[2], row[3], row[4], row[5], row[6])
	}
	put(quantizeColumns)
	for _, row := range j.rows() {
		put(row)
	}
	if n := len(j.result.Folded); n > 0 {
		fmt.Fprintf(w, "%d layers are multiplied into the weights before them\n", n)
	}
}

// compared is an output of both nets: its mean over all batches.
type compared struct {
	name           string
	exact, rounded float64
}

// compare runs both nets on the data of the net's own layers, if it has any, and returns outputs of one value, such as accuracies.
func (j *quantizeJob) compare(build func(*caffepb.NetParameter, bool) (*swnet.Net, error), exact *caffepb.NetParameter, load func(*swnet.Net) error) (list []compared, err error) {
	before, err := j.means(build, exact, load)
	if err != nil || len(before) == 0 {
		return nil, err
	}
	after, err := j.means(build, j.result.Net, func(n *swnet.Net) error { return n.CopyWeights(j.result.Weights) })
	for i := range after {
		list = append(list, compared{before[i].name, before[i].value, after[i].value})
	}
	return list, err
}

// means runs a net and returns the means of its outputs of one value; none for a net that reads no data of its own.
func (j *quantizeJob) means(build func(*caffepb.NetParameter, bool) (*swnet.Net, error), p *caffepb.NetParameter, load func(*swnet.Net) error) (list []mean, err error) {
	n, err := build(p, true)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	for i := range n.NumLayers() {
		if n.LayerType(i) == "Input" {
			return nil, nil
		}
	}
	if err := load(n); err != nil {
		return nil, err
	}
	for _, out := range n.Outputs() {
		if out.Blob.Count() == 1 {
			list = append(list, mean{name: out.Name})
		}
	}
	for range j.options.iterations {
		if _, err := n.Forward(); err != nil {
			return nil, err
		}
		k := 0
		for _, out := range n.Outputs() {
			if out.Blob.Count() == 1 {
				list[k].value += float64(out.Blob.Data()[0]) / float64(j.options.iterations)
				k++
			}
		}
	}
	return list, nil
}
