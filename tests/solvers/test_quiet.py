import ctypes
import os
import subprocess
import sys

import pytest

from smqopt.solvers.conic._contained import chatter_to_stderr


def test_all_kinds_of_output_are_moved_and_put_back(capfd):
    print("before")
    with chatter_to_stderr():
        print("from Python")
        os.write(1, b"from the descriptor\n")
        if os.name == "posix":
            ctypes.CDLL(None).puts(b"from C")
    print("after")
    out, err = capfd.readouterr()
    assert out == "before\nafter\n"
    assert "from Python" in err
    assert "from the descriptor" in err
    assert os.name != "posix" or "from C" in err


def test_output_is_put_back_after_an_error(capfd):
    with pytest.raises(ValueError, match="inside"), chatter_to_stderr():
        raise ValueError("inside")
    print("after")
    assert capfd.readouterr().out == "after\n"


@pytest.mark.parametrize("closed", [1, 2])
def test_without_standard_output_or_error(closed):
    program = f"""
import os
os.close({closed})
from smqopt.solvers.conic._contained import chatter_to_stderr
with chatter_to_stderr():
    pass
os._exit(7)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=False)
    assert done.returncode == 7, done.stderr
