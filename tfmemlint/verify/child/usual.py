"""Usual values by name: `batch_size` is 32. What is made up of a name alone, in programs and in their plans."""

from __future__ import annotations

import re

SETTINGS = frozenset({
    "args", "arg", "config", "configs", "cfg", "conf", "configuration", "flags", "hparams", "hparam", "hp", "hps",
    "hyperparameters", "hyperparams", "opt", "options", "opts", "params", "parameters", "settings", "setting",
})  # fmt: skip
"""Last words of the names of what holds settings."""

OFF = frozenset({
    "debug", "distributed", "eager", "fp16", "horovod", "load", "pretrained", "profile", "reload", "restore", "resume",
    "tpu", "verbose", "xla",
})  # fmt: skip
"""Words of flags that are off in most runs."""

COUNTS = frozenset({"num", "n", "nb", "max", "min", "number", "no"})
"""First words of the names of numbers."""

VALUES: tuple[tuple[str, object], ...] = (
    (r"dirs?|folders?|directory|root|dirname", "folder"),
    (r"paths?|files?|filenames?|fname|csv|json|checkpoint|ckpt|pattern", "file"),
    (r"epochs?", 2),
    (r"batch|bs|bsize|batchsize", 32),
    (r"lr|rate|alpha|beta|beta1|beta2|gamma|lambda|lambd|dropout|eps|epsilon|decay|ratio|prob|probability|weight|l2"
     r"|fraction|percent|temperature|sigma|std|stddev|clip|smoothing|threshold|thresh|margin|momentum|noise|coef"
     r"|coefficient", 0.1),
    (r"is|use|has|do|with|training|train|shuffle|augment|augmentation|flag|include|return|repeat|cache|drop|normalize"
     r"|training|trainable|enabled?|from_logits|bias|residual", True),
    (r"debug|verbose|tpu|resume|restore|pretrained|fp16", False),
    (r"(time)?steps?|rounds?|iterations?|iters?|freq|frequency|interval|every|patience", 10),
    (r"gpus?|cores?|workers?|prefetch|processes|threads|calls|parallel|strides?|replicas?|layers?|blocks?|heads?"
     r"|depth", 2),
    (r"image|img|height|width|h|w|resolution|crop|imsize", 128),
    (r"kernel|kernels", 3),
    (r"channels?|color|colors", 3),
    (r"classes|categories|k|topk|labels|targets", 10),
    (r"vocab|vocabulary|words|tokens|buffer|samples|examples|rows|points", 1000),
    (r"sizes?|dims?|dimensions?|units|len|length|filters|features|hidden|embedding|embed|maxlen|window|count", 64),
    (r"seed|version|year|day|rank|index|idx|id|number|num|n|epoch|step|iteration|i|j", 1),
    (r"axis", -1),
    (r"dtype|precision", "float32"),
    (r"activation|act", "relu"),
    (r"padding", "same"),
    (r"loss", "mse"),
    (r"optimizer|optim", "adam"),
    (r"metrics?", "accuracy"),
    (r"mode|phase|split|subset|partition", "train"),
    (r"names?|type|kind|text|word|string|str|title|key|url|prefix|suffix|model|backbone|arch|architecture|device|desc"
     r"|description|message|msg|label|format|scope|tag|dataset|task|extension|ext|sentence|query|prompt|lang|language",
     "text"),
)  # fmt: skip


NUMBERS = frozenset({
    "lr", "rate", "alpha", "beta", "gamma", "eps", "epsilon", "decay", "dropout", "ratio", "prob", "fraction",
    "percent", "temperature", "clip", "smoothing", "threshold", "thresh", "margin", "momentum", "coef", "coefficient",
    "freq", "frequency", "interval", "every", "patience", "epochs", "epoch", "iterations", "steps", "seed", "size",
    "dim",
})  # fmt: skip
"""Last words of the names of single numbers."""


OF_SIZES = re.compile(r"d_?(model|k|v|q|ff|inner|hid|hidden|head|emb|embed|key|value|state)|(dims?|size)_\w+")
"""Names of sizes whose last word is that of another thing."""


def is_size(name: str) -> bool:
    """Whether a name is one of a size by the way in which it begins: `d_model`, `dim_encoder`."""
    return OF_SIZES.fullmatch(name.lower()) is not None


def is_number(name: str) -> bool:
    """Whether a name is one of a single number, as far as nothing speaks against it."""
    words = words_of(name)
    return is_size(name) or (bool(words) and (words[-1] in NUMBERS or (words[0] in COUNTS and len(words) > 1)))


def words_of(name: str) -> list[str]:
    """The words of a name, in lower case: `imageSize` and `IMAGE_SIZE` have two."""
    return [part.lower() for part in re.findall(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*", name)]


def usual(name: str) -> object:
    """What a value of this name usually is: a number, text or a flag; None where the name tells nothing."""
    words = words_of(name)
    if not words:
        return None
    if is_size(name):
        return 64
    if len(words) > 1 and words[-1] in ("split", "size") and words[-2] in ("dev", "test", "val", "valid", "validation"):
        return 0.2
    if words[-2:] == ["growth", "rate"]:  # of a DenseNet: so many channels more with each layer
        return 12
    if words[0] in ("is", "use", "has", "do", "with", "enable", "should") and len(words) > 1:
        return OFF.isdisjoint(words)
    last = words[-1]
    if last in ("size", "shape", "dim", "length", "len") and len(words) > 1:
        inner = next((value for value in (_by(word) for word in words[-2::-1]) if isinstance(value, int)), None)
        return 64 if inner is None or isinstance(inner, bool) else inner
    if last in COUNTS and len(words) > 1:
        counted = next((value for end in ("", "s", "es") if (value := _by(words[-2] + end)) is not None), None)
        return counted if isinstance(counted, int) and not isinstance(counted, bool) else 10
    found = _by(last)
    if found is None:
        others = (_by(word) for word in words[-2::-1])
        found = next((value for value in others if value is not None and not isinstance(value, bool)), None)
    if words[0] in COUNTS and len(words) > 1 and (isinstance(found, (str, bool)) or found is None):
        return 10
    return found


def _by(word: str) -> object:
    return next((value for pattern, value in VALUES if re.fullmatch(pattern, word)), None)


def holds_settings(name: str) -> bool:
    """Whether a name is one of what holds settings."""
    words = words_of(name)
    return bool(words) and (words[-1] in SETTINGS or words[0] in SETTINGS)
