"""The service against its own document: many requests, valid and not, drawn from it."""

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
    """The document of the server."""
    return schemathesis.openapi.from_url(f"{server.url}/openapi.json")


def test_every_operation_is_tried(api):
    paths = api.raw_schema["paths"]
    assert {(method.upper(), path) for path in paths for method in paths[path]} == {*OPERATIONS, ("GET", "/metrics")}


TRIED = [(GenerationMode.POSITIVE, *one) for one in OPERATIONS] + [(GenerationMode.NEGATIVE, *one) for one in BODIED]


@pytest.mark.parametrize(("mode", "method", "path"), TRIED)
def test_answers_are_as_described(api, mode, method, path):
    operation = api[path][method]

    @given(case=operation.as_strategy(generation_mode=mode))
    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def ask(case):
        if case.media_type == "application/vnd.apache.arrow.stream":
            return  # bytes at random: other tests damage streams
        case.call_and_validate(checks=CHECKS, timeout=600)

    ask()
