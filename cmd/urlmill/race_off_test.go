//go:build !race

package main

const oneOf = 1
