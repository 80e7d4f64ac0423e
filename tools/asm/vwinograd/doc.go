// Package vwinograd emits the linear maps of Winograd's minimal filtering. Maps writes them from the points of each form, after Toom and Cook.
package vwinograd
