package admit

import (
	"context"

	"muster/api"
	"muster/ctld/service"
)

func updateJob(context.Context, service.Core, *service.Request) error {
	return api.Errorf(api.ErrUnknownCall, "updates are not there yet")
}
func updateNode(context.Context, service.Core, *service.Request) error {
	return api.Errorf(api.ErrUnknownCall, "updates are not there yet")
}
func updatePartition(context.Context, service.Core, *service.Request) error {
	return api.Errorf(api.ErrUnknownCall, "updates are not there yet")
}
func updateReservation(context.Context, service.Core, *service.Request) error {
	return api.Errorf(api.ErrUnknownCall, "updates are not there yet")
}
