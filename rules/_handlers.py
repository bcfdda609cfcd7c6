"""Functions that a server runs once for each request."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import File, parameters

ROUTES = frozenset({
    "route", "get", "post", "put", "patch", "delete", "api_route", "websocket", "message_handler",
})  # fmt: skip
VERBS = frozenset({"get", "post", "put", "patch", "delete", "handle", "do_GET", "do_POST", "do_PUT"})
"""Methods of a server's handler classes that run for each request."""

SERVERS = frozenset({
    "http", "socketserver", "tornado", "flask", "flask_restful", "flask_restx", "django", "rest_framework", "starlette",
    "falcon", "aiohttp",
})  # fmt: skip
"""Packages whose classes handle requests by methods of these names."""

GIVEN = ("gradio.",)


def handler_of(node: cst.CSTNode, file: File) -> cst.FunctionDef | None:
    """The request handler whose body runs the node, or None."""
    function = file.contexts.function(node)
    return function if isinstance(function, cst.FunctionDef) and _handles(function, file) else None


def _handles(function: cst.FunctionDef, file: File) -> bool:
    for decorator in function.decorators:
        expression = decorator.decorator
        route = expression.func if isinstance(expression, cst.Call) else None
        if isinstance(route, cst.Attribute) and route.attr.value in ROUTES:
            return True
    owner = file.class_of(function)
    if owner is not None:
        base = file.values.classes.bases(owner)[0] or ""
        return base.partition(".")[0] in SERVERS and function.name.value in VERBS
    return _view(function, file) or _given(function, file)


def _view(function: cst.FunctionDef, file: File) -> bool:
    """Whether a function is called by a server alone: a view of Django's, or a cloud function."""
    names = [p.name.value for p in parameters(function)]
    if names == ["event", "context"]:
        return not file.values.functions.uses(function)
    calls = [r.value for r in file.returns(function) if isinstance(r.value, cst.Call)]
    answers = any((file.call(call).name or "").startswith("django.") for call in calls)
    return names[:1] == ["request"] and answers


def _given(function: cst.FunctionDef, file: File) -> bool:
    """Whether a user interface is given the function, to call it with what a user enters."""
    functions = file.values.functions
    takers = (functions.given_to(use) for use in functions.uses(function))
    return any(call is not None and (call.name or "").startswith(GIVEN) for call in takers)
