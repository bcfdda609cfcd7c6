from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Const,
    Does,
    File,
    Finding,
    Fix,
    Function,
    Node,
    Rule,
    Safety,
    calls,
    dotted,
    fixes,
    is_variable,
    keras,
    limits,
    on,
    ordering,
    parameters,
    repetition,
    uses,
    variables,
    walk,
)

TRAINS = frozenset({"fit", "train_on_batch", "compile", "fit_generator"})


class ModelLoadedInLoop(Rule):
    """
    ## What it does
    Reports models that are loaded in a loop, or in a request handler, with arguments that are the same each time.

    ## Why it costs memory
    Every load builds the model anew, reads its weights and, compiled, its optimizer's slots. Earlier copies stay until
    the garbage collector runs, their graphs longer.

    ## Fix safety
    Unsafe: the loop shares one model, whose state carries over.

    ## When not to use it
    When the file changes between the iterations; loops that also save a model are not reported.

    ## References
    - https://keras.io/api/models/model_saving_apis/model_saving_and_loading/
    """

    code = "TFM606"
    summary = "a model loaded in a loop is built again in each iteration"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(keras.model_loads)
    def check(self, load: Call, file: File) -> Iterator[Finding]:
        found = _in_vain(file, load)
        if found is not None:
            when = "for each request" if found.handler else "in each call" if found.calls else "in each iteration"
            yield self.finding(
                load,
                file,
                f"this model is built and its weights are read again {when}; load it once",
                fix=_hoist(file, load, found),
                related=[(found.place, "runs again")],
            )


def _in_vain(file: File, load: Call) -> repetition.Repetition | None:
    """What runs the call again, although the same model comes of it each time and is forgotten."""
    for found in repetition.repetitions(file, load.node):
        if found.few(limits.FEW_RUNS):
            continue
        if _same_each_time(file, load, found) and not _kept(file, load, found) and not _needs_fresh(file, load, found):
            return found
        if not found.calls:
            break  # it does need the model anew, and so does what calls its function
    return None


def _same_each_time(file: File, load: Call, found: repetition.Repetition) -> bool:
    """Whether the call runs in each iteration, on nothing that is another each time, by no other object."""
    home = file.contexts.function(load.node)
    bound = found.bound
    if isinstance(home, cst.FunctionDef) and (found.calls or found.handler):
        own = {p.name.value for p in list(parameters(home))[:1]} if file.class_of(home) else set()
        bound = set(file.flow(home).bindings) - own  # the object's own settings
    read = (n for a in load.node.args for n in walk(a.value, cst.Name) if is_variable(n, file))
    if any(n.value in bound and not isinstance(file.value(n), Const) for n in read):
        return False
    if not ordering.runs_always(file, found):
        return False
    called = found.inside.func if found.calls and isinstance(found.inside, cst.Call) else None
    return called is None or not isinstance(called, cst.Attribute) or not variables(called.value, file) & found.bound


def _kept(file: File, load: Call, found: repetition.Repetition) -> bool:
    """Whether the model is there for more than this run: changed, collected, or put where other code finds it."""
    if found.handler and not found.calls:
        return _put_elsewhere(file, load, found)
    if not found.calls:
        return getattr(found.place, "elt", None) is load.node or keras.is_changed(file, load.node)
    made = found.chain[1] if _gives_back(file, load) else load.node
    home, done = file.contexts.function(made), list(uses(file, made, attributes=True, through=limits.FOLLOWED_CALLS))
    leaves = any(use.does is Does.RETURN or (use.does is Does.STORE and not _is_own(use.place)) for use in done)
    found_elsewhere = any(_is_own(use.node) and file.contexts.function(use.node) is not home for use in done)
    return leaves or found_elsewhere or keras.is_changed(file, made)


def _is_own(node: Node | None) -> bool:
    """Whether an expression is an attribute of `self`."""
    return node is not None and (dotted(node) or "").startswith("self.")


def _gives_back(file: File, load: Call) -> bool:
    """Whether the function is there to load the model: it gives back what it loads, and nothing else."""
    home = file.contexts.function(load.node)
    returns = file.returns(home) if isinstance(home, cst.FunctionDef) else []
    return bool(returns) and all(each.value is load.node for each in returns)


def _put_elsewhere(file: File, load: Call, found: repetition.Repetition) -> bool:
    """Whether a request handler stores the model and does not use it: a request to load it anew."""
    does = [(use.does, file.contexts.function(use.node)) for use in uses(file, load.node, attributes=True)]
    stored = any(kind is Does.STORE for kind, _ in does)
    return stored and all(kind is Does.STORE or home is not found.place for kind, home in does)


def _needs_fresh(file: File, load: Call, found: repetition.Repetition) -> bool:
    """Whether a model is saved or trained in what runs again, or what is loaded goes to unknown code as well."""
    given = {file.text(argument.value) for argument in load.node.args if argument.keyword is None}
    home = file.contexts.function(load.node)
    bodies: list[Node] = [found.place, *([home] if found.calls and home is not None else [])]
    for call in (call for body in bodies for call in calls(file, body) if call is not load):
        if any(isinstance(t, Function) and t.node is home for t in call.target.options):
            continue  # it is there to load the model
        if call.method in TRAINS or keras.saves_model(file, call):
            return True
        if call.name is None and any(file.text(argument.value) in given for argument in call.node.args):
            return True
    return False


def _hoist(file: File, load: Call, found: repetition.Repetition) -> Fix | None:
    assigned = isinstance(file.tree.parent(load.node), cst.Assign)
    if not assigned or found.calls or not isinstance(found.place, (cst.For, cst.While)):
        return None
    if any(each.calls and not each.few(limits.FEW_RUNS) for each in repetition.repetitions(file, load.node)):
        return None  # the function would still load it each time that it is called
    fix = fixes.hoist(file, [file.tree.statement(load.node)], "load it before the loop")
    left = fixes.loops_left(file, fix, load.node) if fix is not None else []
    around = {each.place: each for each in repetition.repetitions(file, load.node, calls=0)}
    return fix if all(around[outer].few(limits.FEW_RUNS) for outer in left) else None
