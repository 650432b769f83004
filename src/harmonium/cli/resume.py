"""``harmonium resume``: go on with a run that was interrupted, to the same model bit for bit."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from harmonium.cli.run import Task, pursue
from harmonium.cli.tables import DATA, require_new

SUMMARY = "go on with a run that was interrupted"
DESCRIPTION = (
    "Go on with a run of `harmonium fit --checkpoint FOLDER` that was interrupted, however that happened.\n"
    "The model is the same, bit for bit, as if nothing had. A finished run is left as it is."
)
EXAMPLE = (
    "harmonium fit demo/digits.npz:train -o kept.safetensors --components 16 --updates 2000 --checkpoint run\n"
    "  harmonium resume run"
)


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("folder", metavar="FOLDER", help="the folder given to fit --checkpoint")
    parser.add_argument("data", metavar="DATA", nargs="?", help=f"if it is elsewhere now; {DATA}")
    parser.add_argument("-o", "--output", metavar="MODEL", help="the model's file, if it is to be another one now")
    parser.add_argument("--force", action="store_true", help="overwrite MODEL if it exists")
    parser.add_argument("--quiet", action="store_true", help="say nothing, but what goes wrong")


def run(args: Namespace) -> None:
    """Do it."""
    folder = Path(args.folder)
    task = Task.read(folder)
    task = task._replace(
        data=args.data or task.data, output=args.output or task.output, overwrite=args.force or task.overwrite
    )
    if task.finished():
        if not args.quiet:
            print(f"finished    {task.output} is the model of this run")
        return
    require_new(task.output, task.overwrite)
    pursue(task, folder, resumed=True, quiet=args.quiet)
