"""What the command-line tools share. Each tool is a short script; its work is done in a module here."""
