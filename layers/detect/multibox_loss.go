package detect

import (
	"errors"
	"fmt"

	"github.com/swcaffe/swcaffe/blob"
	"github.com/swcaffe/swcaffe/internal/base/box"
	"github.com/swcaffe/swcaffe/layers"
	"github.com/swcaffe/swcaffe/proto/caffepb"
)

func init() {
	layers.Register(layers.Type{
		Name: "MultiBoxLoss", Doc: "SSD's loss: codes of matched priors, and classes of these and of the hardest negatives",
		Couples: layers.Always(layers.Differs, "divides by the matches in the items of each worker, not in the whole batch"),
		Params:  []string{"multibox_loss_param", "loss_param"},
		New: func(p *caffepb.LayerParameter, d *layers.Device) layers.Layer {
			return &multiBoxLoss{Base: layers.Base{Param: p, Device: d}}
		},
		Bottoms: layers.Exactly(4), Tops: layers.Exactly(1), Loss: true, NoForceBackward: []int{2, 3},
	})
}

// multiBoxLoss is SSD's MultiBoxLoss layer (Liu et al. 2016, section 2.2). Bottoms are codes, scores, priors and objects. The loss is
// (conf + loc_weight * loc) / n. loc is the sum over the pairs of priors and objects of the distance between the predicted code and the
// object's. conf is the sum over these priors, and over the negatives that mining selects, of the loss of their scores. n is the number of
// pairs, or that of loss_param's normalization. As in SSD, an image without objects has no negatives, unless mining is off.
type multiBoxLoss struct {
	layers.Base
	p       *caffepb.MultiBoxLossParameter
	divisor func(pairs int) float64
	counts  [2]bool // which of loc and conf belong to the loss
	predictions
	objects objectList
	match   matching
	mine    mining
	decode  decoder
	decoded *blob.Blob // the predicted boxes, if they are needed
	conf    confidence
	loc     localization
	n       float64 // the divisor of the last Forward
}

func (l *multiBoxLoss) SetUp(_, _ []*blob.Blob) error {
	l.p = l.Param.GetMultiboxLossParam()
	if l.p == nil || l.p.NumClasses == nil || l.p.GetNumClasses() < 1 {
		return errors.New("num_classes must be set and positive")
	}
	l.classes, l.codes = int(l.p.GetNumClasses()), 1
	if !l.p.GetShareLocation() {
		l.codes = l.classes
	}
	if err := l.checkParam(); err != nil {
		return err
	}
	l.counts = [2]bool{true, true}
	copy(l.counts[:], l.Param.GetPropagateDown())
	l.divisor = l.normalizer()
	coder := box.Coder{Code: box.Code(l.p.GetCodeType()), Plain: l.p.GetEncodeVarianceInTarget()}
	l.objects = objectList{classes: l.classes, background: int(l.p.GetBackgroundLabelId()), agnostic: l.p.GetMapObjectToAgnostic(), easy: !l.p.GetUseDifficultGt(),
		byLabel: l.codes > 1 && !l.p.GetUsePriorForMatching()}
	l.match.m = box.Matcher{Extra: l.p.GetMatchType() == caffepb.MultiBoxLossParameter_PER_PREDICTION, Threshold: l.p.GetOverlapThreshold()}
	l.decode.Coder, l.loc.Coder = coder, coder
	l.loc.square, l.conf.logistic = l.p.GetLocLossType() == caffepb.MultiBoxLossParameter_L2, l.p.GetConfLossType() == caffepb.MultiBoxLossParameter_LOGISTIC
	l.loc.inside, l.loc.insidePriors = l.p.GetBpInside(), l.p.GetUsePriorForMatching()
	for _, b := range []**blob.Blob{&l.match.overlaps, &l.decoded, &l.conf.labels, &l.conf.losses, &l.loc.target, &l.loc.used, &l.loc.slope} {
		*b = l.Device.NewBlob(0)
	}
	return nil
}

func (l *multiBoxLoss) checkParam() error {
	p := l.p
	mining := p.GetMiningType() != caffepb.MultiBoxLossParameter_NONE
	switch {
	case p.DoNegMining != nil && p.GetDoNegMining() != mining:
		return fmt.Errorf("do_neg_mining: %v contradicts mining_type: %v", p.GetDoNegMining(), p.GetMiningType())
	case mining && l.codes > 1:
		return fmt.Errorf("mining_type: %v needs share_location: true", p.GetMiningType())
	case int(p.GetBackgroundLabelId()) >= l.classes && p.GetConfLossType() == caffepb.MultiBoxLossParameter_SOFTMAX:
		return fmt.Errorf("background_label_id must be less than num_classes for SOFTMAX: %d and %d", p.GetBackgroundLabelId(), l.classes)
	case p.GetMapObjectToAgnostic() && l.classes != 2:
		return fmt.Errorf("map_object_to_agnostic needs num_classes: 2, it is %d", l.classes)
	case p.GetMiningType() == caffepb.MultiBoxLossParameter_HARD_EXAMPLE && p.GetSampleSize() < 1:
		return fmt.Errorf("sample_size must be positive, it is %d", p.GetSampleSize())
	case !(p.GetNegPosRatio() >= 0):
		return fmt.Errorf("neg_pos_ratio must not be negative, it is %g", p.GetNegPosRatio())
	case p.GetNmsParam().GetNmsThreshold() < 0:
		return fmt.Errorf("nms_threshold must not be negative, it is %g", p.GetNmsParam().GetNmsThreshold())
	}
	return nil
}

// normalizer returns the divisor of the loss as a function of the number of pairs. It is at least 1.
func (l *multiBoxLoss) normalizer() func(pairs int) float64 {
	p := l.Param.GetLossParam()
	mode := p.GetNormalization()
	if p != nil && p.Normalization == nil && p.Normalize != nil && !p.GetNormalize() {
		mode = caffepb.LossParameter_BATCH_SIZE
	}
	return func(pairs int) float64 {
		n := 1
		switch mode {
		case caffepb.LossParameter_FULL:
			n = l.images * l.priors
		case caffepb.LossParameter_VALID:
			n = pairs
		case caffepb.LossParameter_BATCH_SIZE:
			n = l.images
		}
		return float64(max(1, n))
	}
}

func (l *multiBoxLoss) Reshape(bottom, top []*blob.Blob) error {
	if err := l.read(bottom); err != nil {
		return err
	}
	if err := checkRows(bottom[3], 3, objectValues, "objects"); err != nil {
		return err
	}
	top[0].Reshape()
	if l.predicts() {
		l.decoded.Reshape(l.images, l.priors, l.codes, 4)
		l.decode.reshape(&l.Base, l.predictions)
	}
	if err := l.match.reshape(&l.Base, l.predictions, bottom[3].Dim(2)); err != nil {
		return err
	}
	if err := l.conf.reshape(&l.Base, l.predictions); err != nil {
		return err
	}
	return l.loc.reshape(&l.Base, l.predictions)
}

// predicts reports whether the predicted boxes are needed.
func (l *multiBoxLoss) predicts() bool {
	return !l.p.GetUsePriorForMatching() || l.suppresses() && !l.p.GetUsePriorForNms()
}

// suppresses reports whether mining suppresses overlapping boxes.
func (l *multiBoxLoss) suppresses() bool {
	return l.p.NmsParam != nil && l.p.GetNmsParam().GetNmsThreshold() > 0 && l.p.GetMiningType() != caffepb.MultiBoxLossParameter_NONE
}

func (l *multiBoxLoss) Forward(bottom, top []*blob.Blob) error {
	codes, scores, prior, values := bottom[0].Data(), bottom[1].Data(), bottom[2].Data(), l.Device.Machine.Values()
	if values {
		if err := l.objects.read(bottom[3].Data(), l.images); err != nil {
			return err
		}
	}
	var decoded []float32
	if l.predicts() {
		decoded = l.decoded.Data()
		if err := l.decode.run(decoded, codes, prior); err != nil {
			return err
		}
	}
	boxes := boxList{prior, 1, false}
	if !l.p.GetUsePriorForMatching() {
		boxes = boxList{decoded, l.codes, true}
	}
	if err := l.match.overlap(&l.objects, boxes); err != nil {
		return err
	}
	if values {
		l.pair(prior, boxes)
	}
	if err := l.conf.run(scores); err != nil {
		return err
	}
	if values {
		l.loc.encode(l.match.pairs, l.objects.list, prior, codes, decoded)
		if l.p.GetMiningType() != caffepb.MultiBoxLossParameter_NONE {
			l.selectExamples(prior, codes, decoded)
		}
	}
	loc, err := l.loc.run(codes)
	if err != nil || !values {
		return err
	}
	l.n = l.divisor(len(l.match.pairs))
	var loss float64
	if l.counts[0] {
		loss += float64(l.p.GetLocWeight()) * loc / l.n
	}
	if l.counts[1] {
		loss += l.conf.total() / l.n
	}
	top[0].Data()[0] = float32(loss)
	return nil
}

// Traits implements Planned. Backward reads the scores, and what Forward keeps.
func (l *multiBoxLoss) Traits() layers.Traits {
	return layers.Traits{Unread: layers.Unread{Bottoms: layers.AllBottomsBut(1), Tops: true}}
}

func (l *multiBoxLoss) Backward(top []*blob.Blob, propagateDown []bool, bottom []*blob.Blob) error {
	if propagateDown[2] || propagateDown[3] {
		return errors.New("the layer cannot backpropagate to prior boxes (bottom 2) or objects (bottom 3)")
	}
	scale := float64(top[0].Diff()[0]) / max(1, l.n)
	if propagateDown[0] {
		if err := l.loc.backward(bottom[0].Diff(), scale*float64(l.p.GetLocWeight())); err != nil {
			return err
		}
	}
	if propagateDown[1] {
		return l.conf.backward(bottom[1].Diff(), bottom[1].Data(), scale)
	}
	return nil
}
