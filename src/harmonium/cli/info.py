"""``harmonium info``: what a file or the folder of a run holds."""

import json
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

SUMMARY = "what a file holds"
DESCRIPTION = "What a model's file, or the folder of a run, holds. Its digest is checked."
EXAMPLE = "harmonium info demo/model.safetensors"


def arguments(parser: ArgumentParser) -> None:
    """What the verb takes."""
    parser.add_argument("path", metavar="MODEL|FOLDER", help="a file that harmonium saved, or a checkpoint's folder")
    parser.add_argument("--json", action="store_true", help="print it as JSON")


def run(args: Namespace) -> None:
    """Do it."""
    from harmonium.cli.score import plain

    path = Path(args.path)
    said = _of_run(path) if path.is_dir() else _of_file(path)
    if args.json:
        print(json.dumps(plain(said), indent=1))
        return
    for name, value in said.items():
        lines = [f"{k} {_shown(v)}" for k, v in value.items()] if isinstance(value, dict) else [_shown(value)]
        for i, line in enumerate(lines or ["none"]):
            print(f"{'' if i else name.replace('_', ' '):15} {line}")


def _of_file(path: Path) -> dict[str, Any]:
    from harmonium.artifact import FORMAT, read

    arrays, told = read(path)
    said: dict[str, Any] = {"file": str(path), "format": f"{FORMAT} (digest matches)"}
    if "checkpoint" in told:
        return said | {"holds": "the checkpoint of a run"} | _of_checkpoint(arrays, told["checkpoint"])
    machine = told.get("machine", told)
    said["holds"] = f"an estimator, {told['estimator']}" if "estimator" in told else "a machine"
    said["layers"] = {}
    for layer in machine["layers"]:
        size = arrays["layers.{name}.bias".format(**layer)].shape
        said["layers"][layer["name"]] = f"{layer['type']} {'×'.join(map(str, size))}"
    said["numbers"] = sum(array.size for array in arrays.values())
    if "estimator" in told:
        said["parameters"] = told["parameters"]
        if told["columns"]["names"] is not None:
            said["columns"] = told["columns"]["names"]
        said["learned_from"] = {"rows": told["n_rows"]} if told.get("n_rows") else "nothing: parameters were given"
        said["updates"] = told["n_updates"]
        said["history_ends"] = {name: row[-1] for name, row in told["history"].items() if row}
        said["log_partition"] = told["log_partition"] or "not computed yet"
    return said


def _of_run(folder: Path) -> dict[str, Any]:
    from harmonium.artifact import FORMAT, read
    from harmonium.cli.run import NAME, Task
    from harmonium.training import checkpoint

    said: dict[str, Any] = {"folder": str(folder)}
    file = checkpoint.path_in(folder)
    if (folder / NAME).is_file() or not file.is_file():
        task = Task.read(folder)
        ended = "finished" if task.finished() else f"unfinished: harmonium resume {folder}"
        said |= {"run": ended, "data": task.data, "output": task.output, "parameters": task.parameters}
    if not file.is_file():
        return said | {"checkpoint": "none yet: the run begins anew"}
    arrays, told = read(file)
    if "checkpoint" not in told:
        return said | {"checkpoint": f"{file} holds none"}
    return (
        said | {"checkpoint": f"{file}, format {FORMAT} (digest matches)"} | _of_checkpoint(arrays, told["checkpoint"])
    )


def _of_checkpoint(arrays: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    steps = [int(array) for name, array in arrays.items() if name.endswith(".step") and array.shape == ()]
    said: dict[str, Any] = {"updates": max(steps, default=0), "stopped_early": told["stopped"]}
    if told["history"]:
        said["history_ends"] = told["history"][-1]
    if told["best"]:
        said["best"] = told["best"]
    return said


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value[:8])) + (f", … ({len(value)})" if len(value) > 8 else "")
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if type(value) is int else str(value)
