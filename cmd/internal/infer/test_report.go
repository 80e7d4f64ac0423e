package infer

import (
	"io"
	"os"
	"path/filepath"

	"github.com/swcaffe/swcaffe/internal/app/cli"
	"github.com/swcaffe/swcaffe/internal/app/testreport"
	swnet "github.com/swcaffe/swcaffe/net"
	swproto "github.com/swcaffe/swcaffe/proto"
)

// testReport is the page that test writes with -report.
type testReport struct {
	folder, labels          string
	images                  int
	version, model, weights string

	page *testreport.Report // nil: none was asked for
}

// Files in the folder: the page, and the table of misclassified items.
const (
	reportFile   = "index.html"
	mistakesFile = "mistakes.csv"
)

func (r *testReport) path() string { return filepath.Join(r.folder, reportFile) }

// check validates the flags and makes the folder.
func (r *testReport) check(e *cli.Env) error {
	switch {
	case r.folder == "" && r.labels != "":
		return cli.Usagef("-labels %s: it names the classes of a -report", r.labels)
	case r.folder == "":
		return nil
	case r.images < 0:
		return cli.Usagef("-report_images %d: cannot be negative", r.images)
	case e.UnderMPI():
		return cli.Usagef("-report %s: a report is written by one process; run it without mpirun", r.folder)
	}
	if err := os.MkdirAll(r.folder, 0o777); err != nil {
		return cli.FlagError("report", err)
	}
	if err := swproto.CheckWritable(r.path()); err != nil {
		return cli.FlagError("report", err)
	}
	return nil
}

// begin prepares the page for a net.
func (r *testReport) begin(n *swnet.Net) (err error) {
	if r.folder == "" {
		return nil
	}
	var names []string
	if r.labels != "" {
		if names, err = testreport.ReadLabels(r.labels); err != nil {
			return cli.FlagError("labels", err)
		}
	}
	r.page, err = testreport.New(n, testreport.Options{Model: r.model, Weights: r.weights, Labels: names, Worst: r.images, Version: r.version})
	if err != nil {
		return cli.FlagError("report", err)
	}
	return nil
}

// add adds the batch that the net has just run.
func (r *testReport) add() {
	if r.page != nil {
		r.page.Add()
	}
}

// write writes the page, with the means of the outputs.
func (r *testReport) write(e *cli.Env, s *scores) error {
	if r.page == nil {
		return nil
	}
	if err := e.CreateFile(filepath.Join(r.folder, mistakesFile), r.page.WriteMistakes); err != nil {
		return err
	}
	return e.CreateFile(r.path(), func(w io.Writer) error { return r.page.Write(w, s.figures()) })
}
