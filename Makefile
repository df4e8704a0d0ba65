# The verbs of this project; `make` alone lists them. What takes more than a line lives in make/.

CARGO   ?= cargo
PREFIX  ?= /usr/local
LIBDIR  ?= lib
DESTDIR ?=
export CARGO PREFIX LIBDIR DESTDIR

# The scripts look at its version themselves (make/common.sh).
ifeq ($(shell command -v bash 2>/dev/null),)
$(error bash 4.4 or newer is needed: the scripts in make/ are written for it)
endif

.DEFAULT_GOAL := help
.PHONY: help setup registry fixtures generate check-generated bump build install uninstall run test peer figures clean
.PHONY: bench bench-limits check clients differential test-catalogue documents fuzz mutants quick soak test-targets test-windows

help:             ## this list
	@sed -n 's/^\([a-z-]*\): .*## /\1\t/p' Makefile | while IFS="$$(printf '\t')" read -r verb text; \
	    do printf '  make %-16s %s\n' "$$verb" "$$text"; done

setup:            ## install what the other verbs need, or name what is missing
	@make/setup.sh test

registry:         ## fetch the pinned vk.xml and video.xml, or take VK_XML=/some/vk.xml
	@make/registry.sh

fixtures:         ## fetch the other headers that the generator's tests read
	@registry/fetch.sh --fixtures

generate:         ## XML (if fetched) to registry/snapshot/, snapshot to generated/
	@make/generate.sh

check-generated:  ## fail if generated/ or the snapshot is not what the inputs give
	@make/generate.sh check

bump:             ## move to another header: make bump VERSION=1.4.N
	@make/bump.sh $(VERSION)

build:            ## the release library, the program vkloader and the driver service; needs cargo and a linker only
	@make/build.sh

install:          ## copy the library, its programs, their pages and package files to DESTDIR/PREFIX/LIBDIR: LIBMODE=755, ZSHDIR=..., UNITS=no, CATALOGUE=no
	@make/install.sh install

.PHONY: install-32
install-32:       ## vkloader of a build for 32 bits, for the one of 64 bits: CARGO_BUILD_TARGET as for make build
	@make/install.sh install-32

.PHONY: framework ios-framework
framework:        ## on macOS: the library as vulkan.framework; ios-framework as iOS wants it
	@make/install.sh framework

ios-framework:
	@make/install.sh ios-framework

uninstall:        ## remove what install copied
	@make/install.sh uninstall

.PHONY: dist dist-windows deb rpm reproducible test-system
dist:             ## the source archive: it builds without a network, and the same commit gives the same bytes
	@make/package.sh dist

dist-windows:     ## for Windows x86-64: the library, the names of its functions, import libraries, as a zip
	@make/dist-windows.sh

deb:              ## packages for Debian from that archive, built without a network: REVISION=2, VKL_PROVIDES="1.3.239.0-1"
	@make/package.sh deb

rpm:              ## the same for Fedora
	@make/package.sh rpm

reproducible:     ## build and pack twice, in other folders, times and languages: are they the same bytes?
	@tests/reproducible.sh

test-system:      ## the packages in a whole Debian 12, installed in place of its loader, and that again in place of them
	@tests/system/run.sh

run:              ## build the library, and run a Vulkan program on it
	@make/run.sh

test:             ## everything: style, generator, behaviour, ABI, real programs, install; STAGES="unit real" for some
	@make/test.sh $(STAGES)

check:            ## the tests for packagers: they need neither root nor network, and skip what the machine lacks
	@make/test.sh check

quick:            ## style and the fast cases of loader/, in two minutes: while you work
	@make/test.sh quick

documents:        ## write the tables of docs/ from the sources, and target/MATRIX.md: what is promised, and what shows it
	@$(CARGO) run --locked --quiet -p xtask -- documents

fuzz:             ## fuzz with AddressSanitizer, a minute for each target: SECONDS_EACH=600 for ten
	@tests/fuzz/run.sh $(or $(SECONDS_EACH),60)

soak:             ## instances and devices on many threads with real layers: MINUTES=10 for ten, ONLY="8 threads" for some
	@make/runs.sh soak $(or $(MINUTES),"") $(ONLY)

mutants:          ## does a case notice: change one line of loader/ N=100 times, SEED=1, FIRST=51 in the list, FILES="wsi gate", JOBS=2 at a time
	@make/mutants.sh $(or $(N),20) $(or $(SEED),1) $(or $(FIRST),1) $(or $(JOBS),2) $(FILES)

peer:             ## the behaviour tests on a Khronos loader: PEER=/a/library, PEER=sid, or the system's own
	@make/runs.sh peer

differential:     ## all that drivers, layers and programs see, beside a Khronos loader: PEER as for peer, or sid
	@make/runs.sh differential $(SCENES)

test-catalogue:   ## all behaviour cases with a driver catalogue in place, a current one and one that lies: CASES="app layers" for some
	@make/runs.sh catalogue $(CASES)

clients:          ## real programs under both loaders, compared: PEER as for peer, CLIENTS="mpv Qt" for some
	@make/runs.sh clients $(CLIENTS)

test-windows:     ## vulkan-1.dll: build it, and run C programs and all behaviour cases for it under Wine
	@make/windows.sh
	@make/windows-programs.sh
	@make/windows-cases.sh
	@make/windows-msvc.sh
	@make/windows-cases.sh i686

test-targets:     ## other processors under Linux, and systems that are not at hand: what can be built or run of them
	@status=0; for script in make/targets.sh make/systems.sh; do [ ! -x $$script ] || $$script || status=1; done; exit $$status

figures:          ## measure the library beside the system's own one
	@tests/bench/run.sh figures

bench:            ## all costs beside another loader's: QUICK=1 for a few, PEER as for peer
	@tests/bench/run.sh $(if $(QUICK),quick)

bench-limits:     ## take today's instruction counts as the limits of make test
	@tests/bench/run.sh limits

clean:            ## remove everything that was built or fetched
	@bash -c '. make/common.sh && $$CARGO clean --quiet && rm -rf "$$TARGET" registry/input'
