// SPDX-License-Identifier: GPL-2.0
/* nic.c - the machine's 82540EM, 82574L and virtio cards: their drivers and interfaces. */
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/ethtool.h>
#include <linux/if_ether.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "nic.h"
#include "procfs.h"

#define DEVICES		"/sys/bus/pci/devices"
#define PROBE		"/sys/bus/pci/drivers_probe"
#define VIRTIO_DRIVER	"virtio_net"
#define SOFTNET_MAX	4096

static const struct {
	const char *id;
	bool virtio;
} cards[] = {
	{ "\nPCI_ID=8086:100E\n", false },	/* 82540EM */
	{ "\nPCI_ID=8086:10D3\n", false },	/* 82574L */
	{ "\nPCI_ID=1AF4:1041\n", true },
	{ "\nPCI_ID=1AF4:1000\n", true },	/* that drivers of before version 1 take as well */
};

static bool is_card(const char *name, bool *virtio)
{
	char path[PATH_MAX], text[1024];
	size_t i = 0;

	snprintf(path, sizeof(path), DEVICES "/%s/uevent", name);
	if (read_text(path, text, sizeof(text)) < 0)
		return false;
	while (i < ARRAY_SIZE(cards) && !strstr(text, cards[i].id))
		i++;
	*virtio = i < ARRAY_SIZE(cards) && cards[i].virtio;
	return i < ARRAY_SIZE(cards);
}

static int by_address(const void *left, const void *right)
{
	return strcmp(((const struct nic *)left)->pci, ((const struct nic *)right)->pci);
}

/* The name of the last entry of a directory that begins with @start, "" without one. */
static void find_entry(const char *path, const char *start, char *name, size_t size)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	name[0] = '\0';
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !strncmp(entry->d_name, start, strlen(start)))
			snprintf(name, size, "%.15s", entry->d_name);
	if (dir)
		closedir(dir);
}

/* A file of the device that the card's driver has: virtioN below that of PCI, or PCI's. */
static void file_of(const struct nic *nic, const char *file, char *path, size_t size)
{
	char child[16] = "";

	snprintf(path, size, DEVICES "/%s", nic->pci);
	if (nic->virtio)
		find_entry(path, "virtio", child, sizeof(child));
	snprintf(path, size, DEVICES "/%s%s%s/%s", nic->pci, *child ? "/" : "", child, file);
}

/* The only entry of its net directory. */
static void learn_name(struct nic *nic)
{
	char path[PATH_MAX];

	file_of(nic, "net", path, sizeof(path));
	find_entry(path, "", nic->name, sizeof(nic->name));
}

unsigned int nic_list(struct nic *nics)
{
	DIR *dir = opendir(DEVICES);
	struct dirent *entry;
	unsigned int count = 0;

	if (!dir)
		return 0;
	while ((entry = readdir(dir)) && count < NICS_MAX) {
		const char *name = entry->d_name;

		if (strlen(name) >= sizeof(nics->pci) || !is_card(name, &nics[count].virtio))
			continue;
		snprintf(nics[count].pci, sizeof(nics->pci), "%.15s", name);
		learn_name(&nics[count++]);
	}
	closedir(dir);
	qsort(nics, count, sizeof(*nics), by_address);
	return count;
}

/* The name of the driver that the card has now, "" for none. */
static void nic_driver(const struct nic *nic, char *driver, size_t size)
{
	char path[PATH_MAX], target[PATH_MAX];
	ssize_t length;

	file_of(nic, "driver", path, sizeof(path));
	length = readlink(path, target, sizeof(target) - 1);
	target[length < 0 ? 0 : length] = '\0';
	snprintf(driver, size, "%s", length < 0 ? "" : strrchr(target, '/') + 1);
}

bool nic_can_have(const struct nic *nic, const char *driver)
{
	return nic->virtio == !strcmp(driver, VIRTIO_DRIVER);
}

bool nic_knows(const char *driver)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/sys/bus/%s/drivers/%s",
		 strcmp(driver, VIRTIO_DRIVER) ? "pci" : "virtio", driver);
	return !access(path, F_OK);
}

int nic_reserve(const struct nic *nic, const char *driver)
{
	char path[PATH_MAX];

	if (nic->virtio)
		return 0;
	snprintf(path, sizeof(path), DEVICES "/%s/driver_override", nic->pci);
	return write_text(path, driver);
}

/* Take its driver away, if it has one. 0 or -errno. */
static int nic_unbind(struct nic *nic)
{
	char path[PATH_MAX];
	int error;

	snprintf(path, sizeof(path), DEVICES "/%s/driver/unbind", nic->pci);
	nic->name[0] = '\0';
	error = write_text(path, nic->pci);
	return error == -ENOENT ? 0 : error;
}

int nic_bind(struct nic *nic, const char *driver)
{
	char has[64];
	int error;

	nic_driver(nic, has, sizeof(has));
	if (nic->virtio || strcmp(has, driver)) {
		error = nic_unbind(nic);
		if (error)
			return error;
		error = write_text(PROBE, nic->pci);
		if (error)
			return error;
		nic_driver(nic, has, sizeof(has));
	}
	learn_name(nic);
	return strcmp(has, driver) ? -ENODEV : 0;
}

/* An ioctl on the interface. 0 or -errno. */
static int control(const struct nic *nic, unsigned long request, struct ifreq *ifr)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), error = 0;

	if (fd < 0)
		return -errno;
	snprintf(ifr->ifr_name, sizeof(ifr->ifr_name), "%s", nic->name);
	if (ioctl(fd, request, ifr))
		error = -errno;
	close(fd);
	return error;
}

static int set_address(const struct nic *nic, unsigned long request, u32 ip)
{
	struct ifreq ifr = { };
	struct sockaddr_in *address = (struct sockaddr_in *)&ifr.ifr_addr;

	address->sin_family = AF_INET;
	address->sin_addr.s_addr = htonl(ip);
	return control(nic, request, &ifr);
}

static int set_flag(const struct nic *nic, short flag, bool on)
{
	struct ifreq ifr = { };
	int error;

	error = control(nic, SIOCGIFFLAGS, &ifr);
	if (error)
		return error;
	ifr.ifr_flags = (short)(on ? ifr.ifr_flags | flag : ifr.ifr_flags & ~flag);
	return control(nic, SIOCSIFFLAGS, &ifr);
}

int nic_up(const struct nic *nic, u32 ip)
{
	int error;

	error = set_address(nic, SIOCSIFADDR, ip);
	if (!error)
		error = set_address(nic, SIOCSIFNETMASK, 0xffffff00);
	return error ? error : set_flag(nic, IFF_UP, true);
}

int nic_down(const struct nic *nic)
{
	return set_flag(nic, IFF_UP, false);
}

int nic_join(const struct nic *nic, const unsigned char *group, bool join)
{
	struct ifreq ifr = { .ifr_hwaddr.sa_family = AF_UNSPEC };

	memcpy(ifr.ifr_hwaddr.sa_data, group, ETH_ALEN);
	return control(nic, join ? SIOCADDMULTI : SIOCDELMULTI, &ifr);
}

bool nic_carrier(const struct nic *nic)
{
	char path[PATH_MAX];
	u64 up;

	snprintf(path, sizeof(path), NET_DIR "/%s/carrier", nic->name);
	return !read_number(path, &up) && up;
}

int nic_set(const struct nic *nic, const char *attribute, const char *value)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), NET_DIR "/%s/%s", nic->name, attribute);
	return write_text(path, value);
}

static int ethtool(const struct nic *nic, void *command)
{
	struct ifreq ifr = { .ifr_data = command };

	return control(nic, SIOCETHTOOL, &ifr);
}

int nic_set_ring(const struct nic *nic, u32 descriptors)
{
	struct ethtool_ringparam ring = { .cmd = ETHTOOL_GRINGPARAM };
	int error;

	error = ethtool(nic, &ring);
	if (error || ring.rx_pending == descriptors)
		return error;
	ring.cmd = ETHTOOL_SRINGPARAM;
	ring.rx_pending = descriptors;
	return ethtool(nic, &ring);
}

int nic_set_gro(const struct nic *nic, bool on)
{
	struct ethtool_value gro = { ETHTOOL_SGRO, on };

	return ethtool(nic, &gro);
}

static int read_stats(const struct nic *nic, u32 count, struct nic_stat *stats,
		      unsigned int room)
{
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
	unsigned int i;
	int error;

	names = calloc(1, sizeof(*names) + count * (size_t)ETH_GSTRING_LEN);
	values = calloc(1, sizeof(*values) + count * sizeof(__u64));
	error = names && values ? 0 : -ENOMEM;
	if (!error) {
		*names = (struct ethtool_gstrings){ ETHTOOL_GSTRINGS, ETH_SS_STATS, count };
		*values = (struct ethtool_stats){ ETHTOOL_GSTATS, count };
		error = ethtool(nic, names);
	}
	if (!error)
		error = ethtool(nic, values);
	for (i = 0; !error && i < count && i < room; i++) {
		snprintf(stats[i].name, sizeof(stats->name), "%.31s",
			 (char *)names->data + i * ETH_GSTRING_LEN);
		stats[i].value = values->data[i];
	}
	free(names);
	free(values);
	return error ? error : (int)i;
}

int nic_stats(const struct nic *nic, struct nic_stat *stats, unsigned int room)
{
	struct ethtool_drvinfo info = { .cmd = ETHTOOL_GDRVINFO };
	int error;

	error = ethtool(nic, &info);
	return error ? error : read_stats(nic, info.n_stats, stats, room);
}

u64 nic_counter(const struct nic *nic, const char *name)
{
	char path[PATH_MAX];
	u64 value;

	snprintf(path, sizeof(path), NET_DIR "/%s/statistics/%s", nic->name, name);
	return read_number(path, &value) ? 0 : value;
}

int softnet_sum(unsigned int column, u64 *sum)
{
	char text[SOFTNET_MAX], *rest = text, *line;
	int length = read_text("/proc/net/softnet_stat", text, sizeof(text));

	if (length < 0)
		return length;
	*sum = 0;
	while ((line = strsep(&rest, "\n"))) {
		unsigned int i = 0;
		char *word;

		while ((word = strsep(&line, " ")))
			if (i++ == column)
				*sum += strtoul(word, NULL, 16);
	}
	return 0;
}
