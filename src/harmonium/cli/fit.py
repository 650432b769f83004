"""``harmonium fit``: learn the distribution of the rows of a table."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from harmonium.cli.run import NAME, Task, pursue
from harmonium.cli.tables import DATA, require_new

SUMMARY = "learn a model of a table"
DESCRIPTION = "Learn the distribution of the rows of a table with a restricted Boltzmann machine; leave it in one file."
EXAMPLE = "harmonium fit demo/digits.npz:train -o digits.safetensors --components 16 --updates 2000"


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    from harmonium.cli import options
    from harmonium.estimators import RBM

    parser.usage = "harmonium fit DATA [-o MODEL] [--checkpoint FOLDER] [--force] [--quiet] [PARAMETERS]"
    parser.add_argument("data", metavar="DATA", help=DATA)
    parser.add_argument("-o", "--output", metavar="MODEL", help="the model's file (default: DATA's name, .safetensors)")
    parser.add_argument("--checkpoint", metavar="FOLDER", help="keep the run there, for harmonium resume FOLDER")
    parser.add_argument("--force", action="store_true", help="overwrite MODEL if it exists")
    parser.add_argument("--quiet", action="store_true", help="say nothing, but what goes wrong")
    options.add(parser, RBM)


def run(args: Namespace) -> None:
    """Do it."""
    from harmonium.cli import options
    from harmonium.data.files import parts
    from harmonium.errors import ArgumentError
    from harmonium.estimators import RBM

    path, member = parts(args.data)
    output = Path(args.output or f"{path.stem}.safetensors")
    require_new(output, args.force)
    parameters = {name: getattr(args, name) for name in options.defaults(RBM)}
    if args.checkpoint is None:
        pursue(Task(args.data, str(output), parameters, args.force), None, quiet=args.quiet)
        return
    folder = Path(args.checkpoint)
    if (folder / NAME).exists():
        wanted = f"harmonium resume {folder} to go on with it, or another folder to begin anew"
        raise ArgumentError("--checkpoint", f"a run in {folder}", wanted)
    data = str(path.resolve()) + (f":{member}" if member else "")
    task = Task(data, str(output.resolve()), parameters, args.force)
    folder.mkdir(parents=True, exist_ok=True)
    task.write(folder)
    pursue(task, folder, quiet=args.quiet)
