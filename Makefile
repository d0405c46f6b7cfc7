# What is set up and in which order; `make help` prints the targets.
#   environments → python -m book build (it knows which notebook is out of date) → Sphinx → _build/html
# FRAMEWORKS="pytorch jax" and SECTIONS="async-computation" restrict any target. STRICT=1 lets no timed claim miss.
# The book is built in English and Chinese, with the same outputs; LANGUAGES=en leaves Chinese out.

PYTHON ?= python3
PORT ?= 8000
KNOWN := $(shell sed -n 's/^\[tool.d2l.frameworks.\([a-z]*\)\]$$/\1/p' pyproject.toml)
# An editor's or a system's files in these folders have other names than the project's own.
SLUGS := $(shell find -L notebooks -maxdepth 1 -type f -name '[a-z0-9_]*.md' | sed -n 's:^notebooks/\([a-z0-9_-]*\)\.md$$:\1:p' | grep -vx index | LC_ALL=C sort)
FRAMEWORKS ?= $(KNOWN)
SECTIONS ?= $(SLUGS)
LOCALES := $(patsubst notebooks/locale/%/book.po,%,$(wildcard notebooks/locale/*/book.po))

empty :=
space := $(empty) $(empty)
comma := ,
into := $(foreach l,$(LOCALES),$(firstword $(subst _, ,$l)))
LANGUAGES ?= en $(into)
translations := $(filter-out en,$(LANGUAGES))
oops := $(filter-out $(KNOWN),$(FRAMEWORKS))
$(if $(oops),$(error unknown framework: $(oops). Known, separated by spaces: $(KNOWN)))
$(if $(strip $(FRAMEWORKS)),,$(error FRAMEWORKS is empty. Known: $(KNOWN)))
oops := $(filter-out $(SLUGS),$(SECTIONS))
$(if $(oops),$(error unknown section: $(oops). Known, separated by spaces: $(SLUGS)))
$(if $(strip $(SECTIONS)),,$(error SECTIONS is empty. Known: $(SLUGS)))
oops := $(filter-out 1 $(KNOWN),$(BUNDLE))
$(if $(oops),$(error BUNDLE is 1 or a framework, not $(oops). Known: $(KNOWN)))
oops := $(filter-out en $(into),$(LANGUAGES))
$(if $(oops),$(error unknown language: $(oops). Known, separated by spaces: en $(into)))
$(if $(filter-out yes no,$(SOLUTIONS)),$(error SOLUTIONS is yes or no, not $(SOLUTIONS)))
$(if $(findstring $(space),$(CURDIR)),$(error this folder's path has a space in it, which make cannot handle: move it))

# Everything that runs keeps its settings and files below _build.
export JUPYTER_PATH := $(CURDIR)/_build/jupyter/share/jupyter
export JUPYTER_CONFIG_DIR := $(CURDIR)/_build/jupyter/config
export JUPYTER_DATA_DIR := $(CURDIR)/_build/jupyter/data
export JUPYTER_RUNTIME_DIR := $(CURDIR)/_build/jupyter/runtime
export IPYTHONDIR := $(CURDIR)/_build/jupyter/ipython
export MPLCONFIGDIR := $(CURDIR)/_build/jupyter/matplotlib
export D2L_MACHINE_PROFILE := $(CURDIR)/_build/machine.json
ifeq ($(STRICT),1)
export D2L_STRICT := 1
endif
# Tests judge no times but those that the build has measured, unless they are strict: so one round of each measurement is
# enough, two notebooks run at once, and what JAX has compiled is kept.
caches := $(CURDIR)/_build/caches
quick := $(if $(filter 1,$(STRICT)),,D2L_QUICK=1 JAX_COMPILATION_CACHE_DIR=$(caches)/jax TORCHINDUCTOR_CACHE_DIR=$(caches)/inductor \
  JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 OMP_WAIT_POLICY=passive)
unexport PYTHONDONTWRITEBYTECODE  # compiled modules halve the time of each step

ifndef together
.NOTPARALLEL:         # two notebooks at once would spoil each other's times
endif
.DELETE_ON_ERROR:
.PHONY: help setup notebooks bundle profile book epub pdf slides site ALWAYS lab serve browser test check lint benchmark rack gpu translations pins clean distclean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# Those of the chosen frameworks that this machine can run. Recipes ask for them when they run, after the set-up, which
# leaves a stamp for each; what asks before, such as `make -n`, supposes all.
AVAILABLE = $(or $(shell for f in $(FRAMEWORKS); do if test -e _build/env/$$f.available; then echo $$f; fi; done),$(FRAMEWORKS))
TOOLS = $(shell cat _build/system-tools 2> /dev/null)

docs := _build/env/docs/bin
book := $(docs)/python -m book
choice = --frameworks $(AVAILABLE) --sections $(SECTIONS)
languages := $(if $(translations),--languages $(translations))
run = $(foreach f,$(AVAILABLE),$(SECTIONS:%=_build/executed/$f/%.ipynb))
catalogues := $(shell find notebooks/locale -name '[a-z]*.po' ! -name '* *') $(wildcard notebooks/locale/*/terms.csv)
# What the pages are made of besides the merged notebooks: the programs that write them and what those import. The API
# reference is in the docstrings of our packages.
imported := __init__ cells fonts formulas fragments gpu_record hosted layout machine_load model_errors myst outputs paths plain_markdown record_html site stops terminal \
  words xhtml slides/__init__ slides/showing \
  $(addprefix translations/,__init__ catalogues faults kernel_words lookup printed punctuation said terms units)
pages := pyproject.toml _build/env/docs/.ready $(imported:%=book/%.py) $(shell find book/pages d2l_utils d2l_lab -type f ! -name '*.pyc')
# Sphinx reads all pages anew where a program has changed, ours or an installed one.
anew = $(if $(filter book/%.py %.po %/.ready,$?),-E)

# In each call, so that what could not be had is tried again. Nothing is set up while this file is read, because `make -n`
# and a shell that completes a target's name read it too.
setup: ## make the environments and kernels
	@$(PYTHON) -m book.setup.environments docs $(FRAMEWORKS) > /dev/null

# For what needs no framework.
$(docs): ALWAYS
	@$(PYTHON) -m book.setup.environments docs > /dev/null

# What is looked at in each call; the calls of make below, which come after that, say `always=`.
always := setup

# Newer only if the environment was made anew.
_build/env/docs/.ready: $(always)
	@:

notebooks: setup ## copy the readers' notebooks to work/, where they are yours (SOLUTIONS=no: without, into _build/handouts), run nothing
	@$(book) $(if $(filter no,$(SOLUTIONS)),handouts,notebooks) --frameworks $(AVAILABLE) $(languages)

bundle: setup ## zip each framework's notebooks with all that they need, to run anywhere
	@$(book) bundle --frameworks $(AVAILABLE) $(languages)

profile: setup ## measure this machine again
	@$(book) profile --frameworks $(AVAILABLE)

# The pages of two languages are written at once.
book: _build/merged _build/languages ## set everything up, run the notebooks that changed, build the HTML book
	@$(MAKE) -s $(if $(filter -j%,$(MAKEFLAGS)),,-j 2) always= together=1 _build/html/index.html $(translations:%=_build/html/%/index.html)
	@rm -rf $(patsubst %,_build/html/%,$(filter-out $(translations),$(into)))
	@echo "the book: _build/html/index.html"

# Newer only if something in the book has changed.
_build/merged: $(always)
	@$(book) build $(choice) $(languages)

# Newer only if other languages are chosen: each page links to those.
_build/languages: ALWAYS
	@echo "$(translations)" | cmp -s - $@ || echo "$(translations)" > $@

html := $(docs)/python -m sphinx -q -n -W --keep-going -b html -c book/pages \
  $(if $(translations),-D d2l_languages=$(subst $(space),$(comma),$(strip $(translations))))
_build/html/index.html: _build/merged _build/languages $(pages)
	@$(html) $(anew) -d _build/doctrees/html _build/book _build/html
	@touch $@

$(translations:%=_build/html/%/index.html): _build/html/%/index.html: _build/merged _build/languages $(pages) $(catalogues)
	@$(html) $(anew) -D language=$(filter $*_%,$(LOCALES)) \
	  -d _build/$*/doctrees/html _build/$*/book _build/html/$*
	@touch $@

document := _build/computational-performance
editions = $(AVAILABLE) $(foreach l,$(translations),$(AVAILABLE:%=%-$l))
epub: _build/merged ## write an e-book for each framework, _build/computational-performance-<framework>.epub
	@$(MAKE) -s always= $(editions:%=$(document)-%.epub)

# The rules for a language: what names of files end with, its folder, its setting of Sphinx, and its catalogues.
# No pattern here matches another's files: make 3.81, which macOS has, would take the first that matches.
define documents
$(KNOWN:%=$(document)-%$1.epub): $(document)-%$1.epub: _build/merged $(pages) $4
	@$(docs)/python -m sphinx -q -n -W --keep-going $$(anew) -b epub -D d2l_only=$$* $3 -c book/pages \
	  -d $2/doctrees/epub $2/book $2/epub/$$*
	@cp $2/epub/$$*/$$(@F) $$@ && echo "$$@"

$(KNOWN:%=$(document)-%$1.pdf): $(document)-%$1.pdf: $(document)-%$1.epub $(wildcard book/paper/*)
	@$(docs)/python -m book.paper $2/epub/$$* $$@
endef
$(eval $(call documents,,_build))
$(foreach l,$(translations),$(eval $(call documents,-$l,_build/$l,-D language=$(filter $l_%,$(LOCALES)),$(catalogues))))

pdf: browser _build/merged ## print the same pages, _build/computational-performance-<framework>.pdf
	@$(MAKE) -s always= $(editions:%=$(document)-%.pdf)

slides: setup ## write a deck a section for teaching, _build/slides/<framework>, from the outputs that are there
	@$(book) slides $(choice) $(languages)

decks := $(pages) $(addprefix book/,headings.py run_keys.py sources.py working_copies.py translations/comments.py translations/figures.py translations/references.py translations/translate.py) $(shell find book/slides -type f ! -name '*.pyc')
$(KNOWN:%=_build/slides/%/index.html): _build/slides/%/index.html: _build/merged _build/languages $(decks) $(if $(translations),$(catalogues))
	@$(book) slides --frameworks $* --sections $(SECTIONS) $(languages)
	@touch $@

front = /lab/tree/$(if $(filter en,$(LANGUAGES)),,$(addsuffix /,$(firstword $(translations))))$(firstword $(AVAILABLE))/index.ipynb
# As in most containers, where Jupyter refuses unless it is told.
is_root = $(if $(filter 0,$(shell id -u)),True,False)
lab: notebooks ## open JupyterLab on your notebooks in work/; it makes no network connections
	@mkdir -p $(JUPYTER_CONFIG_DIR)/labconfig
	@echo '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}' \
	  > $(JUPYTER_CONFIG_DIR)/labconfig/page_config.json
	$(docs)/jupyter-lab --ServerApp.ip=127.0.0.1 --ServerApp.root_dir=work --LabApp.default_url=$(front) \
	  --ServerApp.allow_root=$(is_root) --LabApp.news_url=None \
	  --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate --LabApp.extension_manager=readonly

site: book ## put the pages in _build/site, with what was built of e-books, PDFs, slides and bundles
	@$(book) site

serve: site ## serve the site on 127.0.0.1 (PORT=8000)
	$(docs)/python -m http.server --bind 127.0.0.1 --directory _build/site $(PORT)

browser: $(docs) ## look for the browser that prints and tests the pages, else fetch or install it
	@$(PYTHON) -m book.setup.system_tools chromium > /dev/null

# What the tests need besides is looked for first, so that what is missing is said before all other work.
_build/system-tools: setup
	@$(PYTHON) -m book.setup.system_tools > $@

bundled = $(if $(filter 1,$(BUNDLE)),$(AVAILABLE),$(BUNDLE))
# The framework whose documents and slides the tests read.
first = $(firstword $(AVAILABLE))
documents = $(foreach e,$(first) $(translations:%=$(first)-%),$(document)-$e.epub $(if $(filter chromium,$(TOOLS)),$(document)-$e.pdf))
pytest := $(docs)/python -m pytest -p no:cacheprovider
elsewhere := $(foreach room,frameworks browser bundle notebooks/test_notebooks.py,--ignore tests/$(room))
test: setup _build/system-tools check book ## set everything up and run all tests (STRICT=1: no timed claim may miss; BUNDLE=1: run the bundles too, BUNDLE=jax: one)
	@$(MAKE) -s always= $(documents) _build/slides/$(first)/index.html
	@printf '%s\n' $(AVAILABLE) | xargs -P 2 -I {} sh -c '_build/env/{}/bin/python -m pytest -q -p no:cacheprovider \
	  tests/frameworks --framework {} > _build/tests-{}.log 2>&1; status=$$?; \
	  echo "== d2l_utils in {}"; cat _build/tests-{}.log; exit $$status'  # these allow for company: two at once
	@echo "== notebooks"
	@$(quick) $(pytest) -v --no-header $(if $(quick),-n 2 --maxschedchunk 1) tests/notebooks/test_notebooks.py \
	  --notebooks $(run)
	@echo "== the book"
	$(pytest) -n 2 --dist loadfile -m slow tests $(elsewhere)
	$(pytest) -n 2 --dist worksteal tests/browser
ifneq ($(BUNDLE),)
	@echo "== bundles, in environments of their own"; $(book) bundle --frameworks $(bundled)
	$(pytest) -v tests/bundle -k "$(subst $(space), or ,$(strip $(bundled)))"
endif

check: lint ## lint, check types, run the tests that need no framework, kernel or browser: a minute
	@$(pytest) -q -n 2 --dist worksteal -m "not slow" tests $(elsewhere)

lint: $(docs) ## check layout, style and types, and the workflow
	@$(docs)/ruff format --check --quiet . && $(docs)/ruff check --quiet . && $(docs)/mypy --no-error-summary
	@$(docs)/check-jsonschema --quiet --builtin-schema vendor.github-workflows .github/workflows/*.yml

benchmark: book ## measure the build, the clocks, the machine, all-reduces and training steps, 15 minutes at most
	@echo "== build of one section"; $(docs)/python benchmarks/building.py $(firstword $(AVAILABLE))
	@echo "== clocks"; _build/env/$(firstword $(AVAILABLE))/bin/python benchmarks/clocks.py
	$(if $(filter pytorch,$(AVAILABLE)),@echo "== machine"; _build/env/pytorch/bin/python benchmarks/hardware.py)
	$(if $(filter pytorch,$(AVAILABLE)),@echo "== all-reduces"; _build/env/pytorch/bin/python benchmarks/all_reduces.py)
	@for f in $(AVAILABLE); do echo "== a training step in $$f"; \
	  _build/env/$$f/bin/python benchmarks/steps.py $$f || exit 1; done

rack: setup ## record all-reduces between hosts in network namespaces of this machine, on Linux, into d2l_lab/tables
	@_build/env/$(firstword $(AVAILABLE))/bin/python -m rack

gpu: $(docs) ## record what make book has measured on a GPU, into notebooks/data
	@$(docs)/python -m book.gpu_record

translations: $(docs) ## bring the catalogues of the translations, notebooks/locale, up to date with the sources
	@$(docs)/python -m book.translations update

pins: ## resolve requirements/ again from pyproject.toml
	@$(PYTHON) -m book.setup.environments --pins

# What is a reader's is moved to work/ first, which nothing removes.
clean: ## remove what was built, keep the environments and work/
	@$(PYTHON) -m book.working_copies
	rm -rf $(filter-out _build/env _build/jupyter _build/uv _build/browsers,$(wildcard _build/*))

distclean: ## remove the environments too, keep work/
	@$(PYTHON) -m book.working_copies
	rm -rf _build
