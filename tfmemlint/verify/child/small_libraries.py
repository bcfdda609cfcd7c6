"""Stands in for small libraries that programs begin with, where they are not installed: settings with attributes,
commands with options, environments to act in; loaded by `main.py`."""

from __future__ import annotations

import functools
import importlib
import re
import types
from collections.abc import Callable, Mapping
from typing import Any

ENVIRONMENTS: dict[str, tuple[tuple[int, ...], int]] = {
    "CartPole": ((4,), 2),
    "MountainCar": ((2,), 3),
    "Acrobot": ((6,), 3),
    "LunarLander": ((8,), 4),
    "Pendulum": ((3,), 0),
    "MountainCarContinuous": ((2,), 0),
}
"""What is seen in an environment, and how many actions there are, 0 for one number in their place."""

SCREENS = re.compile(
    r"^ALE/|Deterministic|NoFrameskip|^(?:BeamRider|Boxing|Breakout|Enduro|MsPacman|Pong|Qbert|Seaquest|SpaceInvaders)"
)
SCREEN = ((210, 160, 3), 6)
"""Names of games of which the screen is seen, and what that is."""

NEWER = re.compile(r"\btruncated\b|,\s*\w+\s*=\s*[\w.]*\.reset\(|\.reset\([^()]*\)\[0\]|\.reset\(seed=")
"""What programs say for which `gym` is what it became with 0.26: `reset` gives two things, and `step` five."""

OTHER = ((8,), 4)
STEPS = 50
"""Steps of an episode."""


def _np() -> Any:
    return importlib.import_module("numpy")


class Attributes(dict[str, Any]):
    """A dictionary whose items are attributes, those that are dictionaries, too."""

    def __init__(self, *args: Any, **items: Any) -> None:
        super().__init__()
        for name, value in dict(*args, **items).items():
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, type(self)(value) if type(value) is dict else value)

    def __getattr__(self, name: str) -> Any:
        if name not in self:
            raise AttributeError(name)
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Config(Attributes):
    """Settings that a file may be merged into, and that are copied and locked."""

    def clone(self) -> Any:
        return type(self)(self)

    def freeze(self, *_: Any) -> None:
        """Nothing changes: no file is read."""

    defrost = merge_from_file = merge_from_list = freeze


class Space:
    """What can be seen, or done."""

    def __init__(self, shape: tuple[int, ...], n: int = 0) -> None:
        numpy = _np()
        self.shape, self.dtype = shape, numpy.dtype("int64" if n else "float32")
        self.low, self.high = numpy.full(shape, -1.0, "float32"), numpy.full(shape, 1.0, "float32")
        if n:
            self.n = n

    def seed(self, *_: Any) -> Any:
        """Nothing is drawn."""

    def sample(self) -> Any:
        return 0 if hasattr(self, "n") else _np().zeros(self.shape, "float32")


class Environment:
    """An environment in which an episode ends after some steps, whatever is done."""

    def __init__(self, name: str, newer: bool) -> None:
        own = SCREEN if SCREENS.search(str(name)) else OTHER
        seen, actions = ENVIRONMENTS.get(str(name).rpartition("/")[2].partition("-")[0], own)
        self.observation_space, self.action_space = Space(seen), Space(() if actions else (1,), actions)
        self.unwrapped, self._newer, self._step, self.spec = self, newer, 0, types.SimpleNamespace(id=name)
        self.reward_range, self._max_episode_steps = (-1.0, 1.0), STEPS

    def _seen(self) -> Any:
        kind = "uint8" if len(self.observation_space.shape) == 3 else "float32"
        return _np().zeros(self.observation_space.shape, kind)

    def reset(self, *_: Any, **__: Any) -> Any:
        self._step = 0
        return (self._seen(), {}) if self._newer else self._seen()

    def step(self, action: Any) -> Any:
        self._step += 1
        over = self._step >= STEPS
        return (self._seen(), 1.0, over, False, {}) if self._newer else (self._seen(), 1.0, over, {})

    def render(self, *_: Any, **__: Any) -> Any:
        """Shows nothing."""

    seed = close = render


def _command(usual: Callable[[str], Any]) -> Callable[..., Any]:
    """`click.command`: the function is called with what its options are by default, else by their names."""

    def command(*_: Any, **__: Any) -> Any:
        def decorated(function: Any) -> Any:
            @functools.wraps(function)
            def run(*args: Any, **given: Any) -> Any:
                known = {name: _given(name, how, usual) for name, how in getattr(function, "options", {}).items()}
                return function(*args, **{**({} if args else known), **given})

            return run

        return decorated(_[0]) if _ and callable(_[0]) else decorated

    return command


def _option(*names: str, **how: Any) -> Any:
    def decorated(function: Any) -> Any:
        bare = next((each for each in names if not each.startswith("-")), names[0] if len(names) == 1 else names[-1])
        word = bare.partition("/")[0].lstrip("-").replace("-", "_").lower()
        function.options = {word: how, **getattr(function, "options", {})}
        return function

    return decorated


def _given(name: str, how: Mapping[str, Any], usual: Callable[[str], Any]) -> Any:
    if how.get("is_flag") or "default" in how:
        return how.get("default", False)
    value, kind = usual(name), how.get("type")
    if kind in (int, float):
        return kind(value) if isinstance(value, (int, float)) else kind(1)
    return value if isinstance(value, str) else name


def _box(low: Any = -1.0, high: Any = 1.0, shape: Any = None, dtype: Any = None) -> Space:
    return Space(tuple(shape) if shape is not None else _np().shape(low))


PRICES = "its prices are a made-up table"

SPACES = types.SimpleNamespace(Box=_box, Discrete=lambda n, *_, **__: Space((), int(n)), Space=Space)


def fills(usual: Callable[[str], Any], texts: str) -> dict[str, tuple[Callable[[Any], None], str]]:
    """What fills these libraries for a program of these texts, and what is said of it; `usual` gives the usual value of
    a name."""

    def of(**names: Any) -> Callable[[Any], None]:
        return lambda module: vars(module).update(names)

    settings = "settings with attributes stand for those that it has"
    acts = "environments whose episodes have 50 steps stand for those that it has"
    both = {"Env": object, "Wrapper": object, "spaces": SPACES}
    newer = NEWER.search(texts) is not None
    return {
        "easydict": (of(EasyDict=Attributes), settings),
        "yacs": (of(), settings),
        "yacs.config": (of(CfgNode=Config), settings),
        "addict": (of(Dict=Attributes), settings),
        "click": (of(command=_command(usual), option=_option, argument=_option), "options have their defaults"),
        "gym": (of(make=functools.partial(_environment, newer), **both), acts),
        "gymnasium": (of(make=functools.partial(_environment, True), **both), acts),
        **dict.fromkeys(("gym.spaces", "gymnasium.spaces"), (of(**vars(SPACES)), acts)),
        "yfinance": (of(download=_prices, Ticker=_Ticker, pdr_override=lambda: None), PRICES),
        "pandas_datareader": (of(DataReader=_prices, get_data_yahoo=_prices), PRICES),
        "pandas_datareader.data": (of(DataReader=_prices, get_data_yahoo=_prices), PRICES),
    }


def _prices(*_: Any, **__: Any) -> Any:
    """A made-up table with a row for each day."""
    pandas: Any = importlib.import_module("pandas")
    made = pandas.read_csv("prices.csv")
    if hasattr(made, "set_index") and hasattr(pandas, "date_range"):
        made.index = pandas.date_range("2015-01-01", periods=len(made), name="Date")
    return made


class _Ticker:
    """One share."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.info: dict[str, Any] = {}

    history = staticmethod(_prices)


def _environment(newer: bool, name: str, *_: Any, **__: Any) -> Environment:
    return Environment(name, newer)
