"""unittest: tools in tests that pass, fail, are skipped, and patch them.

spans: 8
speed: slow
"""

import unittest
from unittest import mock

from tg import t

t.init()


@t.tool
def double(x):
    return x * 2


class Tests(unittest.TestCase):
    def test_passes(self):
        self.assertEqual(double(2), 4)

    def test_raises(self):
        with self.assertRaisesRegex(TypeError, "unsupported operand"):
            double(None)

    def test_is_skipped(self):
        self.skipTest("later")

    @unittest.expectedFailure
    def test_fails(self):
        self.assertEqual(double(1), 3)

    def test_wrong_call(self):
        with self.assertRaisesRegex(
            TypeError, r"double\(\) missing 1 required positional argument"
        ):
            double()

    @mock.patch(f"{__name__}.double", autospec=True, return_value=7)
    def test_is_patched(self, patched):
        self.assertEqual(double(1), 7)
        patched.assert_called_once_with(1)


result = unittest.TextTestRunner(stream=open("log", "w"), verbosity=2).run(
    unittest.defaultTestLoader.loadTestsFromTestCase(Tests)
)
print(result, result.wasSuccessful())
