"""From the words of a command to its verb, and from what the verb raises to one line and an exit code."""

import argparse
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from harmonium import __version__
from harmonium.cli import compiled, demo, evaluate, fit, info, report, resume, sample, score, transform
from harmonium.errors import ArgumentError, DivergenceError, NotNormalisableError

VERBS = {
    "demo": demo,
    "fit": fit,
    "resume": resume,
    "score": score,
    "evaluate": evaluate,
    "report": report,
    "sample": sample,
    "transform": transform,
    "info": info,
}
REFUSED, INTERRUPTED = 1, 130
"""Exit codes; argparse has 2 for words that make no command."""

MEMORY = "found too little memory; wanted more, or fewer rows or hidden units"


def main(words: Sequence[str] | None = None) -> int:
    """Run a command, by default the one this program was started with; its exit code."""
    if words is None:  # a program of its own, not a call from one
        words = sys.argv[1:]
        if any(word in VERBS for word in words):
            compiled.keep()
    chosen = parser(words).parse_args(words)
    with _spoken_warnings():
        try:
            VERBS[chosen.verb].run(chosen)
            sys.stdout.flush()
        except BrokenPipeError:  # whoever read our output has enough of it, as `head` does
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        except KeyboardInterrupt as error:
            return _say(str(error) or "interrupted", INTERRUPTED)
        except MemoryError:
            return _say(MEMORY, REFUSED)
        except RuntimeError as error:
            if not str(error).startswith("RESOURCE_EXHAUSTED"):  # as XLA says it
                raise
            return _say(MEMORY, REFUSED)
        except OSError as error:
            where = f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error)
            return _say(where, REFUSED)
        except (ArgumentError, DivergenceError, NotNormalisableError) as error:
            return _say(str(error), REFUSED)
        except ValueError as error:
            from harmonium.artifact import ArtifactError

            if not isinstance(error, ArtifactError):
                raise
            return _say(str(error), REFUSED)
    return 0


def parser(words: Sequence[str]) -> argparse.ArgumentParser:
    """What understands the words; it knows the options of the verb they begin with, whose help may take an import."""
    made = argparse.ArgumentParser(
        prog="harmonium",
        description="Boltzmann machines from the command line: learn the distribution of the rows of a table.",
        epilog="harmonium VERB --help shows what a verb takes, with an example.\n"
        "A first look, in half a minute:\n\n  harmonium demo",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("-V", "--version", action="version", version=f"harmonium {__version__}")
    verbs = made.add_subparsers(dest="verb", metavar="VERB", required=True, title="verbs")
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, verb in VERBS.items():
        own = verbs.add_parser(
            name,
            help=verb.SUMMARY,
            description=verb.DESCRIPTION,
            epilog=f"example:\n\n  {verb.EXAMPLE}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name == chosen:
            verb.arguments(own)
    return made


def _say(message: str, code: int) -> int:
    print("harmonium:", " ".join(message.split()), file=sys.stderr)
    return code


@contextmanager
def _spoken_warnings() -> Iterator[None]:
    """Warnings to users as one line each, without the place in the code."""

    def show(message: Warning | str, *_: object) -> None:
        print("harmonium: note:", " ".join(str(message).split()), file=sys.stderr)

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=UserWarning)
        warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)  # checked by tables.py
        warnings.showwarning = show  # type: ignore[assignment]
        yield
