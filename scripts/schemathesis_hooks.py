"""Checks of our own for scripts/schemathesis."""

import re

import requests
import schemathesis

# Answers without a credential, too.
PUBLIC = re.compile(r"^/api/(health|openapi\.json|sign-in|login|observe|invites/accept|auth/github.*)$")
SESSION = requests.Session()
TRIED = set()

# No credential; a method that the path does not take; a request that HTTP itself refuses; too many of them.
REFUSALS = {400, 401, 405, 413, 415, 421, 429, 431}


@schemathesis.check
def refused_without_credential(ctx, response, case):
    """A request without a credential gets no answer."""
    status = response.status_code
    assert status in REFUSALS, f"{case.method} {case.formatted_path} answered {status} without a credential"
    if status == 400:
        assert b"kind" not in response.content, "a request without a credential was read: 400 instead of 401"


@schemathesis.check
def refused_with_a_wrong_credential(ctx, response, case):
    """An operation that has answered answers nobody who has a wrong credential; once for each operation."""
    operation = (case.method, case.path)
    if response.status_code >= 400 or operation in TRIED or PUBLIC.match(case.path):
        return
    TRIED.add(operation)
    request = response.request.copy()
    request.headers["Authorization"] = "Bearer wrong"
    status = SESSION.send(request, timeout=20).status_code
    # After too many wrong credentials an address has to wait.
    assert status in {401, 403, 429}, f"{case.method} {case.path} answered {status} to a wrong credential"
