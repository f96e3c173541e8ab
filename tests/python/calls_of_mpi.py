"""Calls MPI as programs in Python do: without the interpreter's lock, with it, from threads, from C. Two ranks.
calls_of_mpi.py LIBRARY (of mpi_of_python.cpp). Lines that a test looks for are marked."""

import ctypes
import sys
import threading
import time

LIBRARY = ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
MPI = ctypes.CDLL(None)  # gives the interpreter's lock away in a call
MPI_WITH_LOCK = ctypes.PyDLL(None)
LIBRARY.world.restype = ctypes.c_size_t
WORLD = ctypes.c_size_t(LIBRARY.world())
STEPS = 5


class Solver:
    def exchange(self):
        MPI.MPI_Barrier(WORLD)  # first exchange
        MPI.MPI_Barrier(WORLD)  # second exchange

    def reduce(self):
        MPI_WITH_LOCK.MPI_Barrier(WORLD)  # with the lock


def step(solver):
    solver.exchange()  # in step
    solver.reduce()


def descend(depth):
    if depth > 0:
        descend(depth - 1)
    else:
        MPI.MPI_Barrier(WORLD)  # deep


def in_generator():
    yield MPI.MPI_Barrier(WORLD)  # generator


def in_thread():
    MPI.MPI_Barrier(WORLD)  # thread


def in_code_made_at_run_time():
    # code objects that come and go, and take each other's places in memory
    for i in range(20):
        name = "made_%d" % (i % 2)
        code = "\n" * (i % 5) + "def %s():\n    MPI.MPI_Barrier(WORLD)\n%s()" % (name, name)
        exec(compile(code, "<made>", "exec"), globals())


def hold_the_lock_while_another_thread_calls(rank):
    """A thread waits in MPI with the lock for what comes only after another thread, in C, has begun a call of MPI."""
    if rank == 0:
        is_relaying = ctypes.c_int.in_dll(LIBRARY, "is_relaying")

        def ask():
            while is_relaying.value == 0:
                time.sleep(0.001)
            ctypes.PyDLL(sys.argv[1]).ask(1, 1, 2)

        thread = threading.Thread(target=ask)
        thread.start()
        LIBRARY.relay(1, 3, 4)
        thread.join()
    else:
        LIBRARY.receive_from(0, 1)
        LIBRARY.send_to(0, 3)
        LIBRARY.receive_from(0, 4)
        LIBRARY.send_to(0, 2)


def end_while_a_thread_calls():
    """As mpi4py, MPI ends behind the interpreter; meanwhile a thread in C goes on calling MPI."""
    threading.Thread(target=LIBRARY.call_until_stopped, daemon=True).start()
    while not LIBRARY.is_calling():
        time.sleep(0.001)
    ctypes.pythonapi.Py_AtExit(LIBRARY.finalize_behind_python)


def main():
    MPI.MPI_Init_thread(None, None, 3, ctypes.byref(ctypes.c_int()))
    solver = Solver()
    for _ in range(STEPS):
        step(solver)
    descend(30)
    for _ in in_generator():
        pass
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    in_code_made_at_run_time()
    hold_the_lock_while_another_thread_calls(LIBRARY.rank_in_world())
    sorted([2, 1], key=lambda _: MPI.MPI_Barrier(WORLD))  # lambda
    end_while_a_thread_calls()


if __name__ == "__main__":
    main()  # at the top
