package solver

import (
	"errors"
	"io/fs"
	"testing"
)

// TestErrorsNameTheLine: an error about a solver's field names the field's line. An error about a missing field names the file.
func TestErrorsNameTheLine(t *testing.T) {
	const good = "net_param { layer { name: \"d\" type: \"DummyData\" top: \"d\" dummy_data_param { shape { dim: 1 } } } }\nsnapshot_after_train: false\n"
	for _, tt := range []struct{ text, want string }{
		{good + "base_lr: 1\nlr_policy: \"fixd\"", `s.prototxt:4: unknown learning rate policy "fixd", did you mean "fixed"? (known policies: exp, fixed, inv, multistep, poly, sigmoid, step)`},
		{good + "base_lr: 1\nlr_policy: \"step\"", `s.prototxt:4: lr_policy "step": stepsize must be positive, it is 0`},
		{good + "lr_policy: \"fixed\"\niter_size: 0", "s.prototxt:4: iter_size must be at least 1, it is 0"},
		{good + "lr_policy: \"fixed\"\n\ntype: \"Sdg\"", `s.prototxt:5: unknown solver type "Sdg", did you mean "SGD"? (known solvers: AdaDelta, AdaGrad, Adam, Nesterov, RMSProp, SGD)`},
		{good + "lr_policy: \"fixed\"\nweight_decay: 1\nregularization_type: \"L3\"", `s.prototxt:5: unknown regularization type: "L3" (L1 or L2)`},
		{good + "lr_policy: \"fixed\"\nweights: \"none.caffemodel\"", "s.prototxt:4: weights: open none.caffemodel: no such file or directory"},
		{"snapshot_after_train: false lr_policy: \"fixed\"\nnet: \"none.prototxt\"", "s.prototxt:2: net: open none.prototxt: no such file or directory"},
		{good + "lr_policy: \"fixed\"\ntest_iter: 1", "s.prototxt:4: test_interval must be positive where there are test nets: it is 0"},
		{good + "lr_policy: \"fixed\" snapshot: 1\nsnapshot_prefix: \"none/s\"", `s.prototxt:4: cannot write to snapshot prefix "none/s": make sure that the directory exists and is writeable (cannot write none/s_iter_0.solverstate.h5: open none/s_iter_0.solverstate.h5: no such file or directory)`},
	} {
		_, err := newSolver(t, "", tt.text)
		if err == nil || err.Error() != tt.want {
			t.Errorf("%v\nwant %s", err, tt.want)
		}
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v hides that there is no such file", err)
		}
	}
}
