"""Checks of our own for scripts/schemathesis."""

import schemathesis

# No credential; a method that the path does not take; a request that HTTP itself refuses; too many of them.
REFUSALS = {400, 401, 405, 413, 415, 421, 429, 431}


@schemathesis.check
def refused_without_credential(ctx, response, case):
    """Nothing is answered to whoever shows no credential."""
    status = response.status_code
    assert status in REFUSALS, f"{case.method} {case.formatted_path} answered {status} without a credential"
    if status == 400:
        assert b"kind" not in response.content, "a request without a credential was read: 400 instead of 401"
