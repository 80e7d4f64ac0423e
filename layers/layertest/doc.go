// Package layertest holds what every layer type is tested with, whoever wrote it:
//
//   - CheckGradient compares Backward with central differences of Forward, on either path, for bottoms and weights;
//   - CheckPaths runs the MPE path and the CPE path on every machine and compares tops, gradients and weights, and on
//     modelled machines the charges of real execution with those of cost-only execution;
//   - CheckTiled demands that the CPE path works on the machine it is given;
//   - CheckCores demands that the number of the computer's cores changes no bit;
//   - CheckStart demands that a sum of weights' gradients may begin with memory that was not cleared;
//   - CheckReads demands that Backward does without the values that the layer says it does not read;
//   - CheckReshape runs a layer in one shape, then in another, and compares with a layer that was built for the second;
//   - CheckAllocations demands that an iteration on this computer allocates nothing once shapes are known.
//
// A Case says which layer in which configuration, and with which bottoms. Walk runs all checks on all cases, and fails
// for a registered type that has no case. A test of one layer's numbers builds a Fixture itself:
//
//	f := layertest.Build(t, bench, layers.CPE, layertest.Case{
//		Type: "Power", Param: "power_param { power: 2 }",
//		Bottoms: []layertest.Bottom{layertest.Given([]float32{1, 2, 3}, 3)},
//	})
//	layertest.Equal(t, "top", f.Forward(t)[0], []float32{1, 4, 9}, 1e-6)
//
// All values are drawn from seeds, so that a failure repeats. Checks return errors that name the blob and the element.
package layertest
