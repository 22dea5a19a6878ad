"""Runs a program and counts its steps: the system calls by which others can see that it went on.

    python3 steps.py LOG KILL_AT program arguments...

A step is what changes a file, its name or its folder, syncs one, sends bytes, or starts a process. Each is written to
LOG as a line of JSON before the kernel does it. With KILL_AT the process is killed (SIGKILL) right before its step of
that number; 0 lets it run to its end. Threads are counted together. Processes that it starts are not followed.
"""
import ctypes
import json
import os
import platform
import signal
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
libc.ptrace.restype = ctypes.c_long

TRACEME, SYSCALL, SETOPTIONS, GET_SYSCALL_INFO = 0, 24, 0x4200, 0x420E
# Syscall stops are told from signals; threads are followed; nothing is left behind if this script dies.
OPTIONS = 0x01 | 0x08 | 0x10 | 0x100000
WALL = 0x40000000
SYSCALL_STOP = signal.SIGTRAP | 0x80

NUMBERS = {
    "x86_64": dict(
        write=1, pwrite64=18, writev=20, pwritev=296, pwritev2=328, sendto=44, sendmsg=46, fsync=74, fdatasync=75,
        truncate=76, ftruncate=77, rename=82, renameat=264, renameat2=316, mkdir=83, mkdirat=258, rmdir=84, link=86,
        linkat=265, unlink=87, unlinkat=263, symlink=88, symlinkat=266, chmod=90, fchmod=91, fchmodat=268, open=2,
        openat=257, connect=42, clone=56, fork=57, vfork=58, clone3=435, sendfile=40, copy_file_range=326,
        utimensat=280,
    ),
    "aarch64": dict(
        write=64, pwrite64=68, writev=66, pwritev=70, pwritev2=287, sendto=206, sendmsg=211, fsync=82, fdatasync=83,
        truncate=45, ftruncate=46, renameat=38, renameat2=276, mkdirat=34, linkat=37, unlinkat=35, symlinkat=36,
        fchmod=52, fchmodat=53, openat=56, connect=203, clone=220, clone3=435, sendfile=71, copy_file_range=285,
        utimensat=88,
    ),
}
NAMES = {number: name for name, number in NUMBERS[platform.machine()].items()}

ON_DESCRIPTOR = {
    "write", "pwrite64", "writev", "pwritev", "pwritev2", "sendto", "sendmsg", "fsync", "fdatasync", "ftruncate",
    "fchmod", "sendfile",
}
AT_FDCWD = -100
CREATE, TRUNCATE = 0o100, 0o1000
CLONE_THREAD = 0x10000


def ptrace(request, pid, addr=0, data=0):
    result = libc.ptrace(request, pid, addr, data)
    if result < 0:
        raise OSError(ctypes.get_errno(), "ptrace")
    return result


def text_at(pid, address):
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        memory.seek(address)
        return os.fsdecode(memory.read(4096).split(b"\0")[0])


def path_at(pid, folder, address):
    folder = ctypes.c_int(folder & 0xFFFFFFFF).value
    base = f"/proc/{pid}/cwd" if folder == AT_FDCWD else f"/proc/{pid}/fd/{folder}"
    return os.path.join(os.readlink(base), text_at(pid, address))


def descriptor(pid, number):
    """What a descriptor leads to; nothing for the pipes by which threads wake each other."""
    number &= 0xFFFFFFFF
    if number in (1, 2):
        return ("stdout", "stderr")[number - 1]
    target = os.readlink(f"/proc/{pid}/fd/{number}")
    if target.startswith(("pipe:", "anon_inode:", "/dev/")):
        return None
    return peer(pid, target) if target.startswith("socket:") else target


peers = {}


def peer(pid, socket):
    """The ports of a TCP connection; of what leads to a process that was started, just that."""
    inode = socket[len("socket:["):-1]
    if inode not in peers:
        peers[inode] = "process"
        for table in ("tcp", "tcp6"):
            with open(f"/proc/{pid}/net/{table}") as rows:
                for row in rows:
                    cells = row.split()
                    if cells[9:10] == [inode]:
                        local, remote = (int(cells[at].split(":")[1], 16) for at in (1, 2))
                        peers[inode] = f"tcp {local}-{remote}"
    return peers[inode]


def step_of(pid, name, args):
    """What the call is about, or nothing if it is no step."""
    if name in ON_DESCRIPTOR:
        return descriptor(pid, args[0])
    if name == "copy_file_range":
        return descriptor(pid, args[2])
    if name == "connect":
        family, port = struct.unpack("=H", memory_at(pid, args[1], 2))[0], memory_at(pid, args[1] + 2, 2)
        return f"tcp {struct.unpack('>H', port)[0]}" if family in (2, 10) else None
    if name in ("clone", "clone3", "fork", "vfork"):
        flags = struct.unpack("=Q", memory_at(pid, args[0], 8))[0] if name == "clone3" else args[0]
        return None if "clone" in name and flags & CLONE_THREAD else "a process"
    if name in ("open", "openat"):
        folder, path, flags = (AT_FDCWD, *args[:2]) if name == "open" else args[:3]
        if not flags & (CREATE | TRUNCATE):
            return None
        path = path_at(pid, folder, path)
        return path if flags & TRUNCATE or not os.path.lexists(path) else None
    return name_step(pid, name, args)


def name_step(pid, name, args):
    """Calls that change names: the name that comes or goes."""
    if name in ("rename", "link"):
        return path_at(pid, AT_FDCWD, args[1])
    if name in ("renameat", "renameat2", "linkat"):
        return path_at(pid, args[2], args[3])
    if name == "symlink":
        return path_at(pid, AT_FDCWD, args[1])
    if name == "symlinkat":
        return path_at(pid, args[1], args[2])
    if name == "utimensat" and not args[1]:
        return descriptor(pid, args[0])
    path = path_at(pid, args[0], args[1]) if name.endswith("at") else path_at(pid, AT_FDCWD, args[0])
    if name.startswith("mkdir"):
        return None if os.path.lexists(path) else path
    return path if os.path.lexists(path) else None


def memory_at(pid, address, length):
    with open(f"/proc/{pid}/mem", "rb", 0) as memory:
        memory.seek(address)
        return memory.read(length)


def trace(pid, log, kill_at):
    """Follows the process to its end; gives its exit code, 128 + n where a signal ended it."""
    info = ctypes.create_string_buffer(88)
    entered, known, count = {pid: False}, {pid}, 0
    ptrace(SETOPTIONS, pid, 0, OPTIONS)
    ptrace(SYSCALL, pid)
    while True:
        thread, status = os.waitpid(-1, WALL)
        if os.WIFEXITED(status) or os.WIFSIGNALED(status):
            if thread != pid:
                continue
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        stop, deliver = os.WSTOPSIG(status), 0
        try:
            if stop == SYSCALL_STOP:
                entered[thread] = not entered.get(thread, False)
                if entered[thread]:
                    ptrace(GET_SYSCALL_INFO, thread, len(info), ctypes.addressof(info))
                    number, *args = struct.unpack_from("=7Q", info.raw, 24)
                    name = NAMES.get(number)
                    target = step_of(pid, name, args) if name else None
                    if target:
                        count += 1
                        log.write(json.dumps({"call": name, "target": target}) + "\n")
                        if count == kill_at:
                            log.flush()
                            os.kill(pid, signal.SIGKILL)
            elif status >> 16 == 0 and (thread in known or stop != signal.SIGSTOP):
                # A new thread begins with a stop that is none of the program's.
                deliver = stop
            known.add(thread)
            ptrace(SYSCALL, thread, 0, deliver)
        except ProcessLookupError:
            # It was killed meanwhile.
            pass


def main():
    log_path, kill_at, *command = sys.argv[1:]
    pid = os.fork()
    if pid == 0:
        ptrace(TRACEME, 0)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.execvp(command[0], command)
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, lambda number, _: os.kill(pid, number))
    os.waitpid(pid, WALL)
    with open(log_path, "w") as log:
        code = trace(pid, log, int(kill_at))
    sys.exit(code)


main()
