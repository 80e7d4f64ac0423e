package conv

import "github.com/swcaffe/swcaffe/cpe/kernel/shape"

// algorithms lists all algorithms. Of several that cost the same, the first is chosen.
var algorithms = listAlgorithms()

func listAlgorithms() []*Algorithm {
	list := []*Algorithm{
		&nothing,
		&coveringAlgorithm,
		&blockedAlgorithm,
		&blockedWeightsAlgorithm,
		&bandsAlgorithm,
		&depthwiseWeightsAlgorithm,
		&planesAlgorithm,
		&offsetsAlgorithm,
		&offsetsWeightsAlgorithm,
		&thinnedAlgorithm,
		&phasesAlgorithm,
		&spreadAlgorithm,
		&pointwiseAlgorithm,
		&gatheredAlgorithm,
		&shiftedWeightsAlgorithm,
		&paddedAlgorithm,
	}
	for _, tiles := range winogradStrategies {
		for _, algorithm := range []func(shape.Strategy) *Algorithm{
			smallAlgorithm,
			panelsAlgorithm,
			tilesAlgorithm,
			panelSumsAlgorithm,
			sumsAlgorithm,
			foldedAlgorithm,
			winogradMeshAlgorithm,
		} {
			list = append(list, algorithm(tiles))
		}
	}
	return append(list,
		&explicitPointwiseAlgorithm,
		&batchedAlgorithm,
		&explicitGEMMAlgorithm,
		&tapsAlgorithm,
		&rowsAlgorithm,
		&batchAlgorithm,
	)
}
