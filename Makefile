# Targets of this project. `make` without arguments lists the targets. A target that needs more than a line runs a script in make/.

CARGO   ?= cargo
PREFIX  ?= /usr/local
LIBDIR  ?= lib
DESTDIR ?=
export CARGO PREFIX LIBDIR DESTDIR

# The scripts check the version of bash themselves (make/common.sh).
ifeq ($(shell command -v bash 2>/dev/null),)
$(error bash 4.4 or newer is needed: the scripts in make/ are written for it)
endif

.DEFAULT_GOAL := help
.PHONY: help setup registry fixtures generate check-generated bump build install uninstall run test peer figures clean
.PHONY: bench bench-limits check clients differential test-catalogue documents fuzz mutants quick soak test-targets test-windows

help:             ## print this list
	@sed -n 's/^\([a-z-]*\): .*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r verb text; \
	    do printf '  make %-16s %s\n' "$$verb" "$$text"; done

setup:            ## install the packages that the other verbs need, or list the missing packages
	@make/setup.sh test

registry:         ## fetch the pinned vk.xml and video.xml, or take VK_XML=/some/vk.xml
	@make/registry.sh

fixtures:         ## fetch the other headers that the generator's tests read
	@registry/fetch.sh --fixtures

generate:         ## write registry/snapshot/ from the XML (if fetched), and generated/ from the snapshot
	@make/generate.sh

check-generated:  ## fail if generated/ or the snapshot is not the output of the inputs
	@make/generate.sh check

bump:             ## move to another header: make bump VERSION=1.4.N
	@make/bump.sh $(VERSION)

build:            ## build the release library, vkloader and the driver service; needs cargo and a linker only
	@make/build.sh

install:          ## install the library, its programs, their pages and units below DESTDIR/PREFIX: LIBMODE=755, ZSHDIR=..., LIBRARY_ONLY=yes, UNITS=no, CATALOGUE=no
	@make/install.sh install

.PHONY: install-32
install-32:       ## install vkloader of a 32-bit build for the 64-bit vkloader: CARGO_BUILD_TARGET as for make build
	@make/install.sh install-32

.PHONY: framework ios-framework
framework:        ## install the library as vulkan.framework of macOS; ios-framework for iOS
	@make/install.sh framework

ios-framework:
	@make/install.sh ios-framework

uninstall:        ## remove the installed files
	@make/install.sh uninstall

.PHONY: dist dist-windows single deb rpm reproducible test-system test-single test-service test-aside
dist:             ## write the source archive, which builds without a network; the same commit results in the same bytes
	@make/package.sh dist

dist-windows:     ## write a zip for Windows x86-64: the library, symbols, import libraries
	@make/dist-windows.sh

single:           ## write vkloader as one file for x86-64 systems with glibc 2.31 or musl
	@make/single.sh

deb:              ## build packages for Debian from that archive, without a network: REVISION=2, VKL_PROVIDES="1.3.239.0-1"
	@make/package.sh deb

rpm:              ## build packages for Fedora
	@make/package.sh rpm

reproducible:     ## build and pack twice, in other folders, times and languages, and compare the bytes
	@tests/reproducible.sh

test-system:      ## install the packages in a whole Debian 12 in place of its loader, and go back
	@tests/system/run.sh

test-single:      ## try that file in roots of Debian and Ubuntu, with musl, and in a sandbox: SYSTEMS="sid musl" for some
	@tests/single.sh $(SYSTEMS)

test-service:     ## try the driver service with a driver of one Debian in a sandbox of another: PAIRS="sid-bookworm" for some
	@tests/between.sh $(PAIRS)

test-aside:       ## try a library that passes its calls to the system's library, in a tree like an AppImage in roots of Debian: SYSTEMS="bullseye sid" for some
	@tests/aside.sh $(SYSTEMS)

run:              ## build the library, and run a Vulkan program on it
	@make/run.sh

test:             ## run all tests: style, generator, behaviour, ABI, real programs, install; STAGES="unit real" for some
	@make/test.sh $(STAGES)

check:            ## run the tests for packagers, which need neither root nor network, and skip tests that this machine cannot run
	@make/test.sh check

quick:            ## run style checks and the fast cases of loader/, in a minute
	@make/test.sh quick

documents:        ## write the tables of docs/ from the sources, and target/MATRIX.md with the cases of each promise
	@$(CARGO) run --locked --quiet -p xtask -- documents

fuzz:             ## fuzz with AddressSanitizer, a minute for each target: SECONDS_EACH=600 for ten
	@tests/fuzz/run.sh $(or $(SECONDS_EACH),60)

soak:             ## create instances and devices on many threads with real layers: MINUTES=10 for ten, ONLY="8 threads" for some
	@make/runs.sh soak $(or $(MINUTES),"") $(ONLY)

mutants:          ## change one line of loader/ N=100 times, and check that a case fails: SEED=1, FIRST=51 in the list, FILES="wsi gate", JOBS=2 at a time (0 prints the list)
	@make/mutants.sh $(or $(N),20) $(or $(SEED),1) $(or $(FIRST),1) $(or $(JOBS),2) $(FILES)

peer:             ## run the behaviour cases on a Khronos loader: PEER=/a/library, PEER=sid, or the loader of the system
	@make/runs.sh peer

differential:     ## compare everything that drivers, layers and programs see with a Khronos loader: PEER as for peer, or sid
	@make/runs.sh differential $(SCENES)

test-catalogue:   ## run all behaviour cases with a valid and a wrong driver catalogue, and with closed drivers: CASES="app layers" for some
	@make/runs.sh catalogue $(CASES)

clients:          ## run real programs under both loaders and compare: PEER as for peer, CLIENTS="mpv Qt" for some
	@make/runs.sh clients $(CLIENTS)

test-windows:     ## build vulkan-1.dll, and run C programs and the behaviour cases under Wine
	@tests/windows/release.sh
	@tests/windows/programs.sh
	@tests/windows/cases.sh
	@tests/windows/msvc.sh
	@tests/windows/cases.sh i686

test-targets:     ## build for other processors and systems, and run what can run here
	@status=0; for script in tests/targets/run.sh tests/targets/systems.sh tests/targets/macos.sh; do [ ! -x $$script ] || $$script || status=1; done; exit $$status

figures:          ## measure the library beside the system's loader
	@tests/bench/run.sh figures

bench:            ## measure all costs beside another loader: QUICK=1 for a few, PEER as for peer
	@tests/bench/run.sh $(if $(QUICK),quick)

bench-limits:     ## write the current instruction counts as the limits of make test
	@tests/bench/run.sh limits

clean:            ## remove all built and fetched files
	@bash -c '. make/common.sh && $$CARGO clean --quiet && rm -rf "$$TARGET" registry/input'
