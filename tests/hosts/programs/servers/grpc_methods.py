"""A gRPC server in threads: unary and streamed methods, a status that is set, a broken stream.

spans: 11
speed: slow
"""

from concurrent.futures import ThreadPoolExecutor

import grpc
from tg import t

t.init()


@t.tool
def reverse(request, context):
    context.set_trailing_metadata([("seen", "yes")])
    return request[::-1]


@t.tool
def letters(request, context):
    for letter in request:
        yield bytes([letter])


@t.tool
def refuse(request, context):
    context.abort(grpc.StatusCode.NOT_FOUND, "nothing here")


class Handler(grpc.GenericRpcHandler):
    def service(self, details):
        name = details.method.rpartition("/")[2]
        if name == "letters":
            return grpc.unary_stream_rpc_method_handler(letters)
        return grpc.unary_unary_rpc_method_handler({"reverse": reverse, "refuse": refuse}[name])


server = grpc.server(ThreadPoolExecutor(2))
server.add_generic_rpc_handlers([Handler()])
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with grpc.insecure_channel(f"127.0.0.1:{port}") as channel, t.agent_run("client"):
    answer, call = channel.unary_unary("/host/reverse").with_call(b"abc")
    print(answer, [item.value for item in call.trailing_metadata() if item.key == "seen"])
    print(list(channel.unary_stream("/host/letters")(b"xyz")))
    stream = channel.unary_stream("/host/letters")(b"xyz" * 1000)
    print(next(stream), stream.cancel())
    try:
        channel.unary_unary("/host/refuse")(b"")
    except grpc.RpcError as error:
        print(error.code(), error.details())
    print(channel.unary_unary("/host/reverse")(b"end"))
server.stop(1).wait()
