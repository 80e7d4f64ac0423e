package python

import (
	"encoding/json"
	"fmt"

	"github.com/swcaffe/swcaffe/proto/caffepb"
)

// answer is the result of Call.
type answer struct {
	Result any    `json:"result"`
	Fault  *Fault `json:"fault,omitempty"`
}

// Call runs a function by name. Arguments and results are JSON.
func Call(name string, arguments []byte) []byte {
	result, err := dispatch(name, arguments)
	a := answer{Result: result}
	if err != nil {
		a = answer{Fault: faultOf(err)}
	}
	text, err := json.Marshal(a)
	if err != nil {
		text, _ = json.Marshal(answer{Fault: faultOf(fmt.Errorf("%s: %w", name, err))})
	}
	return text
}

// function runs one of the functions that Call knows.
type function func(arguments []byte) (any, error)

// dispatch finds and runs a function.
func dispatch(name string, arguments []byte) (result any, err error) {
	defer guard(&err)
	f, ok := functions[name]
	if !ok {
		return nil, fmt.Errorf("there is no function %q", name)
	}
	return f(arguments)
}

// with makes a function whose arguments are a value of type A.
func with[A, R any](f func(A) (R, error)) function {
	return func(arguments []byte) (any, error) {
		var a A
		if err := json.Unmarshal(arguments, &a); err != nil {
			return nil, err
		}
		return f(a)
	}
}

// on makes a function that begins with the handle of an object of type T.
func on[T object](f func(T, arguments) (any, error)) function {
	return with(func(a arguments) (any, error) {
		o, err := find[T](a.Handle)
		if err != nil {
			return nil, err
		}
		return f(o, a)
	})
}

// arguments are those of the functions of nets and solvers.
type arguments struct {
	Handle Handle  `json:"handle"`
	Other  Handle  `json:"other"`
	File   string  `json:"file"`
	Diffs  bool    `json:"diffs"`
	Count  int     `json:"count"`
	Key    int64   `json:"key"`
	Set    setting `json:"set"`
}

var functions map[string]function

func init() {
	functions = map[string]function{
		"environment": with(func(v map[string]string) (any, error) { return nil, setEnvironment(v) }),
		"seed":        with(func(seed int64) (any, error) { setSeed(uint64(seed)); return nil, nil }),
		"precision":   with(func(name string) (any, error) { return nil, setPrecision(name) }),
		"types":       with(func(struct{}) (any, error) { return typeNames(), nil }),
		"init_log":    with(func(flags map[string]string) (any, error) { initLog(flags); return nil, nil }),
		"log":         with(func(text string) (any, error) { logger().Info(text); return nil, nil }),
		"counts":      with(func(struct{}) (any, error) { return map[string]int{"handles": Held(), "memory": Watched()}, nil }),
		"phases":      with(func(struct{}) (any, error) { return caffepb.Phase_value, nil }),

		"net":        with(openNet),
		"close":      on(closeNet),
		"reshape":    on(func(n *Net, _ arguments) (any, error) { return nil, n.reshape() }),
		"hooks":      on(func(n *Net, a arguments) (any, error) { return nil, n.callHooks(a.Key) }),
		"clear":      on(func(n *Net, _ arguments) (any, error) { return nil, n.clearParamDiffs() }),
		"copy_from":  on(func(n *Net, a arguments) (any, error) { return nil, n.copyFrom(a.File) }),
		"load_hdf5":  on(func(n *Net, a arguments) (any, error) { return nil, n.loadHDF5(a.File) }),
		"save":       on(func(n *Net, a arguments) (any, error) { return nil, n.save(a.File) }),
		"save_hdf5":  on(func(n *Net, a arguments) (any, error) { return nil, n.saveHDF5(a.File, a.Diffs) }),
		"times":      on(func(n *Net, a arguments) (any, error) { return n.times(a.Count) }),
		"spent":      on(func(n *Net, _ arguments) (any, error) { return n.spentTimes() }),
		"most_found": on(func(n *Net, _ arguments) (any, error) { return n.mostFound(), nil }),
		"add_blob":   with(addBlob),
		"share_with": on(shareWith),

		"solver":   with(openSolver),
		"solve":    on(func(v *Solver, a arguments) (any, error) { return nil, v.solve(a.File) }),
		"snapshot": on(func(v *Solver, _ arguments) (any, error) { return nil, v.look(v.solver.Snapshot) }),
		"restore": on(func(v *Solver, a arguments) (any, error) {
			return nil, v.change(func() error { return v.restore(a.File) })
		}),
		"update": on(func(v *Solver, _ arguments) (any, error) { return nil, v.change(v.solver.ApplyUpdate) }),
		"state":  on(func(v *Solver, _ arguments) (any, error) { return v.state(), nil }),
		"set":    on(func(v *Solver, a arguments) (any, error) { return nil, v.set(a.Set) }),
		"callbacks": on(func(v *Solver, a arguments) (any, error) {
			return nil, v.change(func() error { return v.watch.call(a.Key) })
		}),
	}
}

func shareWith(n *Net, a arguments) (any, error) {
	other, err := find[*Net](a.Other)
	if err != nil {
		return nil, err
	}
	return nil, n.shareWith(other)
}
