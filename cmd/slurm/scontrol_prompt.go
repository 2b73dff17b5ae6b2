package main

import (
	"bufio"
	"fmt"
	"strings"
)

// scontrolPrompt reads commands from its input, one in a line, until it ends or
// one says so (scontrol(1): "interactive mode"). !! is the last command again.
// Some words switch options on and off for those that follow. The exit code is 1
// if any command failed.
func scontrolPrompt(in *invocation, o *scontrolOptions) int {
	code := 0
	last := ""
	lines := bufio.NewScanner(in.stdin)
	for {
		fmt.Fprint(in.stdout, "scontrol: ")
		if err := in.stdout.Flush(); err != nil {
			in.errorf("writing the output: %v", err)
			return 1
		}
		if !lines.Scan() {
			break
		}
		line := strings.TrimSpace(lines.Text())
		if line == "!!" {
			line = last
		}
		words := splitWords(line)
		if len(words) == 0 {
			continue
		}
		last = line
		if w := strings.ToLower(words[0]); w == "quit" || w == "exit" {
			return code
		}
		if !o.say(words) {
			code = max(code, scontrolOnline(in, o, words))
		}
	}
	if err := lines.Err(); err != nil {
		in.errorf("read a command: %v", err)
		return 1
	}
	return code
}

// say takes a word that stands for an option; false: it is a command.
func (o *scontrolOptions) say(words []string) bool {
	switch w := strings.ToLower(words[0]); {
	case len(words) > 1:
		return false
	case w == "all", w == "details", w == "oneliner", w == "quiet":
		o.set(w)
	case w == "hide":
		o.all = false
	case w == "verbose":
		o.quiet = false
	default:
		return false
	}
	return true
}
