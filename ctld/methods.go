package ctld

import (
	"slices"

	"muster/ctld/admit"
	"muster/ctld/query"
	"muster/ctld/service"
)

// methods are all calls that a controller answers.
func methods() []service.Method {
	return slices.Concat(admit.Methods(), query.Methods())
}
