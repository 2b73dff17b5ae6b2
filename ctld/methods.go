package ctld

import (
	"muster/ctld/service"
)

// methods are all calls that a controller answers.
func methods() []service.Method {
	return nil
}
