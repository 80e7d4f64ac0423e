// Package common has the layers that Caffe's documentation calls common: InnerProduct, Embed and Dropout.
package common
