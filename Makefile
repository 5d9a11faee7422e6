# SPDX-License-Identifier: GPL-2.0
# Orchestration only: make says what depends on what, qemu/lab decides. See `make help`.
include paths.mk
machine := $(patsubst aarch64,arm64,$(shell uname -m))
# another architecture than this machine's: its programs do not run here
foreign := $(filter-out $(machine),$(ARCH))
O ?= build$(foreign:%=-%)
override O := $(abspath $(O))
export LAB_OUT := $(O)
export LAB_ARCH := $(ARCH)
export PYTHONPATH := $(CURDIR)/qemu
export PYTHONPYCACHEPREFIX := $(O)/pycache
# Not a byte goes into a directory that may be a person's: the launcher says that it is ours.
export PYTHONDONTWRITEBYTECODE := $(if $(wildcard $(O)/lab/.),1,$(if $(wildcard $(O)/lab),,1))
# As the person wrote it: quotes, dollars and all.
export LAB_CMD = $(value CMD)
quote = '$(subst ','\'',$(1))'

lab := python3 -m lab
venv := $(O)/venv/bin/python
vlab := $(venv) -m lab
# What kbuild would take for its own reaches the lab as options.
source := $(if $(KERNEL),--source $(call quote,$(value KERNEL)))
llvm := $(if $(LLVM),--llvm)
build := $(llvm) $(if $(V),--verbose)
kernel := kernel$(if $(LLVM),+llvm)
option = $(if $($(2)),--$(1) $(call quote,$(value $(2))))
exp := $(call option,exp,EXP)
# $(1): the tests that a target is about; TESTS selects among them
only = $(if $(1)$(TESTS),-k $(call quote,$(1)$(if $(TESTS),$(if $(1), and )($(value TESTS)))))
# the kernel that a target is about
variant = $(or $(word 2,$(subst -, ,$@)),guest)
# All packages in one go: without root, a person installs them by hand.
needs := need-$(kernel)+userland+image
guest := kernel userland rootfs
tested := $(needs)+emulator+python+peers+report+browser+htmldocs+trace+lava beside $(O)/venv/lock unchanged $(guest)
kind := debug plain torture vng
set := config unchanged defconfig menuconfig savedefconfig $(kind:%=config-%) $(kind:%=unchanged-%)
pytest = LAB_TIER=$(or $(TIER),gate) $(venv) -m pytest -c qemu/pyproject.toml --rootdir=qemu -v \
	-o cache_dir=$(O)/pytest --junitxml=$(O)/logs/junit-$@.xml $(only)
static := series house checkpatch shellcheck ruff mypy
.NOTPARALLEL:
.PHONY: help all deps python3 prepare beside $(set) kernel $(kind:%=kernel-%) modules files userland rootfs install run test test-fast test-long ci-last test-crash test-debug test-mutants test-matrix test-torture kunit check \
	check-series check-bases htmldocs deb patches-export test-packages bench report figures compare trace demo lava-job kcidb tags compile_commands.json clean mrproper

help:
	@sed -n 's/^#? \{0,1\}//p' $(firstword $(MAKEFILE_LIST))

#? Two commands
#?   demo                   set up, build, boot, a short look at everything; STRICT=1 judges goals
#?   test                   set up, build, and run the tests of the gate that need a kernel
#?
#? Set-up (done by the others as needed)
#?   deps                   install (root) or name (not root) the packages that are missing
#?   prepare                kernel source, patches and modules in $(O)/linux
#?   defconfig savedefconfig  configure the kernel anew from configs/; write $(O)/defconfig
#?   menuconfig             change the configuration by hand (make run alone boots such a kernel)
#?
#? Build
#?   all                    kernel, modules, userland, rootfs
#?   kernel modules files   $(O)/kernel-guest; its modules alone; and those of XFS, btrfs, f2fs
#?   kernel-debug, -plain, -torture, -vng  checks itself; no privileged I/O; torture; for virtme-ng
#?   userland rootfs        the programs of the guest, $(O)/userland; its image, $(O)/rootfs.sqfs
#?   install                our tools and man pages on this machine (DESTDIR= prefix=)
#?   patches-export         DIR=: one series for git am that needs nothing else of this repository;
#?                          KERNEL=: for that kernel
#?   deb                    Debian packages in $(O)/packages; CONFIG=/boot/config-... under ours
#?
#? Run ($(O)/lab run -- COMMAND returns the exit status of the command, make cannot)
#?   run                    boot to a shell; CMD='...' runs that; DRY=1 prints the QEMU command
#?   bench                  run all experiments, go on where it ended; BUDGET=30m ends it then; or
#?                          EXP=ipc livelock lottery udp wrais; QUICK=1 short; REPEAT=2 compares two
#?   trace                  record lottery wrais livelock (EXP=), draw who waits for whom
#?   report figures compare plots and one page of the results; tables of documents; A=dir B=dir
#?
#? Test (TESTS='name or name' selects; TIER=long: with what the gate leaves out)
#?   test-fast test-long    what needs no kernel; all, with bounds in real time (hours; PART=)
#?   ci-last                what the last run of .ci/run found
#?   test-crash             10,000 states that a crash can leave a file system in
#?   test-debug kunit       each part once on the debug kernel; unit tests in the kernel
#?   test-mutants           plant faults: does each test notice its own? MUTANTS=name: only those
#?   test-matrix            the class in other kernels: MATRIX=name only those (builds a kernel for each)
#?   test-torture           10^6 random operations; RCU, locks beside hogs (builds a kernel)
#?   test-packages          install them, boot that disk, use, remove (root; 30 min with the build)
#?   check check-series     checkpatch, sparse ... (CHECKS=); build after each patch of the series
#?   check-bases            that, and does the series apply to each 6.12.y that Debian offers?
#?   htmldocs               Documentation/ as pages, $(O)/htmldocs
#?
#? For others, and cleaning
#?   lava-job kcidb         a job for LAVA (EXP= REPO=https://...); results of test (ORIGIN=)
#?   tags compile_commands.json  for editors, below $(O)
#?   clean mrproper         remove what was built, keep sources, image, environment; all of it
#?   O=build  where everything generated goes     V=1    show the commands
#?   KERNEL=  directory or tarball of a 6.12.y    LLVM=1 clang instead of gcc
#?   ARCH=    x86_64 or arm64: the guest's, below build-$(ARCH) if it is not this machine's
#? The guest of run, an example of each: CPUS=4 MEM=2048 PORTS=1 GDB=1 (waits at port 1234)
#?   ACCEL=icount:8ns  8 ns an instruction; tcg, kvm  SHARE=.   a directory of yours as /share
#?   DISK=flash        at /mnt; or seek, cloud,xfs    NET=user  your loopback as 10.0.2.2

python3:
	@command -v python3 >/dev/null || if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "lab: installing missing packages: python3" >&2; \
		apt-get -qq update && apt-get -qq install --no-install-recommends python3 >/dev/null; \
	else echo "lab: python3 is missing: install it, with make and git" >&2; exit 2; fi

deps: need-all
need-%: python3
	@$(lab) deps $(source) $(subst +, ,$*)
prepare: need-$(kernel)
	@$(lab) prepare $(source)
menuconfig: need-$(kernel)+menuconfig
# unchanged: what is tested and measured is configured as configs/ says
$(set): prepare
	@$(lab) config $(firstword $(subst -, ,$@)) --kernel $(variant) $(llvm)

all: $(needs) $(guest)
kernel modules files: config
	@$(lab) kernel $(filter-out kernel,$@) $(build)
$(kind:%=kernel-%): kernel-%: config-%
	@$(lab) kernel --kernel $* $(build)
userland install: need-userland
	@$(MAKE) --no-print-directory $(if $(V),,-s) -j$(shell nproc) -C userland O=$(O) $(filter install,$@)
rootfs: need-image
	@$(lab) rootfs
# The source is unpacked while packages of Python are fetched: one waits for a CPU, one for the net.
beside:
	@$(MAKE_COMMAND) -s --no-print-directory $(O)/venv/lock userland & $(lab) prepare $(source); made=$$?; wait $$! && exit $$made
tags: need-$(kernel)+tags
tags compile_commands.json: kernel
	@$(lab) kernel $@ $(llvm)
patches-export: $(if $(KERNEL),prepare,python3)
	@$(lab) export $(call quote,$(value DIR))
deb: need-packages+userland prepare
	@$(lab) deb $(call option,own,CONFIG) $(if $(V),--verbose)
# The lock names every file by its hash, so the environment follows from it alone.
$(O)/venv/lock: qemu/requirements.lock
	@$(lab) venv

run: $(if $(DRY),python3,$(needs)+emulator $(guest) $(if $(filter %xfs %btrfs %f2fs,$(DISK)),files))
	@$(lab) run $(if $(value CMD),--cmd "$$LAB_CMD") $(if $(DRY),--dry-run)
test-fast: need-check $(filter-out unchanged kernel,$(tested)) prepare
	@$(vlab) check $(static) --beside env LAB_KERNEL=guest $(pytest) -n auto --dist loadfile qemu/tests/host qemu/subjects
test: $(tested)
	@LAB_KERNEL=guest $(pytest) $(addprefix qemu/tests/,guest $(if $(foreign),,kernel test_mutants.py))
test-long: $(tested) files unchanged-debug kernel-debug
	@$(vlab) long $(PART)
ci-last: python3
	@$(lab) ledger show
test-packages: need-image+emulator+disk $(O)/venv/lock deb
	@$(pytest) qemu/tests/packages
test-crash: TIER := long
test-crash: $(tested) files
	@LAB_KERNEL=guest LAB_CRASH_STATES=3180 $(call pytest,crash) qemu/tests/guest
test-debug test-torture: test-%: $(filter-out unchanged kernel,$(tested)) unchanged-% kernel-%
	@LAB_KERNEL=$* $(if $(filter debug,$*),LAB_SHORT=1) $(pytest) qemu/tests/guest
test-matrix: need-matrix prepare $(filter-out unchanged kernel,$(tested))
	@$(vlab) matrix $(build) $(only) $(foreach name,$(value MATRIX),$(call quote,$(name)))
test-mutants: $(tested) files
	@$(vlab) mutants $(foreach name,$(value MUTANTS),$(call quote,$(name)))
kunit: $(tested)
	@LAB_KERNEL=guest $(call pytest,kunit) qemu/tests/guest
check: need-$(kernel)+check+userland $(O)/venv/lock kernel userland
	@$(vlab) check $(CHECKS)
check-series: kernel
	@$(lab) series
check-bases: check-series
	@$(lab) bases
htmldocs: need-htmldocs prepare
	@$(lab) check htmldocs
bench: $(tested) $(if $(filter-out wrais,$(EXP)),,files) $(if $(QUICK)$(filter-out wrais livelock,$(EXP)),,kernel-plain)
	@$(vlab) bench $(exp) $(if $(QUICK),--quick) $(call option,repeat,REPEAT) $(call option,budget,BUDGET)
report figures compare: need-report $(O)/venv/lock
	@$(vlab) $@ $(if $(filter compare,$@),$(call quote,$(value A)) $(call quote,$(value B)),$(exp))
demo: need-$(kernel)+userland+emulator+python+peers+report beside unchanged userland $(O)/venv/lock
	@$(lab) kernel demo $(build)
	@$(vlab) demo
trace: $(tested)
	@$(vlab) trace $(exp)
lava-job: $(O)/venv/lock
	@$(vlab) lava $(exp) $(if $(QUICK),--quick) $(call option,repository,REPO)
kcidb: $(O)/venv/lock
	@$(vlab) kcidb $(call option,origin,ORIGIN)
clean mrproper:
	@python3 -B -m lab clean $(if $(filter mrproper,$@),--all)
