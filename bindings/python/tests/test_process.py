"""Forks, signals, the end of the interpreter, memory: each in a process of its own."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def run(program: str, expected: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == expected, done.stderr
    return done.stdout


@pytest.mark.skipif(not hasattr(os, "fork"), reason="SKIPPED: no fork here")
def test_keys_work_in_a_fork_and_generators_do_not() -> None:
    run(
        """
        import os, rsalab
        from rsalab import insecure
        key = insecure.key(1024)
        before = key.sign(b"data")
        made = rsalab.generate_many(10**6, 512)
        next(made)
        children = []
        for number in range(4):
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    key.public_key().verify(before, b"data")
                    signatures = rsalab.sign_many(key, [b"data"] * 40, threads=2)
                    assert all(rsalab.verify_many(key, [b"data"] * 40, signatures))
                    assert rsalab.generate(512).bits == 512
                    for call in (lambda: next(made), lambda: list(made)):
                        try:
                            call()
                            os._exit(2)
                        except rsalab.ForkedError:
                            pass
                    made.close()
                    del made
                    code = 0
                finally:
                    os._exit(code)
            children.append(child)
        for child in children:
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
        assert next(made).bits == 512
        """
    )


def test_blinding_is_not_shared_by_forks() -> None:
    # PSS draws its salt from the system: no two processes have the same.
    run(
        """
        import os, rsalab
        from rsalab import insecure
        key = insecure.key(1024)
        key.sign(b"data")
        ends = [os.pipe() for _ in range(2)]
        for read, write in ends:
            if os.fork() == 0:
                os.write(write, key.sign(b"data"))
                os._exit(0)
        one, other = (os.read(read, 128) for read, _ in ends)
        for signature in (one, other):
            key.public_key().verify(signature, b"data")
        assert one != other
        """
    )


@pytest.mark.parametrize(
    "call",
    [
        "rsalab.sign_many(insecure.key(2048), [bytes(32)] * 2_000_000, prehashed=True)",
        "rsalab.generate(16384)",
        "list(rsalab.generate_many(10**6, 2048))",
        "rsalab.load_private_keys([insecure.key(2048).to_der()] * 100_000, rounds=64)",
    ],
)
def test_ctrl_c_ends_a_long_call(call: str) -> None:
    said = run(
        f"""
        import os, signal, threading, time, rsalab
        from rsalab import insecure
        insecure.key(2048)
        threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        begun = time.monotonic()
        try:
            {call}
            print("done")
        except KeyboardInterrupt:
            print("ended", time.monotonic() - begun)
        """
    )
    assert said.startswith("ended") and float(said.split()[1]) < 60


def test_the_interpreter_ends_while_threads_work() -> None:
    for _ in range(3):
        run(
            """
            import threading, time, rsalab
            from rsalab import insecure
            key = insecure.key(2048)
            def work():
                while True:
                    rsalab.sign_many(key, [b"data"] * 64)
            for _ in range(3):
                threading.Thread(target=work, daemon=True).start()
            made = rsalab.generate_many(10**6, 1024)
            next(made)
            time.sleep(0.2)
            """
        )


def test_objects_that_outlive_the_module() -> None:
    run(
        """
        import atexit, rsalab
        from rsalab import insecure
        class Late:
            def __init__(self):
                self.key, self.made = insecure.key(512), rsalab.generate_many(1000, 512)
            def __del__(self):
                try:
                    self.key.sign(b"data")
                    next(self.made)
                except BaseException:
                    pass
        late = Late()
        late.itself = late
        atexit.register(lambda: late.key.sign(b"data"))
        """
    )


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="SKIPPED: no /proc here")
def test_memory_stays_flat() -> None:
    run(
        """
        import gc, os, rsalab
        from rsalab import insecure
        key = insecure.key(1024)
        der, pem = key.to_der(), key.to_pem()
        def round():
            for _ in range(200):
                signatures = rsalab.sign_many(key, [b"data"] * 50, threads=2)
                rsalab.verify_many(key, [b"data"] * 50, signatures)
                own = rsalab.load_private_key(der)
                own.sign(b"data")
                rsalab.decrypt_many(own, rsalab.encrypt_many(own, [b"data"] * 8))
                verdicts = rsalab.load_private_keys([pem, b"no key"] * 4)
                for call in (lambda: own.decrypt(bytes(128)), lambda: rsalab.load_private_key(b"no key")):
                    try:
                        call()
                    except rsalab.Error:
                        pass
            list(rsalab.generate_many(10, 512))
            gc.collect()
        def resident():
            return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
        round()
        before = resident()
        for _ in range(4):
            round()
        after = resident()
        assert after < before + (4 << 20), (before, after)
        """
    )
