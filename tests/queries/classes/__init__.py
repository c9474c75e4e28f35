"""What may come in, by class, in every form in which it may come."""

import pytest

pytest.register_assert_rewrite("tests.queries.classes.scenes")
