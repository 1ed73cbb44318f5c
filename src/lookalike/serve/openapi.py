"""The OpenAPI 3.1 document, made from the structs that read and write the bodies."""

from __future__ import annotations

from typing import Any

import msgspec

from .. import __version__
from .bodies import (
    ARROW,
    JSON,
    PROBLEM,
    Added,
    Compared,
    Details,
    Documents,
    Ids,
    Pair,
    Query,
    Removed,
    Results,
    Status,
    Stored,
)

_ALWAYS = {403: "A foreign origin, or a key that does not allow this.", 421: "Another name than the server's.",
           500: "A failure of the server.", 503: "It is ending, or the request waited for too long: try again."}  # fmt: skip
_KEYED = {401: "No key that is known."}
_BODIED = {400: "Not JSON, or not an Arrow stream.", 408: "The request did not arrive in time.", 413: "Too large a body.",
           415: "Another type than JSON and Arrow.", 422: "Not what is expected, or above a limit.",
           429: "Too much is waiting: try again after Retry-After seconds."}  # fmt: skip
_OPEN: dict[str, Any] = {"security": []}
_TEXT = {"text/plain": {"schema": {"type": "string"}}}
_WRITTEN = {507: "The index cannot be written; it is what it was."}


def openapi(keyed: bool, has_index: bool = True) -> bytes:
    """Return the document; ``keyed``: whether the server has keys; ``has_index``: whether it serves one."""
    structs = (Documents, Added, Ids, Removed, Stored, Query, Results, Pair, Compared, Status, Details)
    _, schemas = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    for name in ("Details", "Status", "Stored", "Compared", "Added", "Removed", "Results", "Match"):
        schemas[name]["required"] = list(schemas[name]["properties"])
    body = _KEYED | _ALWAYS | _BODIED if keyed else _ALWAYS | _BODIED
    plain = _KEYED | _ALWAYS if keyed else _ALWAYS
    get_id = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    top = {"name": "top", "in": "query", "description": "For Arrow only: the maximum number of matches for each text.",
           "schema": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 10}}  # fmt: skip
    arrow_body = "An Arrow IPC stream, not compressed, with the columns "
    paths: dict[str, Any] = {
        "/v1/documents": {
            "post": _operation("add", "Add documents, in place of those with the same ids. They are on disk before the answer.",
                               _takes(Documents, arrow_body + "id and text."), _gives(Added), body | _WRITTEN),
            "delete": _operation("remove", "Remove documents. That is on disk before the answer.",
                                 _takes(Ids, arrow_body + "id."), _gives(Removed), body | _WRITTEN),
        },
        "/v1/documents/{id}": {
            "get": _operation("get", "A document of the index.", {"parameters": [get_id]}, _gives(Stored),
                              plain | {404: "No document has this id."}),
        },
        "/v1/query": {
            "post": _operation("query", "Look up texts.", _takes(Query, arrow_body + "text.") | {"parameters": [top]},
                               _gives(Results, True), body),
        },
        "/v1/compare": {"post": _operation("compare", "Compare two texts.", _takes(Pair), _gives(Compared), body)},
        "/healthz": {"get": _operation("alive", "Whether the server is alive.", _OPEN, _gives(Status), _ALWAYS)},
        "/readyz": {"get": _operation("ready", "Whether it takes requests.", _OPEN, _gives(Status), _ALWAYS)},
        "/metrics": {"get": _operation("metrics", "Metrics, for Prometheus.", {}, _TEXT, plain)},
    }  # fmt: skip
    if not has_index:
        paths = {path: methods for path, methods in paths.items() if not path.startswith("/v1/")}
    document: dict[str, Any] = {
        "openapi": "3.1.0",
        "info": {"title": "lookalike", "version": __version__, "description": "Documents, looked up by likeness.",
                 "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"}},
        "paths": paths,
        "components": {"schemas": schemas},
    }  # fmt: skip
    if keyed:
        document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        document["security"] = [{"key": []}]
    return msgspec.json.encode(document)


def _operation(name: str, about: str, takes: dict[str, Any], gives: dict[str, Any], problems: dict[int, str]) -> dict[str, Any]:
    """Return what the document says of a method of a path."""
    problem = {PROBLEM: {"schema": {"$ref": "#/components/schemas/Details"}}}
    answers: dict[str, Any] = {"200": {"description": "Done.", "content": gives}}
    answers |= {str(status): {"description": why, "content": problem} for status, why in sorted(problems.items())}
    return {"operationId": name, "summary": about, **takes, "responses": answers}


def _takes(struct: type, arrow: str = "") -> dict[str, Any]:
    """Return what is said of a body."""
    content: dict[str, Any] = {JSON: {"schema": {"$ref": f"#/components/schemas/{struct.__name__}"}}}
    if arrow:
        content[ARROW] = {"schema": {"type": "string", "format": "binary", "description": arrow}}
    return {"requestBody": {"required": True, "content": content}}


def _gives(struct: type, arrow: bool = False) -> dict[str, Any]:
    """Return what is said of an answer."""
    content: dict[str, Any] = {JSON: {"schema": {"$ref": f"#/components/schemas/{struct.__name__}"}}}
    if arrow:
        content[ARROW] = {"schema": {"type": "string", "format": "binary"}}
    return content
