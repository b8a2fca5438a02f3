#!/usr/bin/env bash
# The short form of `make soak`: a survey in bad weather ends with each shot written once and the undisturbed file.
exec "$PYTHON" "$ROOT/tests/failures/soak.py" --shots 20 --kills 5 --stalls 1 --torn 1 --full 1
