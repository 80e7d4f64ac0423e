// Package layertest tests layer types, those of swcaffe and those of other programs. A Case is one layer in one configuration with its
// bottoms. Walk runs all checks on all cases, and fails for a registered type without a case. The checks are:
//
//   - CheckGradient compares Backward with central differences of Forward, on either path, for bottoms and weights;
//   - CheckPaths compares the CPE path on every machine with the MPE path: tops, gradients and weights. On modelled machines it also
//     compares the charges of real execution with those of cost-only execution;
//   - CheckTiled checks that the CPE path runs on the machine it is given;
//   - CheckFirstUse compares the paths in an iteration in which the layer is the first to use its storage;
//   - CheckCores checks that the computer's number of cores changes no bit;
//   - CheckStart checks that sums of weights' gradients may start in memory that was not cleared;
//   - CheckReads checks that Backward does not read the values listed in the layer's Traits.Unread;
//   - CheckReshape runs a layer in one shape, then in another, and compares it with a layer built for the second;
//   - CheckAllocations checks that an iteration on this computer allocates nothing once shapes are known.
//
// A test of a single layer's numbers builds a Fixture itself:
//
//	f := layertest.Build(t, bench, layers.CPE, layertest.Case{
//		Type: "Power", Param: "power_param { power: 2 }",
//		Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3}, 3)},
//	})
//	layertest.Equal(t, "top", f.Forward(t)[0], []float32{1, 4, 9}, 1e-6)
//
// All values are drawn from fixed seeds, so that a failure repeats. The errors of checks name the blob and the element.
package layertest
