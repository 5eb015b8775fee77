# SPDX-License-Identifier: Apache-2.0
# Builds librlock and the rlock command under build/, tests and installs them.
#
#   make CC=clang            another compiler
#   make B=/tmp/x            another build folder
#   make SAN=address test    under a sanitizer: address (and undefined), thread, or undefined alone
#   make V=1                 shows each command
#   make test ARGS='--filter lock/*'   further arguments for the test programs
#   make test SUITES='unit virtual'    these suites, beside each other where that spares time
#   make hostile TIME=600 SEED=42      seconds for each test of a hostile server (5), and the seed that one has printed

CC      ?= cc
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=
SAN     ?=
ARGS    ?=
SUITES  :=
TIME    :=
SEED    :=
B       := build$(SAN:%=/san-%)

comma := ,

# $(call quote,text): as one word of the shell, whatever is in it.
quote = '$(subst ','\'',$1)'

# The build folder's name is part of targets, which make splits and expands.
odd := $(strip $(foreach c,' " ` $$ \# : % ; & | * ? ~ \ < > [ ] ( ),$(findstring $c,$(B))))
ifneq ($(words [$(B)])$(odd),1)
  $(error B must be a folder without spaces$(if $(odd), and $(odd)) in its path, as make cannot build in such a one: "$(B)")
endif
ifeq ($(B),)
  $(error B must name the folder to build in, such as B=build: it is empty)
endif
# One spelling of it: what depends on which header is noted by it.
override B := $(patsubst $(CURDIR)/%,%,$(B))

version := $(shell sed -n 's/^\#define RLOCK_VERSION *"\(.*\)"/\1/p' include/rlock/version.h)
major   := $(firstword $(subst ., ,$(version)))
soname  := librlock.so.$(major)
module  := librlock-tls.so.$(major)

WARN     := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
CFLAGS   ?= -O2 -g
# What is built does not depend on the folder that it is built in.
BASE     := -ffile-prefix-map=$(call quote,$(CURDIR))=. -std=c11 -D_GNU_SOURCE -Iinclude -I. -Isrc $(WARN) -pthread -MMD -MP
SHARED   := -lhiredis -lyaml -luuid -ldl -lpthread
LIBS     := $(SHARED) -lssl -lcrypto
NO_HOLES := -Wl,--no-undefined
# Never unloaded, since threads may be in it. Bound when it is loaded, to its own functions without a detour: nothing
# stays writable for it, and it is smaller.
LOADED   := -Wl,-z,nodelete -Wl,-z,now -Wl,-Bsymbolic-functions

# Each exported function has the version of the library in which it came. (Sanitizers have symbols of their own.)
VERSIONS := $(if $(SAN),,-Wl$(comma)--version-script=packaging/librlock.map)

ifneq ($(SAN),)
  ifeq ($(filter $(SAN),address thread undefined),)
    $(error SAN is one of address, thread, undefined)
  endif
  # The two go together, and cost little more than the first alone.
  checks   := $(SAN:address=address,undefined)
  BASE     += -DRLI_CHECKED -fsanitize=$(checks) -fno-sanitize-recover=all -fno-omit-frame-pointer
  LDFLAGS  += -fsanitize=$(checks)
  NO_HOLES :=
endif

# $(call say,what): the line that stands for a command, which V=1 shows instead.
V   ?=
Q   := $(if $(V),,@)
say  = $(if $(V),,@printf '  %-5s %s\n' $1 '$(@:$(B)/%=%)')
ifneq ($(filter demo demo-picture,$(MAKECMDGOALS)),)
  say = $(if $(V),,@[ -e $(B)/.said ] || { mkdir -p $(B) && touch $(B)/.said && echo 'Building librlock and the demo…'; })
  $(shell rm -f $(B)/.said)
endif

lib_src  := $(filter-out src/cli/% src/net/tls_module/%,$(shell find src watchdog -name '*.c'))
cli_src  := $(wildcard src/cli/*.c)
lua_src  := $(shell find lua -name '*.lua' | sort)
lib_obj  := $(lib_src:%.c=$(B)/%.o) $(B)/lua/scripts.o
cli_obj  := $(cli_src:%.c=$(B)/%.o) $(patsubst %,$(B)/src/base/%.o,clock host_port utf8)
tls_obj  := $(filter $(B)/src/net/tls%,$(lib_obj))

.PHONY: all
all: $(B)/librlock.a $(B)/$(soname) $(B)/$(module) $(B)/rlock $(B)/man/made ## builds the library, the command and the manual (the default)

# --- What a machine needs ---

.PHONY: deps deps-build deps-test deps-limits deps-interop deps-bench deps-peers deps-site deps-deb
deps: deps-build deps-test deps-limits deps-interop ## installs what is missing to build and test (Debian packages); deps-build: to build and install alone
# Who builds or installs the library is told what is missing; who tests it or sees the demo has it installed.
deps-build deps-test deps-limits deps-interop deps-bench deps-peers deps-site deps-deb: deps-%:
	@sh tests/support/deps.sh $* $(B)/bin $(if $(filter-out all install uninstall $(B)/%,$(MAKECMDGOALS)),,check)
deps-test: | deps-build
deps-interop: | deps-test
deps-bench: | deps-interop
deps-peers: | deps-bench
deps-deb: | deps-build
export PATH := $(PATH):$(abspath $(B))/bin

# --- The library and the command ---

# What runs once a client or a connection is made small, not fast.
$(B)/src/config/%.o $(B)/src/locks/inspect/%.o $(B)/src/net/tls%.o $(B)/src/net/tls_module/%.o: SMALL := -Os

$(B)/%.o: %.c | deps-build
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(BASE) $(CFLAGS) $(SMALL) -fPIC -fvisibility=hidden -c -o $@ $<

# A script may be longer than the 4095 characters that every compiler has to take.
$(B)/lua/scripts.o: $(B)/lua/scripts.c | deps-build
	$(call say,CC)
	$(Q)$(CC) $(BASE) -Wno-overlength-strings $(CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(B)/lua/scripts.c: lua/embed.sh $(lua_src) $(wildcard lua/*/*.inc)
	@mkdir -p $(@D)
	$(call say,EMBED)
	$(Q)sh lua/embed.sh $(lua_src) > $@.new && mv $@.new $@

$(B)/librlock.a: $(lib_obj)
	$(call say,AR)
	$(Q)rm -f $@ && ar rcs $@ $^

# The archive has TLS in it, the shared library loads it from a module (src/net/tls_module/module.h).
$(B)/$(soname): $(filter-out $(tls_obj),$(lib_obj)) $(B)/src/net/tls_module/load.o packaging/librlock.map
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(soname) $(LOADED) $(VERSIONS) $(NO_HOLES) -o $@ $(filter %.o,$^) $(SHARED)
	$(Q)ln -sf $(soname) $(B)/librlock.so

$(B)/$(module): $(tls_obj) $(B)/src/net/tls_module/module.o
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,$(module) $(LOADED) $(NO_HOLES) -o $@ $^ $(LIBS)

RPATH := -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib'
# It starts sooner with the shared library, which is beside it here, and in lib beside bin where it is installed.
$(B)/rlock: $(cli_obj) $(B)/$(soname)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(RPATH) -o $@ $(cli_obj) -L$(B) -lrlock -lpthread

# --- Tests: one program a suite, made of tests/<suite>/*.c and what helps them ---

suites     := unit integration topology fault model simserver stress interop hostile
# The tests of two suites run in virtual time, against the model of a server (make virtual), as far as that goes: the command,
# TLS and processes are of the real world.
real_only    := $(addprefix tests/integration/,acl_test.c command_% inspect_process_test.c keep_alive_test.c refused_script_test.c \
    secret_test.c tls_%) \
    $(addprefix tests/fault/,asking_test.c async_% command_test.c cut_asking_test.c fork_test.c fronts_test.c handler_test.c limits_test.c \
    real_server_test.c search_test.c subscriber_test.c tls_test.c)
# These are about time and about faults at their moment, and run nowhere else. But those about faults do so under the thread
# sanitizer, which sees no races where one thread runs at a time.
virtual_only := $(addprefix tests/integration/,$(addsuffix _test.c,any_wait call_options callback ended_kinds hand_over idle lost lost_kinds \
    non_reentrant permit_renewal read_under_write read_write_lease read_write_odd read_write_renewal renewal signal_leave spin stall thread_exit watchdog \
    wrong_kind)) $(filter-out $(real_only) tests/fault/proxy_test.c,$(wildcard tests/fault/*_test.c))
ifeq ($(SAN),thread)
  virtual_only := $(filter-out tests/fault/%,$(virtual_only))
endif
# These are about the manual, what is installed and the tests' own helpers: a sanitizer sees nothing new there.
plain_only   := $(addprefix tests/unit/,$(addsuffix _test.c,certificates cluster fixture install install_path manual sentinel))
# The thread sanitizer sees nothing new in these either: one thread does the work, or a program whose threads are the library's.
ifeq ($(SAN),thread)
  plain_only += $(addprefix tests/unit/,limits_test.c yaml_test.c) \
    $(addprefix tests/integration/,acl_test.c command_% input_test.c refused_script_test.c tls_trust_test.c)
endif
# Under a sanitizer many readers show no more than a few do, and take a tenth of the time of all these tests.
virtual_test := $(filter-out $(real_only) $(if $(SAN),tests/integration/tracking_many_test.c),$(wildcard tests/integration/*_test.c tests/fault/*_test.c))
# What helps them is in one archive, so a suite may use what another has.
helper_src := $(filter-out tests/simserver/support/clock_shim.c,$(wildcard tests/support/*.c $(suites:%=tests/%/support/*.c)))
helper_obj := $(patsubst %.c,$(B)/%.o,$(helper_src))
suite_obj   = $(patsubst %.c,$(B)/%.o,$(filter-out $(virtual_only) $(if $(SAN),$(plain_only)),$(wildcard tests/$1/*.c)))
have       := $(foreach s,$(suites),$(if $(wildcard tests/$s/*.c),$s))
# Interop is about two implementations, not about memory; the JVM would only slow it down.
tested     := $(if $(SAN),$(filter unit integration topology fault model simserver hostile,$(have)),$(have))
tested     += $(if $(filter thread,$(SAN)),,virtual) # there, one thread runs at a time
tested     += $(if $(ARGS),,sim)
ifneq ($(SUITES),)
  tested   := $(SUITES)
endif

# Tests run once, and are more code than all else. Without optimization they take half of the time to compile. Not so what
# searches or measures.
test_cflags = $(patsubst -O1,-O0,$(CFLAGS:-O2=-O0))
$(B)/tests/sim/%.o $(B)/tests/bench/%.o: test_cflags = $(CFLAGS)

$(B)/tests/%.o: tests/%.c | deps-test
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(BASE) $(test_cflags) -c -o $@ $<

$(B)/tests/support.a: $(helper_obj)
	$(call say,AR)
	$(Q)rm -f $@ && ar qcs $@ $^

# The model of a server, for the simulation; and what makes a real one's clock stand still, which is loaded before all else.
model_obj := $(patsubst %.c,$(B)/%.o,$(wildcard tests/sim/server/*.c)) $(B)/tests/sim/server/script_names.o
$(B)/tests/sim/server.a: $(model_obj)
	$(call say,AR)
	$(Q)rm -f $@ && ar qcs $@ $^

$(B)/tests/sim/server/script_names.c: $(lua_src)
	@mkdir -p $(@D)
	$(Q){ echo '#include "tests/sim/server/script_names.h"'; echo 'const char *const script_names[] = {'; \
	    printf '    "%s",\n' $(lua_src:lua/%.lua=%); echo '    0,'; echo '};'; } > $@

$(B)/tests/sim/server/script_names.o: $(B)/tests/sim/server/script_names.c | deps-test
	$(call say,CC)
	$(Q)$(CC) $(BASE) $(CFLAGS) -c -o $@ $<

$(B)/tests/simserver/clock.so: tests/simserver/support/clock_shim.c | deps-test
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O2 -fPIC -shared -o $@ $<

$(B)/tests/simserver/run: model := $(B)/tests/sim/server.a
$(B)/tests/simserver/run: more_libs := -llua5.1 -lm
$(B)/tests/simserver/run: $(B)/tests/sim/server.a | $(B)/tests/simserver/clock.so

# What the command makes of a server's own words.
$(B)/tests/unit/run: $(patsubst %,$(B)/src/cli/%.o,checks message output)

# Allocations fail where a test says so (tests/support/memory.h).
$(B)/tests/fault/run: wraps := $(foreach f,malloc calloc realloc strdup,-Wl,--wrap=$f)

# Bound when they are loaded: each test, and each run of the simulation, is a fork, which would look up the same symbols again.
bound := -Wl,-z,now

define suite
$(B)/tests/$1/run: $(call suite_obj,$1) $(B)/tests/support.a $(B)/librlock.a
	$$(call say,LINK)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) $$(wraps) $$(bound) -o $$@ $$(filter %.o %/support.a,$$^) $$(model) $$(filter %/librlock.a,$$^) \
	    $$(more_libs) $$(LIBS)

.PHONY: $1
$1: all $(B)/tests/$1/run
	@$$(run_tests) $1
endef
$(foreach s,$(have),$(eval $(call suite,$s)))

# The build folder as an absolute path, for programs that work elsewhere. The path of this tree may have spaces.
there     := $(call quote,$(if $(filter /%,$(B)),$(B),$(CURDIR)/$(B)))
run_tests  = B=$(there) SAN='$(SAN)' CC=$(call quote,$(CC)) MAKE=$(call quote,$(MAKE)) ARGS=$(call quote,$(ARGS)) \
    HOSTILE_TIME=$(call quote,$(TIME)) HOSTILE_SEED=$(call quote,$(SEED)) sh tests/run

interop stress: | deps-interop
test: | $(if $(SAN),,deps-interop)

.PHONY: programs test valgrind
programs: all $(tested:%=$(B)/tests/%/run) ## builds all that make test runs

# What the sources look like is the same under each sanitizer.
test: $(if $(SAN),,layers limits) programs ## runs all tests; `make unit`, integration, topology, fault, virtual, model, simserver, stress, interop, hostile run one suite
	@$(if $(RUNS),SIM_RUNS=$(RUNS)) $(run_tests) $(tested)

# What the tests are made of, and the library as the simulation has it, are only looked through.
# Contestants of other products need headers that the rest does not; they are compiled when they are made ready.
looked_at := $(patsubst %.c,$(B)/%.looked,$(filter-out tests/bench/contestants/%/contestant.c,$(shell find tests -name '*.c')) $(filter-out src/net/tls%,$(lib_src)))
$(B)/%.looked: %.c | deps-test
	@mkdir -p $(@D)
	$(call say,LOOK)
	$(Q)$(CC) $(if $(filter tests/%,$<),,-include tests/sim/world/atomics.h -DRLI_CHECKED) $(BASE) $(CFLAGS) -MF $@.d -MT $@ -fsyntax-only $<
	$(Q)touch $@

.PHONY: warnings
warnings: all $(looked_at) ## builds the library and the command, and looks through all tests for warnings (CC=clang: sooner than programs)

.PHONY: test-stopped
test-stopped: ## all tests, while their processes and servers are stopped at random, for up to two seconds
	@STOPS=1 $(MAKE) --no-print-directory test ARGS=$(call quote,$(ARGS))

valgrind: all $(patsubst %,$(B)/tests/%/run,$(filter unit integration,$(have))) ## unit and integration tests under valgrind
	@VALGRIND=1 $(run_tests) $(filter unit integration,$(have))

.PHONY: matrix
matrix: all $(patsubst %,$(B)/tests/%/run,$(filter unit integration topology fault,$(have))) | deps-interop ## tests against each version of server and hiredis; ARGS=--all: all of them (docs/versions.md)
	@B=$(there) CC=$(call quote,$(CC)) MAKE=$(call quote,$(MAKE)) sh tests/matrix/run $(ARGS)

# --- The simulation: the library's own objects, with the operating system's functions renamed to the simulated ones ---

sim_src   := $(shell find tests/sim -name '*.c' -not -path 'tests/sim/server/*') tests/support/dice.c
sim_obj   := $(sim_src:%.c=$(B)/%.o)
sim_lib   := $(filter-out $(B)/src/net/tls% $(B)/src/cli/%,$(lib_obj))
sim_lib   := $(patsubst $(B)/%,$(B)/sim/%,$(sim_lib)) $(B)/sim/src/net/tls_module/load.o
sim       := $(B)/tests/sim/run
sim_world := $(patsubst %.c,$(B)/%.o,$(wildcard tests/sim/world/*.c))
lib_dirs   = $(shell $(CC) -print-file-name=libhiredis.a) $(shell $(CC) -print-file-name=libuuid.a)

$(B)/sim/%.o: %.c | deps-test
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -include tests/sim/world/atomics.h -DRLI_CHECKED $(BASE) $(CFLAGS) -c -MF $(@:.o=.d) -MT $@ -o $@.first $<
	$(Q)objcopy --redefine-syms=tests/sim/world/renamed $@.first $@ && rm -f $@.first

$(B)/sim/lua/scripts.o: $(B)/lua/scripts.o
	@mkdir -p $(@D)
	$(Q)cp $< $@

$(B)/sim/%.a: | deps-test
	@mkdir -p $(@D)
	$(Q)objcopy --redefine-syms=tests/sim/world/renamed $(filter %/$(@F),$(lib_dirs)) $@

$(sim): $(sim_obj) $(B)/tests/sim/server.a $(sim_lib) $(B)/sim/libhiredis.a $(B)/sim/libuuid.a
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(bound) -o $@ $^ -lyaml -ldl -llua5.1 -lm -lpthread

.PHONY: sim
sim: $(sim) ## searches random interleavings and faults for TIME seconds; RUNS=N: the N first seeds; SEED=… repeats a run, PLAN=… that of a file
	@$(if $(PLAN)$(SEED),$(sim) $(if $(PLAN),--plan $(call quote,$(PLAN)),--seed $(SEED)),SIM_TIME=$(if $(RUNS),,$(or $(TIME),60)) SIM_RUNS=$(RUNS) $(run_tests) sim)

.PHONY: format
format: ## lays out the code as .clang-format says; needs clang-format (apt-get install clang-format)
	@command -v clang-format >/dev/null || { echo 'make format needs clang-format: apt-get install clang-format' >&2; exit 1; }
	$(Q)find src watchdog include -name '*.[ch]' -exec clang-format -i {} +

# --- The documentation as a web site (docs/site) ---

.PHONY: site
site: | deps-site ## makes the documentation, with the reference of all functions, as a web site in build/site
	$(Q)mkdir -p $(B)/site.d
	$(Q)/usr/bin/python3 docs/site/stage $(B)/site.d
	$(Q)cd $(B)/site.d && mkdocs build --strict --quiet --site-dir ../site
	@sh tests/support/site-links $(B)/site
	@echo "The site begins with $(B)/site/index.html"

.PHONY: layers
layers: ## looks whether all includes point down, docs/internals/map.md names all files, and links, messages and names of the docs are right
	@sh tests/support/layers
	@sh tests/support/map
	@sh tests/support/links
	@sh tests/support/messages
	@sh tests/support/names

.PHONY: limits
limits: | deps-limits ## looks whether all files and functions are small enough
	@sh tests/support/limits

# --- The way of one uncontended rlock_lock ---

path_run := $(B)/tests/path/run
$(B)/path/%.o: %.c | deps-test
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(BASE) $(CFLAGS) -O1 -g -finstrument-functions -fno-pie -c -o $@ $<

$(path_run): tests/path/main.c $(lib_src:%.c=$(B)/path/%.o) $(B)/lua/scripts.o | deps-test
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(BASE) $(CFLAGS) -O1 -g -no-pie -Wl,--wrap=pthread_mutex_lock,--wrap=send -o $@ $(filter-out %.h,$^) $(LIBS)

.PHONY: path
path: $(path_run) ## through which files an uncontended rlock_lock goes, and which mutexes it takes, up to its request
	@B=$(there) sh tests/path/run

.PHONY: sim-coverage
sim-coverage: ## how much of the library a search of TIME seconds runs: lines, and branches that went either way
	$(Q)$(MAKE) --no-print-directory B=$(call quote,$(B)/coverage) CFLAGS='-O1 -g --coverage' LDFLAGS=-Wl,-u,__gcov_dump $(B)/coverage/tests/sim/run
	@B=$(call quote,$(B)/coverage) TIME=$(or $(TIME),60) JOBS=$(or $(JOBS),$(shell nproc)) sh tests/sim/coverage

.PHONY: sim-mutants
sim-mutants: $(sim) ## plants the defects of tests/sim/mutants, and counts those that the simulation finds; ONLY="NN…", TIME, JOBS, RUNS
	@B=$(there) TIME=$(or $(TIME),60) JOBS=$(or $(JOBS),$(shell nproc)) RUNS=$(or $(RUNS),1) bash tests/sim/mutants/run $(ONLY)

# --- The same tests in virtual time: their sources, with the simulated system in the place of the real one and the model
# --- in that of redis-server (docs/simulation.md) ---

# What tests/virtual/support has in its place.
replaced     := $(addprefix tests/,support/server_process.c support/test_process.c support/memory.c \
    support/beside.c integration/support/tasks.c integration/support/stopped.c \
    integration/support/disk.c)
# What deals with the real system in the name of the runner.
outside      := $(addprefix tests/support/,runner.c folder.c program.c shell.c)
virtual_help := $(wildcard $(addsuffix support/*.c,tests/ tests/integration/ tests/fault/ tests/virtual/))
virtual_src  := $(virtual_test) $(filter-out $(replaced),$(virtual_help))
virtual_obj   = $(patsubst %.c,$(B)/virtual/%.o,$1)
virtual      := $(B)/tests/virtual/run
in_world     := --redefine-syms=tests/sim/world/renamed

$(B)/virtual/%.o: %.c tests/sim/world/renamed | deps-test
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) -include tests/sim/world/atomics.h $(BASE) -DTEST_VIRTUAL $(test_cflags) -c -MF $(@:.o=.d) -MT $@ -o $@.first $<
	$(Q)objcopy $(in_world) $@.first $@ && rm -f $@.first

$(call virtual_obj,$(outside) $(wildcard tests/virtual/support/*.c)): in_world :=

$(B)/virtual/support.a: $(call virtual_obj,$(filter-out $(virtual_test),$(virtual_src)))
	$(call say,AR)
	$(Q)rm -f $@ && ar qcs $@ $^

# Of the model, nobody sees more than what its header has.
$(B)/virtual/model.o: $(B)/tests/sim/server.a
	$(call say,LINK)
	$(Q)ld -r --whole-archive -o $@.first $< && objcopy --wildcard --keep-global-symbol='sim_*' $@.first $@ && rm -f $@.first

$(virtual): $(call virtual_obj,$(virtual_test)) $(sim_world) $(B)/virtual/model.o $(B)/virtual/support.a $(sim_lib) \
    $(B)/sim/libhiredis.a $(B)/sim/libuuid.a
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) $(bound) -o $@ $^ -lyaml -ldl -llua5.1 -lm -lpthread

.PHONY: virtual
virtual: $(virtual) ## runs the same tests in virtual time, against the model of a server
	@$(run_tests) virtual

# --- The demo: plain programs ---

programs = $(patsubst %.c,$(B)/%,$(wildcard tests/$1/*.c))
define program
$(B)/tests/$1/%: $(B)/tests/$1/%.o $(patsubst %.c,$(B)/%.o,$(wildcard tests/$1/support/*.c)) $(B)/librlock.a
	$$(call say,LINK)
	$$(Q)$$(CC) $$(CFLAGS) $$(LDFLAGS) -o $$@ $$^ $$(LIBS)
endef
$(eval $(call program,demo))

# JAVA=1 installs a JDK, for the Java process that takes part; JAVA=0 leaves that out although there is a JDK.
.PHONY: demo demo-picture
demo: all $(call programs,demo) | deps-test $(if $(filter 1,$(JAVA)),deps-interop) ## shows in half a minute what goes wrong without a lock, and what a lock does; JAVA=1: with a Java process
	@B=$(there) JAVA='$(JAVA)' tests/demo/run

demo-picture: all $(call programs,demo) | deps-test ## runs the demo and draws its output as docs/demo.svg
	@B=$(there) JAVA='$(JAVA)' tests/demo/picture docs/demo.svg

# --- The benchmark: a driver, and the programs that it has work (tests/bench/contestants) ---

bench_obj    := $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/support/*.c tests/bench/contestants/support/*.c))
speed        := $(B)/tests/bench/speed
contestants  := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/contestants/*.c))
# Linked with librlock.so, as a user's programs are.
bench_shared := $(addprefix $(B)/tests/bench/contestants/,first_lock resident)

$(B)/tests/bench/support.a: $(bench_obj)
	$(call say,AR)
	$(Q)rm -f $@ && ar qcs $@ $^

$(speed): $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/rows/*.c))
$(speed) $(filter-out $(bench_shared),$(contestants)): %: %.o $(B)/tests/bench/support.a $(B)/librlock.a
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)

$(bench_shared): %: %.o $(B)/$(soname)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-rpath,'$$ORIGIN/../../..' -o $@ $< -L$(B) -lrlock -lpthread

.PHONY: bench
bench: all $(speed) $(contestants) | $(if $(PEERS),deps-peers,deps-bench) ## measures speed beside other products that lock; makes docs/benchmarks.md; PEERS=all: beside all of them
	@B=$(B) CC=$(call quote,$(CC)) PEERS=$(call quote,$(PEERS)) BENCH_ARGS=$(call quote,$(BENCH_ARGS)) tests/bench/run

# Made of what the tests are made of: clusters, sentinels, and Java's Redisson.
failover := $(B)/tests/bench/failover/measure
$(failover): $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/failover/*.c)) $(B)/tests/support.a $(B)/librlock.a
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

.PHONY: bench-failover
bench-failover: all $(failover) | deps-interop ## measures failovers and outages beside Java's Redisson, in some minutes; BENCH_RUNS=5 failovers of each kind
	@B=$(there) BENCH_RUNS='$(BENCH_RUNS)' ARGS=$(call quote,$(ARGS)) tests/bench/failover/run

loss := $(B)/tests/bench/loss/measure
$(loss): $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/loss/*.c) tests/bench/failover/figures.c) $(B)/tests/support.a $(B)/librlock.a
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

.PHONY: bench-loss
bench-loss: all $(loss) | deps-test ## measures how soon a lost lock is told to its holder, also after a failover, and what that costs, in some minutes; BENCH_RUNS=5 of each kind
	@PATH="$$PATH" BENCH_RUNS='$(BENCH_RUNS)' $(loss) -j1 --live

# --- Installing ---

# Words of the shell: PREFIX and DESTDIR may have spaces and quotes.
include_to := $(call quote,$(DESTDIR)$(PREFIX)/include/rlock)
lib_to     := $(call quote,$(DESTDIR)$(LIBDIR))
bin_to     := $(call quote,$(DESTDIR)$(PREFIX)/bin)
man_to     := $(call quote,$(DESTDIR)$(PREFIX)/share/man)
bash_to    := $(call quote,$(DESTDIR)$(PREFIX)/share/bash-completion/completions)
zsh_to     := $(call quote,$(DESTDIR)$(PREFIX)/share/zsh/site-functions)
doc_to     := $(call quote,$(DESTDIR)$(PREFIX)/share/doc/rlock)
fish_to    := $(call quote,$(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d)
headers    := $(wildcard include/rlock/*.h)
man_pages  := $(wildcard docs/man/*.1 docs/man/*.3)
cmake_to   := $(call quote,$(DESTDIR)$(LIBDIR)/cmake/rlock)
prefix_to  := $(call quote,$(DESTDIR)$(PREFIX))
share_to   := $(call quote,$(DESTDIR)$(PREFIX)/share)
cmakes_to  := $(call quote,$(DESTDIR)$(LIBDIR)/cmake)

# A page for each function, made from the headers; its date is that of the last version in CHANGELOG.md, or else of the package.
made_pages := $(B)/man/made
$(made_pages): $(headers) packaging/man.awk CHANGELOG.md packaging/debian/changelog
	$(call say,MAN)
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)date=$$(sed -n 's/^## [0-9.]* *[^0-9]* *\([0-9-]*\)$$/\1/p' CHANGELOG.md | head -n 1); \
	    awk -v folder=$(@D) -v date="$${date:-$$(date -u -d "$$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog | head -n 1)" +%F)}" -v version=$(version) -f packaging/man.awk $(headers) >$(@D)/links
	$(Q)while read -r link page; do ln -s "$$page" $(@D)/"$$link" || exit; done <$(@D)/links && mv $(@D)/links $@

# rlock.pc names PREFIX, and programs are built in other folders than this one.
absolute_prefix = $(if $(PREFIX),$(if $(filter /%,$(firstword $(PREFIX))),,$(error PREFIX must be an absolute path, such \
    as /usr/local: "$(PREFIX)")))

.PHONY: install uninstall
install: all ## installs headers, libraries, command, manual, pages and completions under DESTDIR and PREFIX
	$(absolute_prefix)install -d $(include_to) $(lib_to)/pkgconfig $(cmake_to) $(bin_to) $(man_to)/man1 $(man_to)/man3 \
	    $(bash_to) $(zsh_to) $(fish_to)
	install -m 644 $(headers) $(include_to)
	install -m 644 $(B)/librlock.a $(B)/$(soname) $(B)/$(module) $(lib_to)
	ln -sf $(soname) $(lib_to)/librlock.so
	sh packaging/pc.sh $(call quote,$(PREFIX)) $(call quote,$(LIBDIR)) $(version) > $(lib_to)/pkgconfig/rlock.pc
	chmod 644 $(lib_to)/pkgconfig/rlock.pc
	install -m 644 packaging/rlockConfig.cmake $(cmake_to)
	sed 's/@VERSION@/$(version)/' packaging/rlockConfigVersion.cmake.in > $(cmake_to)/rlockConfigVersion.cmake
	chmod 644 $(cmake_to)/rlockConfigVersion.cmake
	install -m 755 $(B)/rlock $(bin_to)
	install -m 644 $(filter %.1,$(man_pages)) $(man_to)/man1
	cp -P $(B)/man/*.3 $(man_to)/man3 && chmod 644 $(man_to)/man3/rlock*.3
	install -m 644 $(filter %.3,$(man_pages)) $(man_to)/man3
	install -m 644 packaging/completions/rlock.bash $(bash_to)/rlock
	install -m 644 packaging/completions/_rlock $(zsh_to)
	install -m 644 packaging/completions/rlock.fish $(fish_to)
	umask 022 && sh packaging/docs.sh $(doc_to) $(call quote,$(PREFIX)/include) && cp -R docs/examples $(doc_to)
	$(if $(DESTDIR),,@sh packaging/loader.sh $(lib_to) $(soname))

# Folders that install makes, the inner ones first: removed if they are empty, but not those that every system has.
emptied = $(lib_to)/pkgconfig $(cmakes_to) $(lib_to) $(bin_to) $(prefix_to)/include $(man_to)/man1 $(man_to)/man3 $(man_to) \
    $(share_to)/doc $(bash_to) $(share_to)/bash-completion $(zsh_to) $(share_to)/zsh $(fish_to) $(share_to)/fish $(share_to) $(prefix_to)

uninstall: $(made_pages) ## removes what install put there
	$(absolute_prefix)rm -f $(addprefix $(include_to)/,$(notdir $(headers)))
	rm -f $(lib_to)/librlock.a $(lib_to)/$(soname) $(lib_to)/$(module) $(lib_to)/librlock.so $(lib_to)/pkgconfig/rlock.pc $(bin_to)/rlock
	rm -f $(bash_to)/rlock $(zsh_to)/_rlock $(fish_to)/rlock.fish
	rm -rf $(doc_to)
	rm -f $(foreach page,$(man_pages),$(man_to)/man$(subst .,,$(suffix $(page)))/$(notdir $(page)))
	rm -f $(cmake_to)/rlockConfig.cmake $(cmake_to)/rlockConfigVersion.cmake
	[ ! -d $(cmake_to) ] || rmdir --ignore-fail-on-non-empty $(cmake_to)
	for page in $(B)/man/*.3; do rm -f $(man_to)/man3/"$${page##*/}"; done
	[ ! -d $(include_to) ] || rmdir --ignore-fail-on-non-empty $(include_to)
	@$(if $(filter /usr /usr/local,$(PREFIX)),:,for folder in $(emptied); do \
	    [ ! -d "$$folder" ] || rmdir --ignore-fail-on-non-empty "$$folder" || exit; done)
	$(if $(DESTDIR),,@sh packaging/loader.sh $(lib_to) $(soname))

# --- Packages (packaging/) ---

.PHONY: deb deb-test abi reproducible
deb: | deps-deb ## builds the Debian packages into build/deb, for the Debian that this is
	@sh packaging/deb.sh $(B)/deb

deb-test: ## builds, installs and uses the packages in bare chroots of Debian 12 and 13; needs root and mmdebstrap
	@sh packaging/deb-test.sh $(B)/deb-test

abi: $(B)/$(soname) ## compares the library's interface with that of the last release, by abidiff
	@sh packaging/abi.sh $(B)

reproducible: ## builds twice, in two folders, and compares
	@sh packaging/reproducible.sh $(B)/reproducible

.PHONY: clean help
clean: ## removes the build folder
	rm -rf $(B)

help: ## lists the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1\t\2/p' Makefile | while IFS="$$(printf '\t')" read -r target what; do \
	    printf '  make %-14s %s\n' "$$target" "$$what"; done
	@sed -n 's/^#   make/  make/p' Makefile

.SECONDARY: # objects are kept
# Those of the goals: to read all of them, and those of the build folders within this one, takes longer than to install.
of_goals := $(if $(filter-out all install uninstall help clean,$(or $(MAKECMDGOALS),all)),tests sim virtual path) src watchdog lua
-include $(shell find $(of_goals:%=$(B)/%) -name '*.d' 2>/dev/null)
