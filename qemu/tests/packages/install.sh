#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# In the Debian root, as a person would: a boot loader on the EFI partition, then dpkg.
set -eu

# There is no disk yet: /root/efi becomes the partition later.
export SYSTEMD_RELAX_ESP_CHECKS=1 SYSTEMD_ESP_PATH=/boot/efi
mkdir -p /boot/efi
mount -t tmpfs efi /boot/efi
bootctl install --no-variables --make-entry-directory=no
# Which kernel the loader takes follows from its entries, which dpkg's hooks write.
echo debian >/etc/kernel/entry-token
echo "root=PARTUUID=$1 rw console=ttyS0 panic=-1" >/etc/kernel/cmdline
mkdir -p /boot/efi/loader/entries

# The kernel comes last: its hook has dkms build the driver for it.
dpkg --install /root/packages/[!l]*.deb
dpkg --install /root/packages/l*.deb
cp -r /boot/efi /root/efi
umount /boot/efi

printf '%s\n' "PARTUUID=$1 / ext4 defaults 0 1" "LABEL=EFI /boot/efi vfat umask=0077 0 2" \
	>/etc/fstab
cat >/etc/systemd/system/packages-test.service <<UNIT
[Unit]
Description=Uses the packages, and removes them
After=multi-user.target
SuccessAction=poweroff-force
FailureAction=poweroff-force

[Service]
Type=oneshot
ExecStart=/bin/sh /root/steps.sh

[Install]
WantedBy=multi-user.target
UNIT
systemctl enable packages-test.service
