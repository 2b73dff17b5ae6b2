package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"

	"muster/api"
)

// scontrolReconfigure makes the cluster file of this host the configuration. Running
// jobs that have no place in it are a cause to refuse; muster conf apply can force them.
func scontrolReconfigure(in *invocation, _ *scontrolOptions, _ []string) int {
	path := cmp.Or(os.Getenv(api.ConfVariable), api.DefaultConf)
	text, err := os.ReadFile(path)
	if err != nil {
		hint := "act on a host that has the cluster file, or name it in " + api.ConfVariable
		if errors.Is(err, os.ErrPermission) {
			hint = "act as a user who may read it"
		}
		fmt.Fprintf(in.stderr, "scontrol: %v: %s\n", err, hint)
		return 1
	}
	var reply api.ConfigureReply
	code := in.changeSaying("slurm_reconfigure error: ", api.MethodConfigure, &api.ConfigureRequest{Name: path, Source: string(text), Commit: true}, &reply)
	for _, line := range reply.Warnings {
		fmt.Fprintln(in.stderr, line)
	}
	return code
}
