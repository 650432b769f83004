"""A run that ``fit`` begins and ``resume`` goes on with: what it is, in ``run.json`` beside its checkpoint."""

import json
import time
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harmonium.cli.tables import named, require_new

NAME = "run.json"
FORMAT = 1


class Task(NamedTuple):
    """What a run learns from, where its model goes, and how it learns."""

    data: str
    output: str
    parameters: dict[str, Any]
    overwrite: bool = False
    model: str | None = None  # the digest of the model's file, from the moment before it is written

    def write(self, folder: Path) -> None:
        """Leave it in a folder."""
        from harmonium.artifact import write_bytes

        text = json.dumps({"harmonium_run": FORMAT, **self._asdict()}, indent=1)
        write_bytes(folder / NAME, f"{text}\n".encode())

    @classmethod
    def read(cls, folder: Path) -> "Task":
        """The one in a folder."""
        from harmonium.artifact import ArtifactError

        path = folder / NAME
        if not path.is_file():
            raise ArtifactError(f"{folder}: found no {NAME}; wanted a folder that harmonium fit --checkpoint made.")
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            version = found.pop("harmonium_run")
            task = cls(**found)
        except (ValueError, TypeError, LookupError, AttributeError) as error:
            raise ArtifactError(f"{path}: found {error!r}; wanted what harmonium fit wrote.") from error
        if version > FORMAT:
            raise ArtifactError(f"{path}: made by a newer Harmonium (format {version}, here {FORMAT}): upgrade.")
        return task

    def finished(self) -> bool:
        """Whether the model in the file is the one this run ends with."""
        path = Path(self.output)
        return self.model is not None and path.is_file() and sha256(path.read_bytes()).hexdigest() == self.model


def pursue(task: Task, folder: Path | None, *, resumed: bool = False, quiet: bool = False) -> None:
    """Learn, save the model, and say what was learned. Interrupted, it says how to go on."""
    begun = time.perf_counter()
    try:
        model, values = _learned(task, folder, resumed, quiet)
        lines = _account(task, model, values, time.perf_counter() - begun)
        if folder is not None:
            with TemporaryDirectory() as aside:
                model.save(Path(aside) / "model")
                digest = sha256((Path(aside) / "model").read_bytes()).hexdigest()
            task = task._replace(model=digest)
            task.write(folder)
        require_new(task.output, task.overwrite)
        model.save(task.output)
    except KeyboardInterrupt as error:
        kept = "nothing was kept; with --checkpoint FOLDER a run can go on"
        how = f"go on with: harmonium resume {folder}" if folder else kept
        raise KeyboardInterrupt(f"interrupted; {how}") from error
    if not quiet:
        print("\n".join(lines))


def _learned(task: Task, folder: Path | None, resumed: bool, quiet: bool) -> tuple[Any, Any]:
    """The model, and the values it learned from."""
    from harmonium.artifact import ArtifactError
    from harmonium.data.files import read_file
    from harmonium.estimators import RBM

    try:
        model = RBM(**task.parameters)
    except TypeError as error:
        raise ArtifactError(f"{folder}: found parameters of another version ({error}); wanted those of RBM.") from error
    values, names = read_file(task.data)
    # Not parameters of the model: another sitting, or none, has others and ends at the same file.
    model.set_params(checkpoint=folder, resume=resumed, verbose=int(not quiet))
    with named(task.data):
        model.fit(values)
    model.set_params(checkpoint=None, resume=False, verbose=0)
    if names is not None:
        import numpy as np

        model.feature_names_in_ = np.array(names, object)
    return model, values


def _account(task: Task, model: Any, values: Any, seconds: float) -> list[str]:
    """What was learned, in lines for a person. It also finds log Z, which the model's file then has."""
    from harmonium.cli.score import about
    from harmonium.data import read
    from harmonium.estimators import account, held_out
    from harmonium.estimators.fitting import n_updates

    rows = read(values, dtype=model.dtype)
    learned, held = held_out(model, rows.n_rows)
    unit, planned = type(model.machine_.layers[0]).__name__, n_updates(model.get_params())
    of = f" of {planned:,}" if model.n_updates_ < planned else ""
    found, kept = [("learned from", account(model, rows.take(learned)))], []
    if held is not None:
        scores = model.history_["validation_log_likelihood"]
        best = model.history_["step"][scores.index(max(scores))]
        kept = [f"            kept: the model after update {best:,}, the best on the others"]
        found.append(("held out", account(model, rows.take(held))))
    lines = [
        f"learned     {task.data}: {rows.n_rows:,} rows × {rows.n_columns:,} columns ({unit})",
        f"            {model.n_components:,} {model.hidden} hidden units, "
        f"{model.n_updates_:,}{of} updates, {seconds:.0f} s in this sitting",
        *kept,
        "",
        f"{'log-likelihood, nats a row':34} {'model':>10} {'independent columns':>20}",
    ]
    for what, one in found:
        lines.append(
            f"  {f'{one.n_rows:,} rows {what}':32} {one.log_likelihood.estimate:10.3f} {_number(one.independent):>20}"
        )
    z = model.log_partition_
    lines += [*(f"  {line}" for line in about(z)), "", f"saved       {task.output}"]
    if not found[-1][1].log_likelihood.estimate > (found[-1][1].independent or float("-inf")):
        lines.append("note        no better than independent columns: try more updates, or another learning rate")
    lines.append(f"next        harmonium sample {task.output} -n 100 -o samples.csv")
    lines.append(f"            harmonium transform {task.output} {task.data} -o features.npy")
    return lines


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"
