"""The command line: ``harmonium VERB …``, one file for each verb. Nothing heavy is imported before a verb runs."""

from harmonium.cli.command import main

__all__ = ["main"]
