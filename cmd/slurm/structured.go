package main

import (
	"muster/api"
)

// structured prints jobs as JSON or YAML.
func (o *queueOptions) structured(in *invocation) int {
	in.errorf("--json and --yaml: not there yet")
	return 1
}

// structured prints nodes as JSON or YAML.
func (o *nodeOptions) structured(in *invocation, _ *api.NodeList) int {
	in.errorf("--json and --yaml: not there yet")
	return 1
}

// structured prints accounting records as JSON or YAML.
func (o *acctOptions) structured(in *invocation, _ *api.JobList) int {
	in.errorf("--json and --yaml: not there yet")
	return 1
}
