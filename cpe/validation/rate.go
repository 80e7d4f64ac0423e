package validation

import (
	"fmt"
	"math"
)

// PublishedRate is a published share of a peak, in percent.
type PublishedRate struct {
	Published float64
	Points    float64 // how far the model may be off
}

// Rate returns a row of rates.csv.
func Rate(name string) (PublishedRate, error) {
	rows, err := Read("rates.csv")
	if err != nil {
		return PublishedRate{}, err
	}
	for _, r := range rows {
		if r["name"] == name {
			return PublishedRate{r.Float("published"), r.Float("points")}, nil
		}
	}
	return PublishedRate{}, fmt.Errorf("rates.csv has no row %s", name)
}

// Holds reports whether a modelled share is near enough.
func (r PublishedRate) Holds(modelled float64) bool {
	return math.Abs(modelled-r.Published) <= r.Points
}
