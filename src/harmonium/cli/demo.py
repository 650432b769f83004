"""``harmonium demo``: a model of small pictures of digits, with its picture, and how good it is."""

import io
import json
import time
from argparse import ArgumentParser, Namespace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from harmonium.errors import ArgumentError

SUMMARY = "learn a model of digits, and show what came of it"
DESCRIPTION = (
    "Learn a model of the 1,797 pictures of digits that scikit-learn brings (8×8, binary), in half a minute.\n"
    "It leaves a folder with the data, the model, a picture, and how good the model is."
)
EXAMPLE = "harmonium demo"

SETTINGS: dict[str, Any] = {"n_components": 128, "n_updates": 10_000, "validation_fraction": 0.1, "random_state": 0}
N_TEST = 360
TITLE = "Harmonium: the demonstration"
WRITTEN = ".harmonium-demo.json"
"""Which files of the folder are the demonstration's own, by their digests: only these are replaced."""


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("-o", "--output", metavar="FOLDER", default="demo", help="where it goes (default: demo)")
    parser.add_argument("--quiet", action="store_true", help="say nothing, but what goes wrong")


FILES = ("digits.npz", "model.safetensors", "picture.png", "summary.md", "report.html")


def run(args: Namespace) -> None:
    """Do it."""
    folder = Path(args.output)
    own = _require_own(folder)
    begun = time.perf_counter()
    import warnings

    import numpy as np

    from harmonium import datasets
    from harmonium.data.batches import permutation
    from harmonium.estimators import RBM, reporting
    from harmonium.report import poster, story

    digits = datasets.digits()
    order = permutation(0, 0, len(digits))
    train, test = digits[np.sort(order[N_TEST:])], digits[np.sort(order[:N_TEST])]
    ink = train.any(axis=0) & ~train.all(axis=0)
    model = RBM(**SETTINGS, verbose=int(not args.quiet))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*have one value only", UserWarning)  # the summary says so
        model.fit(train)
    model.set_params(verbose=0)
    found = reporting.findings(model, train, test, shape=(8, 8), title=TITLE, command="harmonium demo")
    scores = {"this model": found.scores[-1].model, **found.scores[-1].others}
    levels = {f"{name.removeprefix('this ')}, test rows": float(one.mean()) for name, one in scores.items()}
    figure = poster.draw(test[:70], found.samples[:70], found.weights, (8, 8), found.history, levels)
    picture, data = io.BytesIO(), io.BytesIO()
    figure.savefig(picture, dpi=130, format="png")
    np.savez_compressed(data, train=train, test=test)
    summary = _summary(folder, model, scores, len(train), int((~ink).sum()))
    content = {
        "digits.npz": data.getvalue(),
        "model.safetensors": _saved(model),
        "picture.png": picture.getvalue(),
        "summary.md": summary.text().encode(),
        "report.html": story.report(found._replace(further=summary.commands)).encode(),
    }
    _leave(folder, content, own)
    if not args.quiet:
        print("\n".join(summary.aligned()))
        print(f"\nwrote {', '.join(str(folder / name) for name in FILES)} in {time.perf_counter() - begun:.0f} s")
        print(f"next: open {folder / 'report.html'} in a browser, or read {folder / 'summary.md'}")


def _saved(model: Any) -> bytes:
    """The bytes of a model's file."""
    with TemporaryDirectory() as aside:
        model.save(Path(aside) / "model")
        return (Path(aside) / "model").read_bytes()


def _summary(folder: Path, model: Any, scores: dict[str, Any], n_train: int, n_blank: int) -> Any:
    from harmonium.report.summary import Summary

    z = model.log_partition_
    near = "exactly" if z.method == "exact" else f"to ± {z.standard_error:.2g} (annealed importance sampling)"
    path, data = folder / "model.safetensors", folder / "digits.npz"
    (_, ours), *others = scores.items()
    table = [("on the test rows", "log-likelihood, nats a row", "the model's lead")]
    table.append(("this model", f"{ours.mean():.2f} ± {_error(ours):.2f}", ""))
    for name, theirs in others:
        lead = ours - theirs
        table.append((name, f"{theirs.mean():.2f} ± {_error(theirs):.2f}", f"{lead.mean():.2f} ± {_error(lead):.2f}"))
    return Summary(
        TITLE,
        [
            f"A restricted Boltzmann machine with {model.n_components} hidden units learned from {n_train:,} binary "
            f"pictures of digits, 8×8, in {model.n_updates_:,} updates; a tenth of these rows was held out to choose "
            f"the best moment. How likely does it find {len(ours)} rows that it has never seen?"
        ],
        table,
        [
            "A lead of 1 nat means rows that are e = 2.7 times as likely, on geometric average. Each ± is the standard "
            f"error that comes of a test set of this size; log Z is known {near}. The number of components of the "
            "mixture was chosen by the rows held out.",
            f"{n_blank} of the 64 columns have one value in every row learned from. Binary means: ink of at least 8 "
            "in 16. Other binarisations give other log-likelihoods.",
        ],
        [
            ("New digits", f"harmonium sample {path} -n 100 -o samples.npy"),
            ("The log-likelihood of each test row", f"harmonium score {path} {data}:test -o scores.csv"),
            ("Features for a classifier", f"harmonium transform {path} {data}:train -o features.npy"),
            (
                "A larger model, with what a run is told by default (256 hidden units, 20,000 updates), and its score",
                f"harmonium fit {data}:train -o larger.safetensors\nharmonium score larger.safetensors {data}:test",
            ),
            ("A model of your own table", "harmonium fit --help"),
        ],
    )


def _error(values: Any) -> float:
    """The standard error of the mean."""
    return float(values.std(ddof=1) / len(values) ** 0.5)


def _require_own(folder: Path) -> dict[str, list[str]]:
    """The digests that this demonstration left, if no file in its way has another."""
    if folder.exists() and not folder.is_dir():
        raise ArgumentError("--output", f"{str(folder)!r}, a file", "a folder, or a name that is free")
    try:
        own: dict[str, list[str]] = json.loads((folder / WRITTEN).read_text())
    except (OSError, ValueError):
        own = {}
    for name in FILES:
        path = folder / name
        if path.exists() and (not path.is_file() or sha256(path.read_bytes()).hexdigest() not in own.get(name, ())):
            found = f"{path}, which is not (or no longer) as a demonstration left it"
            raise ArgumentError("--output", found, "another folder: harmonium demo -o FOLDER; or remove that file")
    return own


def _leave(folder: Path, content: dict[str, bytes], own: dict[str, list[str]]) -> None:
    """Write the files; before any, which are to be the demonstration's own, so that a crash leaves no stranger."""
    from harmonium.artifact import write_bytes

    folder.mkdir(parents=True, exist_ok=True)
    told = {name: [*own.get(name, ()), sha256(part).hexdigest()] for name, part in content.items()}
    write_bytes(folder / WRITTEN, json.dumps(told, indent=1).encode())
    for name, part in content.items():
        write_bytes(folder / name, part)
    last = {name: digests[-1:] for name, digests in told.items()}
    write_bytes(folder / WRITTEN, json.dumps(last, indent=1).encode())
