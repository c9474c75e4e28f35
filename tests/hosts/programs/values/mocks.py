"""unittest.mock: a mock records each access to it.

spans: 5
speed: slow
"""

from unittest import mock

from tg import t

t.init()


@t.tool
def use(client, path):
    return client.get(path)


client = mock.MagicMock(name="client")
with t.agent_run("a", user_input=client):
    result = use(client, "/orders")
    use(mock.create_autospec(dict, instance=True), "x")
print(client.mock_calls)
print(client.get.return_value.mock_calls, len(client.method_calls))
with mock.patch.object(client, "get", side_effect=ValueError("gone")) as patched:
    print(patched.mock_calls)
