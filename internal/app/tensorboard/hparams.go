package tensorboard

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/swcaffe/swcaffe/proto/caffepb"
	"github.com/swcaffe/swcaffe/solver/events"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Field numbers of SummaryMetadata and its PluginData, of TensorProto and its shape, of google.protobuf.Value, and of the messages of
// TensorBoard's plugin hparams: HParamsPluginData, Experiment, HParamInfo, MetricInfo, MetricName, SessionStartInfo and SessionEndInfo.
const (
	metadataPlugin, metadataClass = 1, 4
	pluginName, pluginContent     = 1, 2

	tensorType, tensorShape, tensorFloats = 1, 2, 5
	shapeDim, dimSize                     = 2, 1

	protoNumber, protoText = 2, 3

	dataExperiment, dataStart, dataEnd = 2, 3, 4

	experimentTime, experimentParameters, experimentMetrics = 3, 4, 5

	parameterName, parameterType = 1, 4
	metricName, metricDisplay    = 1, 2
	nameGroup, nameTag           = 1, 2

	startParameters, startTime = 1, 5
	endStatus, endTime         = 1, 2
)

// Values of enumerations: the class of the data, the types of a parameter and of a tensor, and how a session ended.
const (
	classTensor                = 2
	typeText, typeNumber       = 1, 3
	tensorFloat                = 1
	endedSuccess, endedFailure = 1, 2
)

// parameter is a hyperparameter: a number, or a text.
type parameter struct {
	name, text string
	number     float64
	isNumber   bool
}

// metric is a curve of one of a run's writers.
type metric struct{ group, tag string }

// leftOut are fields of a solver that are no hyperparameters: where files are, and when something is shown.
var leftOut = map[protoreflect.Name]bool{
	"net": true, "train_net": true, "test_net": true, "snapshot_prefix": true, "display": true, "snapshot": true, "test_iter": true, "test_interval": true, "weights": true,
	"debug_info": true, "snapshot_after_train": true, "snapshot_format": true, "snapshot_diff": true, "solver_mode": true, "device_id": true, "random_seed": true,
	"test_initialization": true, "test_compute_loss": true,
}

// parametersOf lists a run's hyperparameters: the solver's single fields, the items of an iteration, the workers and the seed.
func parametersOf(s *events.Started, solver *caffepb.SolverParameter) []parameter {
	number := func(name string, v float64) parameter { return parameter{name: name, number: v, isNumber: true} }
	list := []parameter{{name: "net_name", text: s.Net}, number("items", float64(s.Items)), number("workers", float64(s.Workers)), number("seed", float64(s.Seed))}
	m := solver.ProtoReflect()
	for i := range m.Descriptor().Fields().Len() {
		f := m.Descriptor().Fields().Get(i)
		if f.Message() != nil || leftOut[f.Name()] || !m.Has(f) {
			continue
		}
		p := parameter{name: string(f.Name())}
		switch v := m.Get(f); {
		case f.IsList():
			var texts []string
			for k := range v.List().Len() {
				texts = append(texts, text(f, v.List().Get(k)))
			}
			p.text = strings.Join(texts, ", ")
		case f.Enum() != nil || f.Kind() == protoreflect.StringKind || f.Kind() == protoreflect.BoolKind:
			p.text = text(f, v)
		default:
			if _, err := fmt.Sscan(text(f, v), &p.number); err != nil {
				p.text = text(f, v)
				break
			}
			p.isNumber = true
		}
		list = append(list, p)
	}
	return list
}

// experimentEvent names the hyperparameters and the metrics.
func experimentEvent(at time.Time, list []parameter, metrics []metric) []byte {
	inner := appendDouble(nil, experimentTime, seconds(at))
	for _, p := range list {
		kind := typeText
		if p.isNumber {
			kind = typeNumber
		}
		inner = appendBytes(inner, experimentParameters, appendInt(appendBytes(nil, parameterName, []byte(p.name)), parameterType, kind))
	}
	for _, m := range metrics {
		name := appendBytes(appendBytes(nil, nameGroup, []byte(m.group)), nameTag, []byte(m.tag))
		inner = appendBytes(inner, experimentMetrics, appendBytes(appendBytes(nil, metricName, name), metricDisplay, []byte(m.group+"/"+m.tag)))
	}
	return pluginEvent(at, "_hparams_/experiment", dataExperiment, inner)
}

// sessionEvent has the values of the hyperparameters.
func sessionEvent(at time.Time, list []parameter) []byte {
	var inner []byte
	for _, p := range list {
		var value []byte
		if p.isNumber {
			value = appendDouble(nil, protoNumber, p.number)
		} else {
			value = appendBytes(nil, protoText, []byte(p.text))
		}
		inner = appendEntry(inner, startParameters, p.name, value)
	}
	return pluginEvent(at, "_hparams_/session_start_info", dataStart, appendDouble(inner, startTime, seconds(at)))
}

// endEvent says how the session ended.
func endEvent(at time.Time, status int) []byte {
	return pluginEvent(at, "_hparams_/session_end_info", dataEnd, appendDouble(appendInt(nil, endStatus, status), endTime, seconds(at)))
}

// pluginEvent has a message of the plugin hparams. Its tensor has no meaning: readers skip values without one.
func pluginEvent(at time.Time, tag string, field protowire.Number, message []byte) []byte {
	plugin := appendBytes(appendBytes(nil, pluginName, []byte("hparams")), pluginContent, appendBytes(nil, field, message))
	metadata := appendInt(appendBytes(nil, metadataPlugin, plugin), metadataClass, classTensor)
	tensor := appendInt(nil, tensorType, tensorFloat)
	tensor = appendBytes(tensor, tensorShape, appendBytes(nil, shapeDim, appendInt(nil, dimSize, 1)))
	tensor = appendBytes(tensor, tensorFloats, protowire.AppendFixed32(nil, math.Float32bits(0)))
	value := appendBytes(appendBytes(appendBytes(nil, valueTag, []byte(tag)), valueMetadata, metadata), valueTensor, tensor)
	return appendBytes(head(at, 0), eventSummary, appendBytes(nil, summaryValue, value))
}

func seconds(at time.Time) float64 { return float64(at.UnixMicro()) / 1e6 }
