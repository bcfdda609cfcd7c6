"""Functions that a server runs once for each request."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.scopes import parameters

if TYPE_CHECKING:
    from tfmemlint.model.file import File

ROUTES = frozenset({
    "route", "get", "post", "put", "patch", "delete", "api_route", "websocket", "message_handler",
})  # fmt: skip
"""Methods of an application that decorate what handles requests: `@app.route("/")`."""

VERBS = frozenset({"get", "post", "put", "patch", "delete", "handle", "do_GET", "do_POST", "do_PUT"})
"""Methods of a server's handler classes that run for each request."""

SERVERS = frozenset({
    "http", "socketserver", "tornado", "flask", "flask_restful", "flask_restx", "django", "rest_framework", "starlette",
    "falcon", "aiohttp",
})  # fmt: skip
"""Packages whose classes handle requests by methods of these names."""

INTERFACES = ("gradio.",)
"""Libraries of user interfaces, which call what they are given with what a user enters."""

CLOUD_FUNCTION = ["event", "context"]
"""The parameters of what Lambda and Cloud Functions call."""


def handles_requests(file: File, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a server certainly calls a function for each request or event; False where nothing shows it."""
    if not isinstance(function, cst.FunctionDef):
        return _in_interface(file, function)
    if any(_routes(decorator.decorator) for decorator in function.decorators):
        return True
    owner = file.class_of(function)
    if owner is not None:
        base = file.values.classes.bases(owner)[0] or ""
        return base.partition(".")[0] in SERVERS and function.name.value in VERBS
    return _view(file, function) or _in_interface(file, function)


def _routes(decorator: cst.BaseExpression) -> bool:
    called = decorator.func if isinstance(decorator, cst.Call) else None
    return isinstance(called, cst.Attribute) and called.attr.value in ROUTES


def _view(file: File, function: cst.FunctionDef) -> bool:
    """A cloud function, which nothing in the file calls, or a view that answers as Django's do."""
    names = [p.name.value for p in parameters(function)]
    if names == CLOUD_FUNCTION:
        return not file.call_graph.uses(function)
    calls = [r.value for r in file.returns(function) if isinstance(r.value, cst.Call)]
    answers = any((file.call(call).name or "").startswith("django.") for call in calls)
    return names[:1] == ["request"] and answers


def _in_interface(file: File, function: cst.FunctionDef | cst.Lambda) -> bool:
    graph = file.call_graph
    takers = (graph.given_to(use) for use in graph.uses(function))
    return any(call is not None and (call.name or "").startswith(INTERFACES) for call in takers)
