"""The command line from outside: what is imported, help and its examples, exit codes, one line for what goes wrong."""

import json
import re
import shlex
import subprocess
import sys
from inspect import signature

import numpy as np
import pytest

from harmonium import RBM
from harmonium.cli import demo, main, options
from harmonium.cli.command import VERBS

HEAVY = {"jax", "jaxlib", "numpy", "scipy", "sklearn", "equinox", "matplotlib", "optax", "rich", "narwhals"}


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["score", "--help"], ["resume", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(words):
    code = (
        "import json, sys\n"
        "from harmonium.cli import main\n"
        f"try: main({words})\n"
        "except SystemExit as left: assert not left.code\n"
        "print(); print(json.dumps(sorted(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = json.loads(done.stdout.splitlines()[-1])
    assert "harmonium.cli.command" in loaded
    assert not HEAVY & {name.split(".")[0] for name in loaded}


def test_help_names_every_verb(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    for verb, module in VERBS.items():
        assert re.search(rf"^ +{verb}\s+{re.escape(module.SUMMARY)}$", out, re.MULTILINE)


def test_help_of_every_verb_shows_an_example_that_works(folder, run, monkeypatch):
    """The lines as they are printed, in one folder, the demonstration's first; only that one is made shorter."""
    monkeypatch.setattr(demo, "SETTINGS", demo.SETTINGS | {"n_components": 8, "n_updates": 40})
    for verb in VERBS:
        code, out, _ = run(verb, "--help")
        assert code == 0
        lines = out[out.index("example:") :].splitlines()[1:]
        examples = [line.strip() for line in lines if line.strip()]
        assert any(line.startswith(f"harmonium {verb}") for line in examples)
        for line in examples:
            program, *words = shlex.split(line)
            before = set(folder.rglob("*"))
            code, out, err = run(*words)
            assert (program, code) == ("harmonium", 0), (line, err)
            made = {path.name for path in set(folder.rglob("*")) - before}
            named = {word for word in words[1:] if re.fullmatch(r"\w+\.(safetensors|npy|csv)", word)}
            assert named <= made, line
            assert out
            assert "\x1b" not in out + err


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["learn"],
        ["fit"],
        ["fit", "rows.npy", "--components", "0"],
        ["fit", "rows.npy", "--method", "magic"],
        ["fit", "rows.npy", "--learning-rate", "nan"],
        ["fit", "rows.npy", "--seed", "-1"],
        ["sample", "m.safetensors", "-n", "0"],
        ["score", "m.safetensors"],
        ["info", "--jsn", "x"],
    ],
    ids=" ".join,
)
def test_words_that_make_no_command_are_usage_errors(words, folder, run):
    code, out, err = run(*words)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert "harmonium" in err.splitlines()[-1]


def test_usage_errors_say_what_was_wanted(folder, run):
    assert (
        "argument --components: found '0'; wanted a whole number of at least 1" in run("fit", "x", "--components=0")[2]
    )
    found = run("fit", "x", "--optimizer", "best")[2]
    assert "found 'best'; wanted one of 'sgd'" in found
    assert "optax" not in found  # no word stands for an object


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["fit", "none.csv"], "none.csv: found no file of this name"),
        (["fit", "rows.txt"], "rows.txt: found the ending '.txt'"),
        (["fit", "."], "found the ending ''"),
        (["score", "none.safetensors", "rows.npy"], "none.safetensors: No such file"),
        (["sample", "rows.npy"], "rows.npy: found"),
        (["resume", "."], "found no run.json"),
        (["info", "none"], "none: No such file"),
        (["fit", "rows.npy", "-o", "none/model.safetensors", "--updates", "1"], "none/model.safetensors: No such file"),
        (["fit", "rows.npy", "--visible", "spin"], "rows.npy: found 1 at row 0, column 2; wanted values of -1 or 1"),
        (["fit", "rows.npy", "--updates", "100", "--learning-rate", "1e9", "--no-centred"], "training diverged"),
        (["fit", "rows.npy", "--components", str(10**12)], "found too little memory"),
        (["sample", "model.safetensors", "-o", "rows.txt"], "--output: found 'rows.txt'; wanted a file that ends in"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_refusals_are_one_line(words, said, rows, run):
    if "spin" in words:
        table = np.ones((60, 3), np.int8)
        table[0, 2] = 0
        np.save("rows.npy", table)
        said = said.replace("found 1", "found 0")
    code, out, err = run(*words)
    assert (code, out) == (1, "")
    *before, last = err.splitlines()
    assert last.startswith("harmonium: ")
    assert said in last
    assert all(line.startswith(("harmonium: note: ", "RBM ")) for line in before)


def test_a_divergence_leaves_no_model(rows, run, folder):
    assert run("fit", "rows.npy", "--updates", "100", "--learning-rate", "1e9", "--no-centred")[0] == 1
    assert not list(folder.glob("*.safetensors"))


def test_a_bug_is_not_called_a_refusal(rows, monkeypatch):
    """Only what the library raises on purpose becomes a line; anything else keeps its traceback."""
    monkeypatch.setattr(VERBS["info"], "run", lambda _: [][1])
    with pytest.raises(IndexError):
        main(["info", "rows.npy"])
    monkeypatch.setattr(VERBS["info"], "run", lambda _: int("x"))
    with pytest.raises(ValueError, match="invalid literal"):
        main(["info", "rows.npy"])


def test_warnings_are_one_line_without_a_place_in_the_code(rows, run):
    rows[:, 1] = 1
    np.save("rows.npy", rows)
    code, _, err = run("fit", "rows.npy", "--quiet", "--components", "4", "--updates", "1")
    assert code == 0
    assert err.startswith("harmonium: note: 1 of 6 columns have one value only: 1.")
    assert ".py" not in err
    assert err.count("\n") == 1


def test_a_reader_that_has_enough_is_no_error(model):
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"set -o pipefail; '{sys.executable}' -m harmonium sample {model} -n 20000 --steps 2 | head -n 1",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(r"[01](,[01]){5}\n", done.stdout)
    assert done.stderr == ""


def test_every_parameter_has_an_option_with_its_default():
    parser = options.argparse.ArgumentParser()
    options.add(parser, RBM)
    parsed = vars(parser.parse_args([]))
    wanted = {name: p.default for name, p in signature(RBM).parameters.items() if name not in options.ASIDE}
    assert parsed == wanted | {"random_state": 0}
    said = options.described(RBM)
    assert set(wanted) <= set(said)
    assert said["n_components"] == "Hidden units."
    assert said["l1"] == said["l2"]


@pytest.mark.parametrize(
    ("words", "name", "value"),
    [
        ("--components 7", "n_components", 7),
        ("--chains None", "n_chains", None),
        ("--updates auto", "n_updates", "auto"),
        ("--updates 9", "n_updates", 9),
        ("--learning-rate 1e-3", "learning_rate", 0.001),
        ("--no-averaging", "averaging", False),
        ("--validation 0.25", "validation_fraction", 0.25),
        ("--seed 5", "random_state", 5),
        ("--optimizer adam", "optimizer", "adam"),
    ],
)
def test_words_become_values(words, name, value):
    parser = options.argparse.ArgumentParser()
    options.add(parser, RBM)
    found = vars(parser.parse_args(words.split()))[name]
    assert found == value
    assert type(found) is type(value)
