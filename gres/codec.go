package gres

import "muster/internal/wire"

// Code implements wire.Message.
func (i *Item) Code(c *wire.Coder) {
	c.String(1, &i.Name)
	c.String(2, &i.Type)
	c.Uint64(3, &i.Count)
}

// Code implements wire.Message.
func (d *Device) Code(c *wire.Coder) {
	c.String(1, &d.Name)
	c.String(2, &d.Type)
	wire.Int(c, 3, &d.Index)
	c.String(4, &d.File)
	c.String(5, &d.UUID)
	wire.Pointer(c, 6, &d.Cores)
	c.String(7, &d.Visible)
}

// Code implements wire.Message.
func (i *Inventory) Code(c *wire.Coder) {
	wire.Slice(c, 1, &i.Devices)
	wire.Slice(c, 2, &i.Counts)
	wire.Slice(c, 3, &i.NICs)
	wire.Ints(c, 4, (*[]Link)(&i.Links))
	c.Bool(5, &i.Found)
}

// Code implements wire.Message.
func (n *NIC) Code(c *wire.Coder) {
	c.String(1, &n.Name)
	wire.Uint(c, 2, &n.Role)
	c.Bool(3, &n.RDMA)
}
