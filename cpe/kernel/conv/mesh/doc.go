// Package mesh holds the published implicit convolutions of SW26010 on the mesh of a modelled machine.
//
// [Batch] is swDNN's: every output position is a product of weights and a batch of images, which stays in LDM while terms are summed. [Rows]
// shares rows of results among core groups instead of images. [Taps] is that of the original swCaffe, which fetches weights for every product.
package mesh
