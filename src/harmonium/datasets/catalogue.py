"""What is known of each data set: its shape, the digest of its rows, and where the original is."""

from typing import NamedTuple

# Lowd & Davis (2010), Van Haaren & Davis (2012), Larochelle & Murray (2011); binarized MNIST as H. Larochelle has it.
COMMIT = "850908666388f1b1c766a304b37dae14613f1e51"
DEBD = f"https://raw.githubusercontent.com/arranger1044/DEBD/{COMMIT}/datasets/{{name}}/{{name}}.{{split}}.data"
AMAT = "https://www.cs.toronto.edu/~larocheh/public/datasets/binarized_mnist/binarized_mnist_{split}.amat"


class Known(NamedTuple):
    """Of one split: the number of rows, and the SHA-256 of ``numpy.packbits(rows, axis=1)``.

    The digest is of the rows and not of a file, so that one number checks an original, a cached download and a copy.
    """

    rows: int
    sha256: str


class DataSet(NamedTuple):
    """A data set: its ``file`` in a folder of copies, and the ``url`` of an original ("": no download)."""

    columns: int
    train: Known
    valid: Known
    test: Known
    file: str = "debd/{name}.npz"
    url: str = DEBD


SETS = {
    "binarized_mnist": DataSet(
        784,
        Known(50000, "727146c35424b019f3e350e1e69faa05644a0abaf787e3f4e1a9632220a13906"),
        Known(10000, "a256ac44ae26be720fad8616a05ed6ecfd1619930d9a208379bb2a4405df5b6d"),
        Known(10000, "9fcd8da6f0fdf09b2ba30fe63a0bb784042a0de82563172530229b983e294ff2"),
        "binarized_mnist/binarized_mnist_packbits.npz",
        AMAT,
    ),
    "bnetflix": DataSet(
        100,
        Known(15000, "34a85b18279a0371e6ebe280a1f75559286bf9e24a2ff03ce3763557f1ca731a"),
        Known(2000, "ee7416efc3bb839c7df866f60f7eaf63053f32ef5093f4deacb2238c9ce88954"),
        Known(3000, "74009aa536601fdf0bdb6b7544973496487e8216f2826b7a8dbdb6fba1be2287"),
    ),
    "dna": DataSet(
        180,
        Known(1600, "a79dc4e3cecb9b28cdaaa562146e0d1240b7a44e3a7a172cef1f7d1741b17987"),
        Known(400, "538d89e0bd167d6538d7ae17e30a26a3dd1540e3c7b950f14a55768a5ed21f00"),
        Known(1186, "1cf7544018e47407cf867662bf0d55f0de17b37d23cda5a74f445a97eecad8ce"),
    ),
    "jester": DataSet(
        100,
        Known(9000, "37fb6e5901bb6d78d20f56302586cbbfde632aff05474a39eb9903f1d39bc0f1"),
        Known(1000, "895cf5b511ffeeb56dbf4fd1b85d82a4bd246a77170ff545040efe9c84ba4c9a"),
        Known(4116, "13a0e32eef6c753ca141da30350fa0afd725cddba1078c2e9256fad3a1939f4b"),
    ),
    "mushrooms": DataSet(
        112,
        Known(2000, "b9b5e3b85f7fc3a6a7b15951f2974a0bafa2b9528001bcb8740f7187f2d7ff2b"),
        Known(500, "c820fb1db5cc0918a66cac28324508eb29e73edabd540313c39bcf476757f5c4"),
        Known(5624, "de4f74441a3f07d6acc13aaa572e67e6e101551d99bee7d668c340e5ce720256"),
    ),
    "nltcs": DataSet(
        16,
        Known(16181, "443230cccd53650e3465d88ecc71c165a03b8ea93e0d5efc8a0adee9a8c3261b"),
        Known(2157, "aa893aea35fc267dcd8c5ade1082667c9de65606aa1636a7bda7e10e9107542c"),
        Known(3236, "2e7f41a762856c5358655546177ed76633343496f93dd9519d14c8dd7a8290af"),
    ),
    "ocr_letters": DataSet(
        128,
        Known(32152, "24c6e5b057c0697d5cda654db4fbf11507ac12bfb69a99e95719ab3b6abc9519"),
        Known(10000, "a5187a0334abcf5258e80da23d85d30056b0b9115e5ad33bf655fa27b87c752a"),
        Known(10000, "66f46e2bcc88f9b285aea214ac91bab94c37fcc2b609f64fc62f448f35a663df"),
        "ocr_letters/ocr_letters.npz",
        "",  # no public file has the training rows in the order of the copy
    ),
}

RBM_FILE = "rbm_cd25_500/rbm_cd25_500.npz"  # no URL: the original is an opaque MATLAB object
RBM_ARRAYS = {  # shape, and digest of the bytes in float32
    "W": ((784, 500), "f9ff53085e0113decf5cd9ecd7b66fe6b99c22b038260eef2bdbc4d9943161a3"),
    "vbias": ((784,), "14f3b4814df4ffccab87956a14db63ee1a8d22e104f257d242297a9117a70782"),
    "hbias": ((500,), "022439e1631d8ed3883d7d86faafeff116a0e86910463404f54c1348c91f2876"),
}


def names() -> tuple[str, ...]:
    """What ``load`` can load."""
    return tuple(SETS)
