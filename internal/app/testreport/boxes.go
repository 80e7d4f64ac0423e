package testreport

import (
	"slices"
	"strconv"

	"github.com/swcaffe/swcaffe/blob"
	swnet "github.com/swcaffe/swcaffe/net"
)

// shownScore is the score from which a detection is shown and judged in an image. Curves have all of them.
const shownScore = 0.5

// Kinds of boxes.
const (
	boxObject    = "object"
	boxDifficult = "difficult object"
	boxRight     = "right"
	boxWrong     = "wrong"
	boxIgnored   = "not counted" // its object is difficult
)

// Box is an object or a detection. Its sides are shares of the image's width and height.
type Box struct {
	Kind   string  `json:"kind"`
	Name   string  `json:"name"`  // of the class
	Score  string  `json:"score"` // of a detection
	Left   float32 `json:"left"`
	Top    float32 `json:"top"`
	Width  float32 `json:"width"`
	Height float32 `json:"height"`
}

// detector is a layer of type DetectionEvaluate with its bottoms.
type detector struct {
	found, objects, verdicts *blob.Blob
	difficult                bool // objects that are difficult count
}

// findDetector returns the first such layer, nil if there is none, and the numbers of the blobs with annotations.
func findDetector(n *swnet.Net) (*detector, []int) {
	for i := range n.NumLayers() {
		if n.LayerType(i) != "DetectionEvaluate" {
			continue
		}
		ids := n.BottomIDs(i)
		named := func(id int) *blob.Blob { return n.Blob(n.BlobNames()[id]) }
		return &detector{named(ids[0]), named(ids[1]), named(n.TopIDs(i)[0]), n.LayerParam(i).GetDetectionEvaluateParam().GetEvaluateDifficultGt()}, ids[1:]
	}
	return nil, nil
}

// Values of a detection (image, class, score, box), of an object (image, class, instance, box, difficult) and of a verdict (image, class, score,
// right, wrong).
const detectionValues, objectValues, verdictValues = 7, 8, 5

// images returns the number of images of the batch.
func (d *detector) images(im *images) int {
	if im != nil {
		return im.blob.Dim(0)
	}
	last := -1
	for rows := d.found.Data(); len(rows) >= detectionValues; rows = rows[detectionValues:] {
		last = max(last, int(rows[0]))
	}
	for rows := d.objects.Data(); len(rows) >= objectValues; rows = rows[objectValues:] {
		last = max(last, int(rows[0]))
	}
	return last + 1
}

// boxes returns an image's objects, and its detections of at least shownScore.
func (d *detector) boxes(image int, name func(class int) string) (list []Box) {
	for rows := d.objects.Data(); len(rows) >= objectValues; rows = rows[objectValues:] {
		if int(rows[0]) != image {
			continue
		}
		kind := boxObject
		if rows[7] != 0 && !d.difficult {
			kind = boxDifficult
		}
		list = append(list, newBox(kind, name(int(rows[1])), "", rows[3:7]))
	}
	used := map[int]bool{}
	for rows := d.found.Data(); len(rows) >= detectionValues; rows = rows[detectionValues:] {
		if int(rows[0]) == image && rows[1] >= 0 && rows[2] >= shownScore {
			list = append(list, newBox(d.verdict(rows[:3], used), name(int(rows[1])), score(float64(rows[2])), rows[3:7]))
		}
	}
	return list
}

func newBox(kind, name, score string, at []float32) Box {
	return Box{kind, name, score, at[0], at[1], at[2] - at[0], at[3] - at[1]}
}

// verdict returns the kind of a detection: that of the first unused verdict with its image, class and score.
func (d *detector) verdict(of []float32, used map[int]bool) string {
	rows := d.verdicts.Data()
	for i := 0; i+verdictValues <= len(rows); i += verdictValues {
		if used[i] || !slices.Equal(rows[i:i+3], of) {
			continue
		}
		used[i] = true
		switch {
		case rows[i+3] > 0:
			return boxRight
		case rows[i+4] > 0:
			return boxWrong
		}
		break
	}
	return boxIgnored
}

// addDetections adds the images of a batch. An image's score is the number of right detections over that of objects and wrong detections.
func (r *Report) addDetections() {
	for image := range r.detector.images(r.images) {
		boxes, count := r.detector.boxes(image, r.name), map[string]int{}
		for _, b := range boxes {
			count[b.Kind]++
		}
		if share, ok := ratio(count[boxRight], count[boxObject]+count[boxWrong]); ok && share < 1 {
			r.offer(share, func(m *mistake) {
				m.label, m.boxes, m.pictures, m.name = -1, boxes, r.images.of(image), r.images.name(image)
			})
		}
		r.items++
	}
}

// boxRows lists the detections, and the numbers of objects by class.
func boxRows(boxes []Box) (rows []Row) {
	objects := map[string]int{}
	var names []string
	for _, b := range boxes {
		switch b.Kind {
		case boxRight, boxWrong, boxIgnored:
			rows = append(rows, Row{b.Kind + ": " + b.Name, b.Score})
		default:
			name := b.Kind + ": " + b.Name
			if objects[name]++; objects[name] == 1 {
				names = append(names, name)
			}
		}
	}
	for _, name := range names {
		rows = append(rows, Row{name, strconv.Itoa(objects[name])})
	}
	return rows
}
