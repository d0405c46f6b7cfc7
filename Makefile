# The pipeline as file rules; `make help` prints the targets.
#   notebooks/*.md → numbers → readers' notebooks → executed → merged → HTML
# FRAMEWORKS="pytorch jax" and SECTIONS="async-computation" restrict any target.

PYTHON ?= python3
PORT ?= 8000
KNOWN := pytorch tensorflow jax mxnet
SLUGS := $(filter-out index,$(patsubst notebooks/%.md,%,$(wildcard notebooks/*.md)))
FRAMEWORKS ?= $(KNOWN)
SECTIONS ?= $(SLUGS)

empty :=
space := $(empty) $(empty)
oops := $(filter-out $(KNOWN),$(FRAMEWORKS))
$(if $(oops),$(error unknown framework: $(oops). Known, separated by spaces: $(KNOWN)))
$(if $(strip $(FRAMEWORKS)),,$(error FRAMEWORKS is empty. Known: $(KNOWN)))
oops := $(filter-out $(SLUGS),$(SECTIONS))
$(if $(oops),$(error unknown section: $(oops). Known, separated by spaces: $(SLUGS)))
$(if $(strip $(SECTIONS)),,$(error SECTIONS is empty. Known: $(SLUGS)))
$(if $(findstring $(space),$(CURDIR)),$(error this folder's path has a space in it, which make cannot handle: move it))

# Everything that runs keeps its settings and files below _build.
export JUPYTER_PATH := $(CURDIR)/_build/jupyter/share/jupyter
export JUPYTER_CONFIG_DIR := $(CURDIR)/_build/jupyter/config
export JUPYTER_DATA_DIR := $(CURDIR)/_build/jupyter/data
export JUPYTER_RUNTIME_DIR := $(CURDIR)/_build/jupyter/runtime
export IPYTHONDIR := $(CURDIR)/_build/jupyter/ipython
export MPLCONFIGDIR := $(CURDIR)/_build/jupyter/matplotlib
export D2L_MACHINE_CARD := $(CURDIR)/_build/machine.json
unexport PYTHONDONTWRITEBYTECODE  # compiled modules halve the time of each step

.NOTPARALLEL:         # two notebooks at once would spoil each other's times
.SECONDARY:           # keep the files between the first and the last step
.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PRECIOUS: _build/executed/%.ipynb
.PHONY: help setup notebooks card executed book lab serve browser test lint benchmark pins clean distclean

help: ## print this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# The environments are looked after before the rest of this file is read, because they tell which frameworks this
# machine can run; each time, so that what could not be had is tried again.
ifneq ($(filter setup notebooks card executed book lab serve browser test lint benchmark _build/%,$(MAKECMDGOALS)),)
AVAILABLE := $(shell $(PYTHON) -m book.environments docs $(FRAMEWORKS))
$(if $(AVAILABLE),,$(error nothing can be built before the environments are made))
endif

# Another choice of frameworks or sections makes other pages of the same notebooks.
choice := $(AVAILABLE) / $(SECTIONS)
$(if $(AVAILABLE),$(shell echo '$(choice)' | cmp -s - _build/choice || echo '$(choice)' > _build/choice))

docs := _build/env/docs/bin

# Another machine, or a framework that was left out, makes another card. What of it is measured, the card knows itself.
describe := from d2l_utils.machine import describe; print("$(AVAILABLE)", describe())
$(if $(AVAILABLE),$(shell $(docs)/python -c '$(describe)' > _build/here.new; \
  if cmp -s _build/here.new _build/here; then rm _build/here.new; else mv _build/here.new _build/here; fi))

book := $(docs)/python -m book
reader := $(foreach f,$(AVAILABLE),$(SECTIONS:%=_build/notebooks/$f/%.ipynb))
run := $(reader:_build/notebooks/%=_build/executed/%)
merged := $(SECTIONS:%=_build/book/%.ipynb)
figures := $(wildcard notebooks/img/*)
utils := $(wildcard d2l_utils/*.py)
tables := $(wildcard notebooks/data/*.csv)
pages := $(wildcard book/pages/*.py book/pages/_static/* book/pages/_templates/*)
notebook := $(addprefix book/,__main__.py files.py cells.py plain.py outputs.py merge.py execute.py)

setup: ## make the environments and kernels
	@:

notebooks: $(reader) ## write the readers' notebooks into _build/notebooks

card: ## measure anew what this machine can do
	@rm -f _build/card
	@$(book) card --anew --frameworks $(AVAILABLE)
	@touch _build/card

executed: $(run) ## run the notebooks that changed

book: _build/html/index.html ## set everything up, run the notebooks, build the HTML book
	@echo "the book: _build/html/index.html"

_build/numbers.json: $(wildcard notebooks/*.md notebooks/*.bib) $(figures) $(pages)
	@$(docs)/python -m sphinx -q -n -W -b dummy -c book/pages -d _build/doctrees/numbers notebooks _build/dummy
	@touch $@

$(foreach f,$(KNOWN),_build/notebooks/$f/%.ipynb): notebooks/%.md _build/numbers.json $(notebook)
	@$(book) split $* --frameworks $(AVAILABLE)

# The stamp tells that the card is up to date; the card itself changes only when something is measured.
_build/card: _build/here $(utils) $(AVAILABLE:%=requirements/%.txt) book/machine.py
	@rm -f $@
	@$(book) card --frameworks $(AVAILABLE)
	@touch $@

_build/executed/%.ipynb: _build/notebooks/%.ipynb $(utils) $(tables) $(notebook) requirements/$$(*D).txt | _build/card
	@$(book) execute $<

_build/book/%.ipynb: $(foreach f,$(AVAILABLE),_build/executed/$f/%.ipynb) notebooks/index.md _build/choice $(notebook)
	@$(book) merge $* --frameworks $(AVAILABLE)

_build/html/index.html: $(merged) $(pages) _build/card $(wildcard _build/machine.json)
	@$(docs)/python -m sphinx -q -n -W --keep-going -b html -c book/pages -d _build/doctrees/html _build/book _build/html
	@touch $@

lab: notebooks _build/card ## open JupyterLab on the readers' notebooks, which asks nothing of another machine
	@mkdir -p $(JUPYTER_CONFIG_DIR)/labconfig
	@echo '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}' \
	  > $(JUPYTER_CONFIG_DIR)/labconfig/page_config.json
	$(docs)/jupyter-lab --ServerApp.ip=127.0.0.1 --ServerApp.root_dir=_build/notebooks --LabApp.news_url=None \
	  --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate --LabApp.extension_manager=readonly

serve: book ## serve the book on 127.0.0.1 (PORT=8000)
	$(docs)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

browser: ## find a browser for the tests of the pages, or fetch one
	@$(PYTHON) -m book.environments --browser

test: browser book lint ## set everything up and pass all tests
	@for f in $(AVAILABLE); do echo "== d2l_utils in $$f"; \
	  _build/env/$$f/bin/python -m pytest -q -p no:cacheprovider tests/utils --framework $$f || exit 1; done
	@echo "== notebooks, claims strict"
	D2L_STRICT_CLAIMS=1 $(docs)/python -m pytest -q -p no:cacheprovider --nbval-lax --nbval-cell-timeout 300 \
	  --nbval-sanitize-with tests/nbval.cfg $(run)
	@echo "== the book"
	$(docs)/python -m pytest -p no:cacheprovider tests --ignore tests/utils

lint: ## look for slips in the code
	@$(docs)/ruff format --check --quiet . && $(docs)/ruff check --quiet . && echo "ruff: no slips"

benchmark: book ## measure the measuring, the build and how close the machine is used
	@$(docs)/python benchmarks/building.py $(AVAILABLE)
	@_build/env/$(firstword $(AVAILABLE))/bin/python benchmarks/measuring.py
	@$(if $(filter pytorch,$(AVAILABLE)),_build/env/pytorch/bin/python benchmarks/hardware.py)

pins: ## resolve requirements/ anew from pyproject.toml
	@$(PYTHON) -m book.environments --pins

clean: ## remove what was built, keep the environments
	rm -rf $(filter-out _build/env _build/jupyter _build/uv _build/browsers,$(wildcard _build/*))

distclean: ## remove the environments too
	rm -rf _build
