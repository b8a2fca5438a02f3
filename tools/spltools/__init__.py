"""Common parts of the command-line tools. Each tool is a short script; its work is done in a module here."""
