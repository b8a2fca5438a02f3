"""Holds the memory of GPU 0 but for so many bytes, until its standard input ends: python3 gpuhog.py BYTES prints `held`."""
import ctypes
import subprocess
import sys
from contextlib import contextmanager


@contextmanager
def gpu_memory_left(size):
    """While this holds, others find no more than `size` bytes of the memory of GPU 0, less what the driver takes for this process."""
    p = subprocess.Popen([sys.executable, __file__, str(int(size))], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if p.stdout.readline().strip() != "held":
            raise RuntimeError("the memory of GPU 0 cannot be held")
        yield
    finally:
        p.stdin.close()
        p.wait()


def hold(left):
    cuda = ctypes.CDLL("libcuda.so.1")

    def call(name, *arguments):
        status = getattr(cuda, name)(*arguments)
        if status:
            sys.exit(f"{name}: error {status}")

    device, context, memory = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_uint64()
    free, total = ctypes.c_size_t(), ctypes.c_size_t()
    call("cuInit", 0)
    call("cuDeviceGet", ctypes.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
    call("cuCtxSetCurrent", context)
    call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
    if free.value > left:
        call("cuMemAlloc_v2", ctypes.byref(memory), ctypes.c_size_t(free.value - left))
    print("held", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    hold(int(sys.argv[1]))
