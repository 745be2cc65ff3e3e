# make demo   everything set up, then the demo, stopped inside a kernel
# make test   everything set up, then every test
# make check  the linters, the types and the import contracts
.PHONY: demo test check setup

demo:
	@scripts/setup.sh g++ gdb
	@scripts/demo.sh

setup:
	@scripts/setup.sh g++ gdb tmux sshd ssh

test: setup
	.venv/bin/python -m pytest

check: setup
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/lint-imports
