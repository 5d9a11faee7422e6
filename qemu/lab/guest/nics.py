# SPDX-License-Identifier: GPL-2.0
"""Emulated network cards and the hubs between them, as data."""

from dataclasses import dataclass

from lab import one_of, within

# QEMU's models: the 82540EM, which is the default, the 82574L and a paravirtual one.
MODEL = "e1000"
MODEL_VIRTIO = "virtio-net-pci"
MODELS = (MODEL, "e1000e", MODEL_VIRTIO)
PORTS_MAX = 8

# Drivers of the guest for such cards: ours, those in the tree, the source of frames. All but
# that of virtio, which is built in, are modules.
OURS = "napi_livelock"
IN_TREE = "e1000"
IN_TREE_82574L = "e1000e"
VIRTIO = "virtio_net"
SOURCE = "nll_source"

# PCI slots on the root bus, clear of those that QEMU deals out from 1 on.
RECEIVER_SLOT = 0x10
SOURCE_SLOT = 0x18
USER_SLOT = 0xF


@dataclass(frozen=True)
class Nic:
    """A card on a hub: frames go to all other cards there, and each takes those for its MAC.

    slot is its PCI slot on bus 0. mitigation lets an e1000 delay interrupts as
    its ITR, RDTR and RADV registers say; without it QEMU ignores them. With user it is
    not on a hub: it reaches the host's loopback. Raises LabError for a model that is not
    of MODELS.
    """

    slot: int
    hub: int = 0
    mitigation: bool = False
    model: str = MODEL
    user: bool = False

    def __post_init__(self) -> None:
        one_of("model", self.model, MODELS)

    @property
    def mac(self) -> str:
        """Locally administered, the last byte is the slot."""
        return f"02:00:00:00:00:{self.slot:02x}"

    @property
    def address(self) -> str:
        """Its name below /sys/bus/pci/devices."""
        return f"0000:00:{self.slot:02x}.0"

    def args(self) -> tuple[str, ...]:
        """QEMU's arguments. Without a boot ROM, which would not be read."""
        name = f"nic{self.slot:02x}"
        device = f"{self.model},netdev={name},mac={self.mac},addr={self.slot:#x},romfile="
        if self.model == MODEL:
            device += f",mitigation={'on' if self.mitigation else 'off'}"
        if self.model == MODEL_VIRTIO:
            # See the result port in machine.py.
            device += ",ioeventfd=off"
        end = f"user,id={name}" if self.user else f"hubport,id={name},hubid={self.hub}"
        return ("-netdev", end, "-device", device)


def pairs(ports: int, mitigation: bool = False, model: str = MODEL) -> tuple[Nic, ...]:
    """For each port a receiver and the card that sends to it, on a hub of their own.

    Receivers come first, and are of the model; an e1000 sends. With all of them on
    one hub, frames for a port would wait in QEMU behind those that another one has
    no room for.
    """
    within("ports", ports, 1, PORTS_MAX)
    return tuple(
        Nic(base + port, hub=port, mitigation=mitigation, model=of)
        for base, of in ((RECEIVER_SLOT, model), (SOURCE_SLOT, MODEL))
        for port in range(ports)
    )


USER = Nic(USER_SLOT, model=MODEL_VIRTIO, user=True)
"""The card whose other end is QEMU's own network: the host is 10.0.2.2 there."""
