"""The process from which multiprocessing forks others."""

import multiprocessing


def end_fork_server():
    """End the server, which has loaded the modules of earlier tests. The next process starts another."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver

        forkserver._forkserver._stop()
