package solver

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	swproto "github.com/swcaffe/swcaffe/proto"
)

// NewestState returns the state of the latest iteration that runs of a solver's file have written and that is whole: it and the weights that it
// names can be read. It is "" if there is none. tell gets a line for each later state that is not whole.
func NewestState(file *swproto.Solver, tell func(line string)) (string, error) {
	dir, base := filepath.Split(SnapshotPrefix(file))
	entries, err := os.ReadDir(filepath.Join(dir, "."))
	if os.IsNotExist(err) {
		return "", nil // a run that has written nothing
	}
	if err != nil {
		return "", err
	}
	type state struct {
		path string
		iter int
	}
	var found []state
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), base)
		rest = strings.TrimPrefix(rest, rescueMark)
		rest, marked := strings.CutPrefix(rest, snapshotMark)
		number, ending, _ := strings.Cut(rest, ".")
		iter, err := strconv.Atoi(number)
		if ours && marked && err == nil && (ending == "solverstate" || ending == "solverstate.h5") {
			found = append(found, state{dir + e.Name(), iter})
		}
	}
	slices.SortFunc(found, func(a, b state) int { return cmp.Or(b.iter-a.iter, cmp.Compare(a.path, b.path)) })
	for _, s := range found {
		err := checkState(s.path)
		if err == nil {
			return s.path, nil
		}
		tell(fmt.Sprintf("%v: it is left out", err))
	}
	return "", nil
}

// checkState returns an error unless a state is whole.
func checkState(path string) error {
	state, err := openState(path)
	if err != nil {
		return err
	}
	defer state.Close()
	if state.LearnedNet == nil {
		return nil
	}
	weights, err := openWeights(nil, learnedNet(path, state.GetLearnedNet()))
	if err != nil {
		return fmt.Errorf("%s: its weights: %w", path, err)
	}
	weights.Close()
	return nil
}

// SnapshotPrefix is snapshot_prefix, by default the solver's file without its ending, as in Caffe.
func SnapshotPrefix(file *swproto.Solver) string {
	if p := file.Param.SnapshotPrefix; p != nil {
		return *p
	}
	return strings.TrimSuffix(file.Path, filepath.Ext(file.Path))
}
