"""Options of `harness draft`."""

import pytest

from tracegrade_harness.draft.command import variable_of_model
from tracegrade_harness.errors import SuiteUnusable


def test_the_former_option_is_taken_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    """The variable of the model's URL has one option; both names of it together are an error."""
    assert variable_of_model(None, None) == "OPENAI_BASE_URL"
    assert variable_of_model("URL", None) == "URL"
    assert capsys.readouterr().err == ""
    assert variable_of_model(None, "URL") == "URL"
    note = "--model-url-as is now --model-url-env"
    assert capsys.readouterr().err == f"{note}; rename the option\n"
    with pytest.raises(SuiteUnusable, match=f"{note}, which is given as well"):
        variable_of_model("URL", "URL")
