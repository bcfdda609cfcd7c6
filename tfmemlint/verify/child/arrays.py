"""Places NumPy's arrays where TensorFlow treats them all alike, and counts them; loaded by `main.py`, needs NumPy 1.22.

TensorFlow shares the memory of an array whose address is a multiple of 64 and copies every other one. malloc returns
multiples of 16: large arrays lie 16 bytes past a page and are copied, small ones are copied or shared by chance, so
that the tensor bytes of two runs of one program differ. Here each array lies 16 bytes past a multiple of 64.

Resident memory tells of arrays too, but differs from run to run by more than many an array has. What is counted here is
the same in each run, to the byte.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import mmap
import platform
import threading
from typing import Any

SHARED_AT, PAST = 64, 16
SET_HANDLER = 304
"""Place of `PyDataMem_SetHandler` in the table of NumPy's C API."""
CAPSULE = b"mem_handler"

_pointer, _size = ctypes.c_void_p, ctypes.c_size_t
_Malloc = ctypes.CFUNCTYPE(_pointer, _pointer, _size)
_Calloc = ctypes.CFUNCTYPE(_pointer, _pointer, _size, _size)
_Realloc = ctypes.CFUNCTYPE(_pointer, _pointer, _pointer, _size)
_Free = ctypes.CFUNCTYPE(None, _pointer, _pointer, _size)


class _Handler(ctypes.Structure):
    """`PyDataMem_Handler` of NumPy's ndarraytypes.h."""

    _fields_ = [
        ("name", ctypes.c_char * 127),
        ("version", ctypes.c_uint8),
        ("context", _pointer),
        ("malloc", _Malloc),
        ("calloc", _Calloc),
        ("realloc", _Realloc),
        ("free", _Free),
    ]


def _libc() -> ctypes.CDLL:
    libc = ctypes.CDLL(None)
    libc.malloc.argtypes, libc.calloc.argtypes, libc.realloc.argtypes = [_size], [_size, _size], [_pointer, _size]
    for function in (libc.malloc, libc.calloc, libc.realloc):
        function.restype = _pointer
    libc.free.restype, libc.free.argtypes = None, [_pointer]
    return libc


def _address(block: int) -> int:
    """Where the array lies in its block: the next place of the wanted kind with room for two words before it."""
    return block - block % SHARED_AT + SHARED_AT + PAST


def _block(address: int) -> Any:
    """The word before an array, which tells where its block begins."""
    return _size.from_address(address - ctypes.sizeof(_size))


def _bytes(address: int) -> Any:
    """The word before that one, which tells how many bytes were asked for."""
    return _size.from_address(address - 2 * ctypes.sizeof(_size))


def _frees(live: int) -> bytes | None:
    """Machine code that does what `Placement.free` does, `live` being the address of the sum; None for processors other
    than x86-64.

    NumPy also frees arrays while it raises something. A callback in Python would lose that: no call of Python's may
    return with an exception set.
    """
    if platform.machine() != "x86_64":
        return None
    free = ctypes.cast(ctypes.CDLL(None).free, _pointer).value or 0
    unless_null = b"\xf3\x0f\x1e\xfa\x48\x85\xf6\x74\x22"  # endbr64; test rsi, rsi; jz to the ret
    counted = b"\x48\x8b\x56\xf0\x48\xb8" + live.to_bytes(8, "little")  # mov rdx, [rsi - 16]; mov rax, live
    counted += b"\xf0\x48\x29\x10"  # lock sub [rax], rdx
    block = b"\x48\x8b\x7e\xf8"  # mov rdi, [rsi - 8]
    return unless_null + counted + block + b"\x48\xb8" + free.to_bytes(8, "little") + b"\xff\xe0\xc3"  # jmp free; ret


class Placement:
    """The four functions that NumPy asks for memory, over libc's own; the first argument of each is unused.

    `peak` is the bytes of the most arrays that existed at one time. Threads that allocate at once do not lose any: the
    interpreter switches at calls and jumps, of which no sum here has one.
    """

    ROOM = SHARED_AT + PAST

    def __init__(self) -> None:
        self._live, self.peak = ctypes.c_int64(0), 0
        self._libc = _libc()
        free = self._native() or _Free(self.free)
        functions = _Malloc(self.malloc), _Calloc(self.calloc), _Realloc(self.realloc), free
        self.handler = _Handler(b"tfmemlint", 1, None, *functions)

    @property
    def live(self) -> int:
        """Bytes of the arrays that exist now."""
        return self._live.value

    def _native(self) -> Any:
        code = _frees(ctypes.addressof(self._live))
        if code is None:
            return None
        try:
            self._code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        except OSError:  # a system that lets nothing be both written and run
            return None
        self._code.write(code)
        return _Free(ctypes.addressof(ctypes.c_char.from_buffer(self._code)))

    def reset(self) -> None:
        """Start the peak again from what is live now."""
        self.peak = self.live

    def _placed(self, block: int | None, size: int) -> int | None:
        if not block:
            return None
        address = _address(block)
        _block(address).value, _bytes(address).value = block, size
        self._live.value += size
        if self._live.value > self.peak:
            self.peak = self._live.value
        return address

    def malloc(self, _: Any, size: int) -> int | None:
        """`size` bytes, or None."""
        return self._placed(self._libc.malloc(size + self.ROOM), size)

    def calloc(self, _: Any, count: int, size: int) -> int | None:
        """`count * size` zeros that are not touched, or None."""
        return self._placed(self._libc.calloc(1, count * size + self.ROOM), count * size)

    def realloc(self, _: Any, address: int | None, size: int) -> int | None:
        """The content of `address` in `size` bytes, or None, which leaves it where it is."""
        if not address:
            return self.malloc(None, size)
        old, before = _block(address).value, _bytes(address).value
        new = self._libc.realloc(old, size + self.ROOM)
        if not new:
            return None
        self._live.value -= before
        if _address(new) - new != address - old:
            ctypes.memmove(_address(new), new + address - old, size)
        return self._placed(new, size)

    def free(self, _: Any, address: int | None, __: int) -> None:
        """Give the block of the array back."""
        if address:
            self._live.value -= _bytes(address).value
            self._libc.free(_block(address).value)


def install() -> Placement | None:
    """Place the arrays that this thread makes from here on, and those of threads that it starts; None where NumPy is
    too old. Keep what it returns."""
    try:
        module = importlib.import_module("numpy._core.multiarray")
    except ImportError:
        module = importlib.import_module("numpy.core.multiarray")
    if not hasattr(module, "get_handler_name"):
        return None
    get, new = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_New
    get.restype, get.argtypes = _pointer, [ctypes.py_object, ctypes.c_char_p]
    new.restype, new.argtypes = ctypes.py_object, [_pointer, ctypes.c_char_p, _pointer]
    table = ctypes.cast(get(module._ARRAY_API, None), ctypes.POINTER(_pointer))
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[SET_HANDLER])
    placement = Placement()
    capsule = new(ctypes.addressof(placement.handler), CAPSULE, None)
    set_handler(capsule)
    run = threading.Thread.run

    @functools.wraps(run)
    def with_handler(thread: threading.Thread) -> None:
        set_handler(capsule)
        run(thread)

    threading.Thread.run = with_handler  # type: ignore
    return placement
