package python

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"unsafe"
)

// TestTwoThreads opens, runs and releases nets from two goroutines at once, which look at blobs, keep some views longer than the nets, and let
// them go at random. The race detector watches in scripts/check.sh. Nothing is held at the end, and no view loses its values.
func TestTwoThreads(t *testing.T) {
	file := filepath.Join(t.TempDir(), "net.prototxt")
	write(t, file, `
		layer { name: "x" type: "DummyData" top: "x" dummy_data_param { shape { dim: 3 dim: 4 } data_filler { type: "gaussian" } } }
		layer { name: "y" type: "InnerProduct" bottom: "x" top: "y" inner_product_param { num_output: 5 weight_filler { type: "xavier" } } }`)
	held, watched := Held(), Watched()
	var threads sync.WaitGroup
	for seed := range uint64(2) {
		threads.Go(func() { openAndDrop(t, file, rand.New(rand.NewPCG(seed, 1))) })
	}
	threads.Wait()
	if Held() != held || Watched() != watched {
		t.Errorf("%d handles and %d views are left, before there were %d and %d", Held(), Watched(), held, watched)
	}
}

// view is a view, and the value that was written to all of it.
type view struct {
	address uintptr
	values  []float32
	value   float32
}

func openAndDrop(t *testing.T, file string, draw *rand.Rand) {
	var views []view
	drop := func(i int) {
		v := views[i]
		if slices.ContainsFunc(v.values, func(x float32) bool { return x != v.value }) {
			t.Errorf("a view has the values %v, want %v", v.values, v.value)
		}
		Forget(v.address)
		views = slices.Delete(views, i, i+1)
	}
	for i := range 100 {
		n, blobs, err := opened(file)
		if err != nil {
			t.Error(err)
			return
		}
		if _, err := Forward(n, 0, 1); err != nil {
			t.Error(err)
		}
		b := blobs[draw.IntN(len(blobs))]
		if draw.IntN(3) == 0 {
			if err := Reshape(b, []int{3, 4 + draw.IntN(2)}); err != nil {
				t.Error(err)
			}
		}
		v, err := Look(b, draw.IntN(2) == 0)
		if err != nil {
			t.Error(err)
			return
		}
		count := v.Shape[0] * v.Shape[1]
		one := view{v.Address, unsafe.Slice(*(**float32)(unsafe.Pointer(&v.Address)), count), float32(i)}
		for k := range one.values {
			one.values[k] = one.value
		}
		views = append(views, one)
		for _, h := range append(blobs, n) {
			Release(h)
		}
		for range draw.IntN(3) {
			if len(views) > 0 {
				drop(draw.IntN(len(views)))
			}
		}
	}
	for len(views) > 0 {
		drop(0)
	}
}

// opened opens a net and returns its handle and those of its blobs.
func opened(file string) (n Handle, blobs []Handle, err error) {
	request, err := json.Marshal(netRequest{File: file, Phase: 1})
	if err != nil {
		return 0, nil, err
	}
	var reply struct {
		Result netReply
		Fault  *Fault
	}
	if err := json.Unmarshal(Call("net", request), &reply); err != nil {
		return 0, nil, err
	}
	if reply.Fault != nil {
		return 0, nil, reply.Fault
	}
	for _, l := range reply.Result.Layers {
		for _, h := range l.Blobs {
			Release(h)
		}
	}
	if len(reply.Result.Blobs) != 2 {
		return 0, nil, fmt.Errorf("the net has blobs %v", reply.Result.Names)
	}
	return reply.Result.Handle, reply.Result.Blobs, nil
}
