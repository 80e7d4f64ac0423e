package measure

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/swcaffe/swcaffe/modeltime/trust"
)

// columns returns the column headings, for programs and for people.
func (r *bandwidthReport) columns() (names, headings []string) {
	if len(r.Results) > 0 && r.Results[0].RMA != nil {
		return []string{"bytes", "near_one_gbytes_per_s", "near_many_gbytes_per_s", "far_one_gbytes_per_s", "far_many_gbytes_per_s"},
			[]string{"bytes", "near one", "near many", "far one", "far many"}
	}
	if r.Machine != "" {
		return []string{"cpes", "bytes", "get_gbytes_per_s", "put_gbytes_per_s", "blocks_get_gbytes_per_s", "blocks_put_gbytes_per_s"},
			[]string{"CPEs", "bytes", "get", "put", "blocks get", "blocks put"}
	}
	return []string{"bytes", "one_way_gbytes_per_s", "both_ways_gbytes_per_s", "across_one_way_gbytes_per_s", "across_both_ways_gbytes_per_s"},
		[]string{"bytes", "one way", "both ways", "across", "across both"}
}

// cells returns the cells of a row: its numbers, then its figures, nil where there is none, and their ranges.
func (r *bandwidthRow) cells() (numbers []int, figures []*float64, ranges []trust.Range) {
	if d := r.DMA; d != nil {
		return []int{r.CPEs, r.Bytes}, []*float64{&d.Get, &d.Put, d.BlocksGet, d.BlocksPut},
			[]trust.Range{d.GetRange, d.PutRange, d.BlocksGetRange, d.BlocksPutRange}
	}
	if m := r.RMA; m != nil {
		return []int{r.Bytes}, []*float64{&m.NearOne, &m.NearMany, &m.FarOne, &m.FarMany}, make([]trust.Range, 4)
	}
	l := r.Links
	return []int{r.Bytes}, []*float64{l.One, l.Both, l.AcrossOne, l.AcrossBoth}, make([]trust.Range, 4)
}

// rangeSpaces returns the space that each figure's ranges need.
func (r *bandwidthReport) rangeSpaces() []int {
	var spaces []int
	for i := range r.Results {
		_, _, ranges := r.Results[i].cells()
		for k, one := range ranges {
			if i == 0 {
				spaces = append(spaces, 0)
			}
			spaces[k] = widest(spaces[k], one)
		}
	}
	return spaces
}

func printBandwidth(w io.Writer, r *bandwidthReport, title string) {
	fmt.Fprintf(w, "%s\n\n", title)
	_, headings := r.columns()
	spaces := r.rangeSpaces()
	line := ""
	for i, h := range headings {
		line += fmt.Sprintf("%12s", h)
		if k := i - len(headings) + len(spaces); k >= 0 {
			line += fmt.Sprintf("%-*s", spaces[k], rangeHeading(spaces[k]))
		}
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
	for i := range r.Results {
		numbers, figures, ranges := r.Results[i].cells()
		line = ""
		for _, n := range numbers {
			line += fmt.Sprintf("%12d", n)
		}
		for k, f := range figures {
			if f == nil {
				line += fmt.Sprintf("%12s%*s", "-", spaces[k], "")
			} else {
				line += fmt.Sprintf("%12.4g%-*v", *f, spaces[k], ranges[k])
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

func bandwidthCSV(r *bandwidthReport) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	names, _ := r.columns()
	w.Write(names)
	for i := range r.Results {
		var line []string
		numbers, figures, _ := r.Results[i].cells()
		for _, n := range numbers {
			line = append(line, strconv.Itoa(n))
		}
		for _, f := range figures {
			cell := ""
			if f != nil {
				cell = strconv.FormatFloat(*f, 'g', -1, 64)
			}
			line = append(line, cell)
		}
		w.Write(line)
	}
	w.Flush()
	return b.Bytes()
}
