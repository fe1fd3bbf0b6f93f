"""What no case may do: run on without an end, or end in an error that was not meant for users."""

from __future__ import annotations

import signal
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from types import FrameType

import pytest
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from mklkit.errors import MKLKitError, MKLKitWarning

CHECKS_OF_SCIKIT_LEARN = ("validation.py", "multiclass.py", "_param_validation.py")
# What Python reports to its auditors when something outside this process is changed or started.
DEEDS = (
    *("os.system", "os.exec", "os.fork", "os.posix_spawn", "os.remove", "os.rename", "os.mkdir"),
    *("subprocess.Popen", "pickle.find_class", "socket.connect", "shutil.rmtree", "ctypes.dlopen"),
)
STATUS, REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"
OWN_WARNINGS = (MKLKitWarning, ConvergenceWarning, DataConversionWarning)


class OutOfTimeError(BaseException):
    """Raised where a case is when its time is over; no ``except Exception`` stops it."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Fail what takes longer, where the system can interrupt it."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise OutOfTimeError

    before = signal.signal(signal.SIGALRM, interrupt)
    signal.alarm(seconds)
    place = None
    try:
        yield
    except OutOfTimeError as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    if place is not None:
        # Without a traceback: an interrupted line need not have a number, which pytest asks for.
        pytest.fail(f"not done after {seconds} s, in {place.filename}, {place.name}", pytrace=False)


def is_told(error: BaseException) -> bool:
    """Return whether an error is meant for users: ours, or scikit-learn's check of our input.

    An error from inside a solver is neither, though it may be a ``ValueError`` too.
    """
    if isinstance(error, MKLKitError):
        return True
    files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
    # What stands before says where the environment is, perhaps in a folder named mklkit.
    installed = [file.rpartition("site-packages")[2] for file in files if "site-packages" in file]
    foreign = [file for file in installed if "mklkit" not in file]
    of_checks = bool(foreign) and foreign[0].endswith(CHECKS_OF_SCIKIT_LEARN)
    return isinstance(error, ValueError | TypeError) and of_checks


@contextmanager
def listened() -> Iterator[list[warnings.WarningMessage]]:
    """Fail where a library warns users of something in its own inside; yield what was said."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
    leaked = [warning for warning in caught if not issubclass(warning.category, OWN_WARNINGS)]
    assert not leaked, f"{leaked[0].category.__name__}: {leaked[0].message}"


@contextmanager
def memory_limit(megabytes: int) -> Iterator[None]:
    """Fail what takes more memory at a time, where Linux counts it."""
    if not STATUS.exists():
        yield
        return
    REFERENCES.write_text(RESET_PEAK)
    before = _peak_memory()
    yield
    taken = _peak_memory() - before
    assert taken <= megabytes, f"{taken:.0f} MB more in use at a time"


def _peak_memory() -> float:
    """Return the most memory that was resident since the last reset, in MB."""
    lines = STATUS.read_text().splitlines()
    peak = next(line for line in lines if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


class _Auditor:
    """Notes forbidden deeds while it is on; Python keeps an auditor for the life of a process."""

    def __init__(self) -> None:
        self.on = False
        self.noted: list[str] = []
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.on and (event in DEEDS or (event == "import" and arguments[0] == "fuzz_trap")):
            self.noted.append(f"{event} {arguments!r:.200}")


@lru_cache
def _auditor() -> _Auditor:
    return _Auditor()


@contextmanager
def tripwire() -> Iterator[None]:
    """Fail what starts a process, changes a file, unpickles, or imports ``fuzz_trap``."""
    auditor = _auditor()
    auditor.noted.clear()
    auditor.on = True
    try:
        yield
    finally:
        auditor.on = False
    assert not auditor.noted, auditor.noted[0]
