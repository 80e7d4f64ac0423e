package recurrent

import (
	"errors"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/layers"
)

func (l *recurrent) Forward(bottom, top []*blob.Blob) error {
	for i, s := range l.hidden {
		if l.expose {
			copy(l.at(s, 0, l.d), bottom[len(bottom)-l.states+i].Data())
		} else {
			copy(l.at(s, 0, l.d), l.at(s, l.t, l.d))
		}
	}
	if err := l.spread.run(bottom[1].Data(), l.cont); err != nil {
		return err
	}
	if err := l.input.run(bottom[0].Data(), l.Weights[0].Data(), l.Weights[1].Data(), l.a); err != nil {
		return err
	}
	if l.hasStatic {
		if err := l.fixedIn.run(bottom[2].Data(), l.Weights[2].Data(), nil, l.fixed); err != nil {
			return err
		}
	}
	wh, rows := l.Weights[l.hiddenWeight()].Data(), l.gates*l.d
	for t := range l.t {
		a, prev := l.at(l.a, t, rows), l.at(l.prev, t, l.d)
		if err := l.mask.run(l.at(l.cont, t, l.d), l.at(l.hidden[0], t, l.d), nil, prev); err != nil {
			return err
		}
		if l.hasStatic {
			if err := l.addFixed.Run(a, l.fixed); err != nil {
				return err
			}
		}
		if err := l.step.run(prev, wh, nil, a); err != nil {
			return err
		}
		if err := l.cell.step(t); err != nil {
			return err
		}
	}
	for i, b := range top[1:] {
		copy(b.Data(), l.at(l.hidden[i], l.t, l.d))
	}
	return l.cell.output(top[0])
}

// Traits implements Planned. Forward keeps the states; the weights' gradients need the inputs.
func (l *recurrent) Traits() layers.Traits {
	var read []int
	if l.ParamGrad(0) {
		read = append(read, 0)
	}
	if l.hasStatic && l.ParamGrad(2) {
		read = append(read, 2)
	}
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(read...), Tops: !l.readsTop}}
}

func (l *recurrent) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[1] {
		return errors.New("the layer cannot backpropagate to sequence indicators (bottom 1)")
	}
	dout, err := l.cell.outputBack(top[0])
	if err != nil {
		return err
	}
	l.cell.begin()
	wh, rows := l.Weights[l.hiddenWeight()].Data(), l.gates*l.d
	dh := l.at(dout, l.t-1, l.d)
	for t := l.t - 1; t >= 0; t-- {
		if err := l.cell.stepBack(t, dh); err != nil {
			return err
		}
		if t == 0 {
			break
		}
		if err := l.stepGrad.run(l.at(l.da, t, rows), wh, nil, l.dprev); err != nil {
			return err
		}
		dh = l.dh
		if err := l.carry.run(l.at(l.cont, t, l.d), l.dprev, l.at(dout, t-1, l.d), dh); err != nil {
			return err
		}
	}
	if err := l.weightGrads(bottom); err != nil {
		return err
	}
	return l.bottomGrads(propagateDown, bottom)
}

// weightGrads adds to the gradients of the weights. Afterwards fixed holds the sum of da over time.
func (l *recurrent) weightGrads(bottom []*blob.Blob) error {
	if l.ParamGrad(0) {
		if err := l.dwx.addTo(l.Weights[0], l.da, bottom[0].Data()); err != nil {
			return err
		}
	}
	if l.ParamGrad(1) {
		if err := l.bias.Run(l.Weights[1].Diff(), l.da); err != nil {
			return err
		}
	}
	if i := l.hiddenWeight(); l.ParamGrad(i) {
		if err := l.dwh.addTo(l.Weights[i], l.da, l.prev); err != nil {
			return err
		}
	}
	if !l.hasStatic {
		return nil
	}
	clear(l.fixed)
	for t := range l.t {
		if err := l.addFixed.Run(l.fixed, l.at(l.da, t, l.gates*l.d)); err != nil {
			return err
		}
	}
	if !l.ParamGrad(2) {
		return nil
	}
	return l.dwFix.addTo(l.Weights[2], l.fixed, bottom[2].Data())
}

// bottomGrads computes the gradients of x and of the static input. Those of the initial states are zero.
func (l *recurrent) bottomGrads(propagateDown []bool, bottom []*blob.Blob) error {
	for i, b := range bottom {
		var err error
		switch {
		case !propagateDown[i]:
		case i == 0:
			err = l.inputGrad.run(l.da, l.Weights[0].Data(), nil, b.Diff())
		case i == 2 && l.hasStatic:
			err = l.dFixed.run(l.fixed, l.Weights[2].Data(), nil, b.Diff())
		default:
			b.ZeroDiff()
		}
		if err != nil {
			return err
		}
	}
	return nil
}
