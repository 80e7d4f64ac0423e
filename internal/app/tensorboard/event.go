package tensorboard

import (
	"math"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
)

// Value is a figure of a step: a Scalar, a Histogram or an Image, with its tag.
type Value interface {
	// appendTo appends the fields of a Summary.Value.
	appendTo(b []byte) []byte
}

// Scalar is a point of a curve.
type Scalar struct {
	Tag   string
	Value float64
}

// Histogram counts values in buckets. Bucket i has those up to Limits[i].
type Histogram struct {
	Tag                          string
	Min, Max, Num, Sum, SumOfSqs float64
	Limits, Counts               []float64
}

// Image is a PNG.
type Image struct {
	Tag           string
	Width, Height int
	PNG           []byte
}

// Field numbers of tensorflow.Event, Summary, Summary.Value, HistogramProto, Summary.Image and SessionLog.
const (
	eventTime, eventStep, eventVersion, eventGraph, eventSummary, eventSession = 1, 2, 3, 4, 5, 7

	summaryValue = 1

	valueTag, valueScalar, valueImage, valueHistogram, valueTensor, valueMetadata = 1, 2, 4, 5, 8, 9

	histogramMin, histogramLimits, histogramCounts = 1, 6, 7 // 2 to 5: max, num, sum, sum of squares

	imageHeight, imageWidth, imageColours, imageData = 1, 2, 3, 4

	sessionStatus, sessionStart = 1, 1
)

// fileVersion begins every event file.
const fileVersion = "brain.Event:2"

func appendDouble(b []byte, field protowire.Number, v float64) []byte {
	b = protowire.AppendTag(b, field, protowire.Fixed64Type)
	return protowire.AppendFixed64(b, math.Float64bits(v))
}

func appendBytes(b []byte, field protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), v)
}

func appendInt(b []byte, field protowire.Number, v int) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), uint64(v))
}

// appendPacked appends a packed list of doubles.
func appendPacked(b []byte, field protowire.Number, list []float64) []byte {
	var inner []byte
	for _, v := range list {
		inner = protowire.AppendFixed64(inner, math.Float64bits(v))
	}
	return appendBytes(b, field, inner)
}

// head returns the fields that all events have.
func head(at time.Time, step int) []byte {
	b := appendDouble(nil, eventTime, float64(at.UnixMicro())/1e6)
	return appendInt(b, eventStep, step)
}

// versionEvent is the first event of a file.
func versionEvent(at time.Time) []byte {
	return appendBytes(appendDouble(nil, eventTime, float64(at.UnixMicro())/1e6), eventVersion, []byte(fileVersion))
}

// startEvent says that a resumed run goes on at a step: readers drop later points of earlier files.
func startEvent(at time.Time, step int) []byte {
	return appendBytes(head(at, step), eventSession, appendInt(nil, sessionStatus, sessionStart))
}

// summaryEvent has values of a step.
func summaryEvent(at time.Time, step int, values []Value) []byte {
	var summary []byte
	for _, v := range values {
		summary = appendBytes(summary, summaryValue, v.appendTo(nil))
	}
	return appendBytes(head(at, step), eventSummary, summary)
}

func (s Scalar) appendTo(b []byte) []byte {
	b = appendBytes(b, valueTag, []byte(s.Tag))
	b = protowire.AppendTag(b, valueScalar, protowire.Fixed32Type)
	return protowire.AppendFixed32(b, math.Float32bits(float32(s.Value)))
}

func (h Histogram) appendTo(b []byte) []byte {
	var inner []byte
	for i, v := range []float64{h.Min, h.Max, h.Num, h.Sum, h.SumOfSqs} {
		inner = appendDouble(inner, histogramMin+protowire.Number(i), v)
	}
	inner = appendPacked(inner, histogramLimits, h.Limits)
	inner = appendPacked(inner, histogramCounts, h.Counts)
	return appendBytes(appendBytes(b, valueTag, []byte(h.Tag)), valueHistogram, inner)
}

// rgb is the number of colour channels that TensorFlow gives for a coloured picture.
const rgb = 3

func (i Image) appendTo(b []byte) []byte {
	inner := appendInt(nil, imageHeight, i.Height)
	inner = appendInt(inner, imageWidth, i.Width)
	inner = appendInt(inner, imageColours, rgb)
	inner = appendBytes(inner, imageData, i.PNG)
	return appendBytes(appendBytes(b, valueTag, []byte(i.Tag)), valueImage, inner)
}
