// Package vpool emits the kernels of pooling: of planes with vectors of columns, and of blocks of channels.
package vpool
