"""Rule packs: found through the entry-point group `tfmemlint.rules`, loaded once, selected by the configuration.

An entry point names a package; its public modules hold Rule subclasses, modules whose names start with `_` hold what
several share. The rules that come with the tool are found in the same way. Nothing is imported before `load_rules`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tfmemlint import __version__
from tfmemlint.config.selectors import ENGINE, Known, closest, complaint, is_known, selected
from tfmemlint.config.settings import Config, ConfigError
from tfmemlint.lint.entry_points import EntryPoint, entry_points

if TYPE_CHECKING:
    from types import ModuleType

    from tfmemlint.rule import Rule

GROUP = "tfmemlint.rules"


class RegistryError(Exception):
    """Rules that cannot be used: none installed, a pack that cannot be loaded, or two rules of one code."""


def packs() -> tuple[EntryPoint, ...]:
    """The installed rule packs, in the order of their names."""
    found = {(point.name, point.value): point for point in entry_points(GROUP)}
    return tuple(point for _, point in sorted(found.items()))


@cache
def load_rules() -> tuple[Rule, ...]:
    """One instance of each installed rule, in the order of their codes. Raises RegistryError."""
    classes = [kind for point in packs() for kind in _rule_classes(point)]
    if not classes:
        raise RegistryError(
            "no rules found: no installed package offers the entry point group 'tfmemlint.rules'; "
            "install tfmemlint with pip (in a checkout: pip install -e .)"
        )
    refuse_duplicates(classes)
    return tuple(kind() for kind in sorted(classes, key=lambda kind: kind.code))


@cache
def installed() -> tuple[Rule, ...]:
    """The installed rules for selecting and waking them. Those that come with the tool are imported when they wake,
    where it is known what they wait for and there are no others. Raises RegistryError."""
    from tfmemlint.lint import listed

    points = packs()
    if [point.value for point in points] != [listed.OWN] or load_rules.cache_info().currsize:
        return load_rules()
    folder = _folder(listed.OWN)
    rules = listed.read(folder) if folder is not None else None
    if rules is None:
        rules = load_rules()
        if folder is not None:
            listed.write(folder, rules)
    return rules


def _folder(package: str) -> str | None:
    import importlib.util

    spec = importlib.util.find_spec(package)
    return next(iter(spec.submodule_search_locations or ()), None) if spec is not None else None


def refuse_duplicates(classes: Iterable[type[Rule]]) -> None:
    """Raises RegistryError when two rules have one code or one name, or take one of the tool's own."""
    owners = {text: "the tool itself" for known in ENGINE for text in (known.code, known.name)}
    for kind in classes:
        place = f"{kind.__module__}.{kind.__qualname__}"
        for text in (kind.code, kind.name):
            if text in owners:
                raise RegistryError(f"{text} is taken twice: by {owners[text]} and by {place}; remove one of them")
            owners[text] = place


def _rule_classes(point: EntryPoint) -> Iterator[type[Rule]]:
    from tfmemlint.rule import Rule

    for module in _modules(point):
        for value in vars(module).values():
            if not (isinstance(value, type) and issubclass(value, Rule) and value is not Rule):
                continue
            if value.__module__ == module.__name__ and not value.__dict__.get("abstract", False):
                yield value


def _modules(point: EntryPoint) -> list[ModuleType]:
    """The modules of a pack that may hold rules."""
    import importlib
    import pkgutil

    name = point.value
    try:
        package = importlib.import_module(name)
        modules = [package]
        for found in sorted(pkgutil.iter_modules(getattr(package, "__path__", ())), key=lambda each: each.name):
            if not found.name.startswith("_"):
                name = f"{point.value}.{found.name}"
                modules.append(importlib.import_module(name))
        return modules
    except Exception as error:  # a pack is someone else's code and may fail in any way
        raise RegistryError(
            f"rule pack '{point.name}'{_distribution(point)} cannot be loaded: {name}: {_one_line(error)}; "
            "update or uninstall it"
        ) from error


def _distribution(point: EntryPoint) -> str:
    return f" of {point.dist.name} {point.dist.version}" if point.dist else ""


def _one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())


def known(rule: Rule) -> Known:
    """What selectors see of a rule."""
    return Known(rule.code, rule.name, rule.default)


def all_known(rules: Iterable[Rule]) -> tuple[Known, ...]:
    """What selectors can speak of: these rules and what the tool itself reports."""
    return (*ENGINE, *(known(rule) for rule in rules))


def known_codes() -> Mapping[str, str]:
    """The name of every installed rule by its code, whether it is selected or not."""
    return {rule.code: rule.name for rule in installed()}


def select(rules: Sequence[Rule], config: Config) -> tuple[Rule, ...]:
    """The rules that a configuration chooses. Raises ConfigError for a selector that no rule answers to."""
    check_selectors(config, rules)
    codes = selected_codes(rules, config)
    return tuple(rule for rule in rules if rule.code in codes)


def selected_codes(rules: Iterable[Rule], config: Config) -> frozenset[str]:
    """The codes that a configuration chooses, the tool's own among them."""
    return selected(all_known(rules), config.layers, preview=config.preview)


def check_selectors(config: Config, rules: Iterable[Rule]) -> None:
    """Raises ConfigError, naming file and key, for the first selector that no installed rule answers to."""
    everything = all_known(rules)
    for path, key, selectors in _selectors(config):
        for selector in selectors:
            if not is_known(selector, everything):
                raise ConfigError(path, key, complaint(selector, everything))


def has_selectors(config: Config) -> bool:
    """Whether a configuration names rules at all, so that the names are still to be checked."""
    return any(selectors not in ((), ("ALL",)) for _, _, selectors in _selectors(config))


def _selectors(config: Config) -> Iterator[tuple[str, str, Collection[str]]]:
    line = config.command_line
    for key, texts in (("select", line.select or ()), ("extend-select", line.extend_select), ("ignore", line.ignore)):
        yield "", f"--{key}", texts
    for key, found in (
        ("select", config.select or ()), ("extend-select", config.extend_select), ("ignore", config.ignore),
        ("extend-ignore", config.extend_ignore), ("severity", tuple(config.severity)), ("fixable", config.fixable),
        ("unfixable", config.unfixable), ("extend-fixable", config.extend_fixable),
        ("extend-safe-fixes", config.extend_safe_fixes), ("extend-unsafe-fixes", config.extend_unsafe_fixes),
    ):  # fmt: skip
        yield config.path, key, found
    for key, table in (
        ("per-file-ignores", config.per_file_ignores), ("extend-per-file-ignores", config.extend_per_file_ignores),
    ):  # fmt: skip
        for pattern, texts in table.items():
            yield config.path, f"{key}.'{pattern}'", texts


def ignored_in_file(everything: Iterable[Known], config: Config, path: str) -> frozenset[str]:
    """The codes that `per-file-ignores` switches off in one file. Patterns are those of `.gitignore`, relative to the
    directory of the configuration; one with a `!` in front speaks of all files that it does not match."""
    tables = (config.per_file_ignores, config.extend_per_file_ignores)
    if not any(tables):
        return frozenset()
    from tfmemlint.config.patterns import matches

    root = config.root or os.getcwd()
    relative = os.path.relpath(os.path.abspath(path), root).replace(os.sep, "/")
    selectors: list[str] = []
    for table in tables:
        for pattern, texts in table.items():
            if matches(pattern.removeprefix("!"), relative) != pattern.startswith("!"):
                selectors += texts
    return frozenset(each.code for each in everything if closest(selectors, each) >= 0)


@cache
def fingerprint() -> str:
    """A text that changes with the tool, its rule packs and Python, made without importing any rule."""
    import hashlib
    import importlib.util

    digest = hashlib.blake2b(digest_size=16)
    digest.update(f"{__version__} {sys.version_info[:2]}".encode())
    folders = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    for point in packs():
        digest.update(f"{point.name}={point.value}{_distribution(point)}".encode())
        try:
            spec = importlib.util.find_spec(point.value)
        except Exception as error:  # a dotted name imports the package above it
            raise RegistryError(f"rule pack '{point.name}' cannot be loaded: {_one_line(error)}") from error
        if spec and spec.submodule_search_locations:
            folders += spec.submodule_search_locations
        elif spec and spec.origin:
            folders.append(spec.origin)
    for folder in folders:
        for path in sorted(_code_files(folder)):
            digest.update(os.path.basename(path).encode())
            with open(path, "rb") as stream:
                digest.update(stream.read())
    return digest.hexdigest()


def _code_files(folder: str) -> Iterator[str]:
    if os.path.isfile(folder):
        yield folder
    for directory, _, names in os.walk(folder):
        yield from (os.path.join(directory, name) for name in names if name.endswith((".py", ".json")))
