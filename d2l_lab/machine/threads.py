"""How many threads libraries use where a quota leaves this process fewer CPUs than it may run on.

Libraries count the CPUs on which they may run; of the quota of a control group, as containers have one, they know
nothing. With more threads than it allows, the quota is used up before its period ends, and all of them stand still.
"""

import os

from threadpoolctl import ThreadpoolController

from d2l_lab.machine.system import cores, usable

VARIABLES = ("OMP_NUM_THREADS", "NPROC", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")  # NPROC is XLA's


def keep_to_quota() -> None:
    """Let libraries use as many threads as there are CPUs in the quota, unless a variable says otherwise.

    The variables are for thread pools that have not started yet, and for the processes that this one starts; NumPy's
    library has started its threads when it was imported.
    """
    number = cores()
    if number == len(usable()):
        return
    for name in VARIABLES:
        os.environ.setdefault(name, str(number))
    for library in ThreadpoolController().select(user_api="blas").lib_controllers:
        library.set_num_threads(min(number, library.num_threads))
