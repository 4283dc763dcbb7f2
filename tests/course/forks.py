"""The process from which multiprocessing forks others."""

import multiprocessing


def end_fork_server():
    """End it, because it has loaded what earlier tests need. The next ones begin another."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        from multiprocessing import forkserver

        forkserver._forkserver._stop()
