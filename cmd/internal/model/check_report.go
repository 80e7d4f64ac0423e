package model

import (
	"fmt"
	"io"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// checkReport is the file of -json.
type checkReport struct {
	OK    bool          `json:"ok"`
	Files []checkedFile `json:"files"`
}

// checkedFile is the report of one file.
type checkedFile struct {
	File     string       `json:"file"`
	Kind     string       `json:"kind"` // solver or net; "" if the file cannot be read
	OK       bool         `json:"ok"`
	Nets     []checkedNet `json:"nets"`
	Warnings []string     `json:"warnings"`
	Faults   []fault      `json:"faults"`
}

// checkedNet is the summary of a net that could be built.
type checkedNet struct {
	Name    string `json:"name"`
	Phase   string `json:"phase"`
	Layers  int    `json:"layers"`
	Weights int    `json:"weights"` // the number of their values
	// Data are the data layers whose items were read.
	Data []checkedItems `json:"data"`
}

// fault is an error. Line and Column are 0 if it has no place in a file.
type fault struct {
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Message string `json:"message"`
}

// faults splits an error into its lines.
func faults(err error) (list []fault) {
	if err == nil {
		return []fault{}
	}
	for line := range strings.SplitSeq(err.Error(), "\n") {
		f := fault{Message: line}
		if x, ok := swproto.ExcerptOf(line); ok {
			f = fault{x.File, x.Pos.Line, x.Pos.Col, x.Message}
		}
		list = append(list, f)
	}
	return list
}

// print prints the report's nets and warnings. Faults are printed when the command ends.
func (c checkedFile) print(w io.Writer) {
	for _, warning := range c.Warnings {
		fmt.Fprintf(w, "%s: warning: %s\n", c.File, warning)
	}
	for _, n := range c.Nets {
		fmt.Fprintf(w, "%s: net %q, phase %s: %d layers, %d weights\n", c.File, n.Name, n.Phase, n.Layers, n.Weights)
		for _, d := range n.Data {
			fmt.Fprintf(w, "%s: %s\n", c.File, d.text())
		}
	}
	if c.OK {
		fmt.Fprintf(w, "%s: %s without faults\n", c.File, c.Kind)
	}
}
