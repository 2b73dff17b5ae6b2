package main

// showingVerbs lists the commands of scontrol that only read.
func showingVerbs() []verb { return nil }
