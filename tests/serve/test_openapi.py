import itertools
import json

import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

import lookalike as la
from lookalike.serve import bodies

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    negative_data_rejection,
]
BODIED = [("POST", "/v1/documents"), ("DELETE", "/v1/documents"), ("POST", "/v1/query"), ("POST", "/v1/compare")]
OPERATIONS = [*BODIED, ("GET", "/v1/documents/{id}"), ("GET", "/healthz"), ("GET", "/readyz")]


@pytest.fixture(scope="module")
def api(server):
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


def test_every_operation_is_tried(api):
    paths = api.raw_schema["paths"]
    assert {(method.upper(), path) for path in paths for method in paths[path]} == {*OPERATIONS, ("GET", "/metrics")}


def test_schemas_are_those_of_the_bodies(api):
    structs = (bodies.Documents, bodies.Added, bodies.Ids, bodies.Removed, bodies.Stored, bodies.Query, bodies.Results, bodies.Pair,
               bodies.Compared, bodies.Status, bodies.Details)  # fmt: skip
    _, schemas = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    for name in ("Details", "Status", "Stored", "Compared", "Added", "Removed", "Results", "Match"):
        schemas[name]["required"] = list(schemas[name]["properties"])
    assert api.raw_schema["components"]["schemas"] == schemas and api.raw_schema["info"]["version"] == la.__version__


def test_documents_of_other_servers():
    for keyed, has_index in itertools.product((False, True), repeat=2):
        document = json.loads(bodies.openapi(keyed, has_index))
        assert any(path.startswith("/v1/") for path in document["paths"]) == has_index
        asked = [one for methods in document["paths"].values() for one in methods.values()]
        assert any("401" in one["responses"] for one in asked) == ("security" in document) == keyed


TRIED = [(GenerationMode.POSITIVE, *one) for one in OPERATIONS] + [(GenerationMode.NEGATIVE, *one) for one in BODIED]


@pytest.mark.parametrize(("mode", "method", "path"), TRIED)
def test_answers_are_as_described(api, mode, method, path):
    operation = api[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def ask(case):
        case.call_and_validate(checks=CHECKS, timeout=600)

    ask()
