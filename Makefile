# SPDX-License-Identifier: GPL-2.0
# Orchestration only: make says what depends on what, qemu/lab decides, C measures.
# `make help` lists the targets.

O ?= build
override O := $(abspath $(O))
export LAB_OUT := $(O)
export PYTHONPATH := $(CURDIR)/qemu
export PYTHONPYCACHEPREFIX := $(O)/pycache
# As the person wrote it: quotes, dollars and all.
export LAB_CMD = $(value CMD)

lab := python3 -m lab
venv := $(O)/venv/bin/python
vlab := $(venv) -m lab
# What kbuild would take for its own reaches the lab as options.
source := $(if $(KERNEL),--source '$(KERNEL)')
llvm := $(if $(LLVM),--llvm)
build := $(llvm) $(if $(V),--verbose)
kernel := kernel$(if $(LLVM),+llvm)
only := $(if $(TESTS),-k '$(TESTS)')
pytest = $(venv) -m pytest -c qemu/pyproject.toml --rootdir=qemu -v -o cache_dir=$(O)/pytest $(only)

.NOTPARALLEL:
.PHONY: help all deps python3 prepare config config-debug config-plain defconfig menuconfig \
	savedefconfig kernel kernel-debug kernel-plain modules userland rootfs install run test \
	test-crash test-debug kunit check bench report demo tags compile_commands.json clean mrproper

help:
	@sed -n 's/^#? \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

#? Two commands
#?   demo                   set up, build, boot, a short look at everything: a table and plots
#?   test                   set up, build, and run every test (TESTS=name: only those)
#?
#? Set-up (done by the others as needed)
#?   deps                   install (root) or name (not root) the Debian packages
#?   prepare                kernel source, patches and modules in $(O)/linux
#?   defconfig              configure the kernel anew from configs/
#?   menuconfig             change the configuration by hand
#?   savedefconfig          write it to $(O)/defconfig
#?
#? Build
#?   all                    kernel, modules, userland, rootfs
#?   kernel                 the kernel and its modules, $(O)/kernel-guest
#?   kernel-debug, -plain   the same that checks itself, or without privileged I/O
#?   modules                the modules alone
#?   userland               the programs of the guest, $(O)/userland
#?   rootfs                 the root image, $(O)/rootfs.sqfs
#?   install                our tools and man pages on this machine (DESTDIR= prefix=)
#?
#? Run
#?   run                    boot to a shell; CMD='...' runs that; DRY=1 prints the QEMU command
#?   test-crash             1,000 states that a crash can leave a file system in
#?   test-debug             the guest's tests, shortened, on the debug kernel
#?   kunit                  the unit tests inside the kernel
#?   bench                  run an experiment: EXP=ipc livelock lottery udp wrais; QUICK=1 short
#?   report                 draw the plots of the results again
#?   check                  checkpatch, sparse, ruff, mypy, rules of the series
#?
#? For editors, and cleaning
#?   tags                   $(O)/tags
#?   compile_commands.json  $(O)/compile_commands.json
#?   clean                  remove what was built, keep sources, image and environment
#?   mrproper               remove everything generated
#?   help                   this text
#? Variables
#?   O=build  where everything generated goes     V=1    show the commands
#?   KERNEL=  directory or tarball of any 6.12.y  LLVM=1 clang instead of gcc
#?   CPUS= MEM= PORTS= (pairs of network cards) ACCEL=tcg|kvm|icount  the guest
#?   CMD= DRY=1  see run    EXP= QUICK=1  see bench    TESTS= names of tests

# A machine without Python is a bare one: everything else is up to `lab deps`.
python3:
	@command -v python3 >/dev/null || { [ "$$(id -u)" = 0 ] || { \
		echo "lab: python3 is missing: sudo apt-get install python3" >&2; exit 2; }; \
		echo "lab: installing missing packages: python3" >&2; \
		apt-get -qq update && apt-get -qq install --no-install-recommends python3 >/dev/null; }

deps: python3
	@$(lab) deps $(source)
need-%: python3
	@$(lab) deps $(source) $(subst +, ,$*)

prepare: need-$(kernel)
	@$(lab) prepare $(source)
config: prepare
	@$(lab) config $(llvm)
config-debug config-plain: config-%: prepare
	@$(lab) config --kernel $* $(llvm)
defconfig: prepare
	@$(lab) config reset $(llvm)
menuconfig: need-$(kernel)+menuconfig prepare
	@$(lab) config menu $(llvm)
savedefconfig: prepare
	@$(lab) config save $(llvm)

all: need-$(kernel)+userland+image kernel modules userland rootfs
kernel: config
	@$(lab) kernel $(build)
kernel-debug kernel-plain: kernel-%: config-%
	@$(lab) kernel --kernel $* $(build)
modules: config
	@$(lab) kernel modules $(build)
userland: need-userland
	@$(MAKE) --no-print-directory -C userland O=$(O)
rootfs: need-image
	@$(lab) rootfs
install: need-userland
	@$(MAKE) --no-print-directory -C userland O=$(O) install
tags: need-$(kernel)+tags kernel
	@$(lab) kernel tags $(llvm)
compile_commands.json: kernel
	@$(lab) kernel compile_commands.json $(llvm)

# The lock names every file by its hash, so the environment follows from it alone.
$(O)/venv/lock: qemu/requirements.lock
	@rm -rf $(O)/venv && python3 -m venv $(O)/venv
	@echo "lab: Python environment in $(O)/venv" >&2
	@$(venv) -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@cp $< $@

guest := need-$(kernel)+userland+image+emulator userland rootfs
tested := need-$(kernel)+userland+image+emulator+python $(O)/venv/lock userland rootfs
run: $(if $(DRY),python3,$(guest) kernel)
	@$(lab) run $(if $(value CMD),--cmd "$$LAB_CMD") $(if $(DRY),--dry-run)
test: $(tested) kernel
	@LAB_KERNEL=guest $(pytest) qemu/tests
test-crash: $(tested) kernel
	@LAB_KERNEL=guest LAB_CRASH_STATES=334 $(pytest) -k crash qemu/tests/guest
test-debug: $(tested) kernel-debug
	@LAB_KERNEL=debug LAB_SHORT=1 $(pytest) qemu/tests/guest
kunit: $(tested) kernel
	@LAB_KERNEL=guest $(pytest) -k kunit qemu/tests/guest
check: need-$(kernel)+check+userland kernel userland $(O)/venv/lock
	@$(vlab) check
bench: need-peers $(tested) kernel $(if $(filter wrais,$(EXP)),$(if $(QUICK),,kernel-plain))
	@$(vlab) bench $(if $(EXP),--exp '$(EXP)') $(if $(QUICK),--quick)
report: need-python $(O)/venv/lock
	@$(vlab) report $(if $(EXP),--exp '$(EXP)')
demo: need-peers $(tested) kernel
	@$(vlab) demo

clean:
	rm -rf $(addprefix $(O)/,kernel-guest kernel-debug kernel-plain userland logs pytest pycache \
		mypy ruff tags compile_commands.json defconfig)
mrproper: clean
	rm -rf $(addprefix $(O)/,pristine pristine.json pristine.part linux linux.json linux.part \
		linux.staging rootfs.sqfs rootfs.json rootfs.part venv results plots)
	@rmdir $(O) 2>/dev/null || true
