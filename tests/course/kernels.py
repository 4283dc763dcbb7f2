"""Kernels for tests in several workers, forked from one process that has loaded torch, which takes 2 s.

`python kernels.py ADDRESS ARGUMENT...` stands in for one such kernel, and ends when it does.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from importlib import import_module

VARIABLE = "STRIDEKIT_KERNELS"
MOST_SECONDS = 60  # of CPU, four times those of the slowest lesson: then a kernel is interrupted

# jsonschema, which nbval loads, would make 38 parsers of internet addresses with it, in 1 s.
sys.modules.setdefault("rfc3987_syntax", None)


def begin(address, variables):
    """Begin to answer at an address, in another process; return how to end it."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(address)
        server.listen()
        command = [sys.executable, "-P", __file__, str(server.fileno())]
        process = subprocess.Popen(
            command,
            pass_fds=[server.fileno()],
            env=os.environ | variables,
            stdin=subprocess.PIPE,
        )
    os.environ[VARIABLE] = address
    return process.communicate


def serve(server):
    """Fork a kernel for each client, which gives it a folder, variables, arguments and streams."""
    import resource  # which Windows does not have

    os.environ["JPY_PARENT_PID"] = str(os.getpid())  # a kernel ends with this process
    for name in ("torch", "matplotlib.pyplot", "ipywidgets", "ipykernel.kernelapp"):
        import_module(name)
    while True:
        if sys.stdin in select.select([server, sys.stdin], [], [])[0]:
            return  # the process that began this one has ended
        client, _ = server.accept()
        if not os.fork():
            break
        client.close()
    request, streams, *_ = socket.recv_fds(client, 1 << 20, 3)
    folder, variables, arguments = json.loads(request)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    signal.signal(signal.SIGXCPU, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, resource.RLIM_INFINITY))
    client.send(str(os.getpid()).encode())
    threading.Thread(target=lambda: (client.recv(1), os._exit(1)), daemon=True).start()
    sys.modules["ipykernel.kernelapp"].launch_new_instance(arguments)


def ask(address, *arguments):
    """Ask for a kernel, pass interrupts on to it, and wait for its end."""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(address)
        request = json.dumps([os.getcwd(), dict(os.environ), arguments])
        socket.send_fds(server, [request.encode()], [0, 1, 2])
        kernel = int(server.recv(20))
        signal.signal(signal.SIGINT, lambda *_: os.kill(kernel, signal.SIGINT))
        server.recv(1)


if __name__ == "__main__":
    address, *arguments = sys.argv[1:]
    if arguments:
        ask(address, *arguments)
    else:
        serve(socket.socket(fileno=int(address)))
