package main

func sweep(folder string, rows int) error { return nil }
