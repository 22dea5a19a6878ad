/** The systemd unit of `steno help service`: systemd accepts it, its ExecStart runs, and its limits let `listen` work. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder, listing } from '../support/files.ts';
import { orderingAccount } from '../support/ledger.ts';
import { complete, send } from '../support/listener.ts';
import { freePort } from '../support/postgres.ts';
import { longOnly } from '../support/slices.ts';
import { BIN, finished, KEY } from '../support/steno.ts';
import { hasStrace } from '../support/strace.ts';
import { topicBlocks } from '../support/topics.ts';
import { until } from '../support/until.ts';

const unit = topicBlocks('service').find((block) => block.startsWith('[Unit]')) ?? '';

const valuesOf = (name: string): string[] =>
  [...unit.replaceAll('\\\n', '').matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(
    ([, value = '']) => value,
  );

const HOOK = '/0123456789abcdef0123456789abcdef';

/** A machine on which the unit is installed: its folders are below one of ours. */
function machine() {
  const root = freshFolder();
  for (const folder of ['var/lib/steno', 'etc/steno', 'usr/bin'])
    mkdirSync(join(root, folder), { recursive: true, mode: 0o700 });
  symlinkSync(BIN, join(root, 'usr/bin/steno'));
  const here = (text: string): string =>
    text.replace(/(?<![\w.])\/(?=(var\/lib|etc|usr\/bin)\/steno)/g, `${root}/`);
  return { root, here };
}

/** Traced with Node 20 to 26: V8 uses memory protection keys on x86-64 alone, and arm64 has none of the oldest calls. */
const callsOfNode = new Set(
  `accept4 access arch_prctl bind brk capget chdir clone clone3 close connect dup dup2 dup3 epoll_create1 epoll_ctl
  epoll_pwait epoll_wait eventfd2 execve exit exit_group faccessat fadvise64 fchmod fchmodat fchown fcntl fdatasync
  fstat fstatfs fsync ftruncate futex getcwd getdents64 getegid geteuid getgid getpeername getpgrp getpid getppid
  getrandom getrusage getsockname getsockopt gettid getuid inotify_add_watch inotify_init1 io_uring_setup ioctl kill
  listen lseek lstat madvise membarrier mkdir mkdirat mmap mprotect mremap munmap newfstatat open openat pipe2
  pkey_alloc pkey_free pkey_mprotect poll ppoll prctl pread64 prlimit64 pwrite64 read readlink readlinkat readv recvfrom
  recvmsg rename renameat rseq rt_sigaction rt_sigprocmask rt_sigreturn rt_sigsuspend rt_sigtimedwait sched_getaffinity
  sched_yield sendmmsg sendmsg sendto set_robust_list set_tid_address setsid setsockopt shutdown sigaltstack socket
  socketpair stat statfs statx symlinkat sysinfo tgkill umask uname unlink unlinkat utimensat vfork wait4 write writev`
    .split(/\s+/)
    .filter(Boolean),
);

const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;

const analyze = (...args: string[]) =>
  spawnSync('systemd-analyze', [...args, '--no-pager'], { encoding: 'utf8', timeout: 25_000 });

describe.runIf(hasSystemd || process.env.CI)('systemd', () => {
  const { root, here } = machine();
  const path = join(root, 'steno-listen.service');
  writeFileSync(path, here(unit));

  it('accepts the unit without a word', () => {
    const { status, stdout, stderr } = analyze('verify', path);
    expect([status, stdout, stderr]).toEqual([0, '', '']);
  });

  it('would complain about a wrong one', () => {
    const wrong = join(root, 'wrong.service');
    writeFileSync(wrong, here(unit).replace('ProtectSystem=strict', 'ProtectSystm=strict'));
    expect(analyze('verify', wrong).stderr).toContain('ProtectSystm');
  });

  it('takes it for well confined: an exposure of at most 2 of 10', () => {
    const { status, stdout } = analyze('security', '--offline=true', '--threshold=20', path);
    expect(stdout).toMatch(/Overall exposure level for steno-listen\.service: [01]\.\d/);
    expect(status).toBe(0);
  });

  it('allows what Node calls on x86-64 and on arm64, whichever this machine is', () => {
    const known = allowed();
    expect([...callsOfNode].filter((name) => !known.has(name))).toEqual([]);
  });

  it.runIf(hasStrace || process.env.CI)(
    'lets it make the system calls and sockets that listen, download and --exec need',
    async () => {
      const listener = await start(
        ['strace', '-D', '-f', '-q', '-o', join(root, 'trace')],
        ['--exec', 'cat'],
      );
      expect((await send(`${listener.url}${HOOK}`, complete('1'))).status).toBe(200);
      await until(() => listing(listener.transcripts).length === 1, 'a transcript');
      await listener.stop();
      // With -D strace is the child of listen, and may end after it.
      const read = (): string => readFileSync(join(root, 'trace'), 'utf8');
      await until(() => /\+\+\+ exited with 143 \+\+\+\n$/.test(read()), 'the end of the trace');
      const trace = read();
      const used = new Set([...trace.matchAll(/^\d+ +(\w+)\(/gm)].map(([, name = '']) => name));
      expect(used.size).toBeGreaterThan(30);
      const known = allowed();
      expect([...used].filter((name) => !known.has(name))).toEqual([]);
      const families = new Set([...trace.matchAll(/ socket\((AF_\w+)/g)].map(([, name = '']) => name));
      const named = valuesOf('RestrictAddressFamilies').join(' ').split(' ');
      expect([...families].filter((name) => !named.includes(name))).toEqual([]);
    },
    60_000,
  );
});

/** What the unit allows. */
const allowed = (): Set<string> =>
  new Set((valuesOf('SystemCallFilter')[0] ?? '').split(' ').flatMap((set) => [...callsOf(set)]));

/** The system calls of a set, and of those in it. */
function callsOf(set: string): Set<string> {
  const { stdout } = analyze('syscall-filter', set);
  const names = stdout.split('\n').map((line) => line.trim());
  const [, ...members] = names.filter((line) => line && !line.startsWith('#'));
  return new Set(members.flatMap((name) => (name.startsWith('@') ? [...callsOf(name)] : [name])));
}

/** Starts the line of ExecStart as systemd would: without a shell, with the unit's environment and nothing else. */
async function start(before: readonly string[] = [], more: readonly string[] = []) {
  const { root, here } = machine();
  const account = await orderingAccount();
  const [file = ''] = valuesOf('EnvironmentFile').map(here);
  writeFileSync(
    file,
    `STENO_API_KEY=${KEY}\nSTENO_BASE_URL=${account.service.baseUrl}\nSTENO_HOOK=${HOOK}\n`,
  );
  const lines = [...valuesOf('Environment').map(here), ...readFileSync(file, 'utf8').trim().split('\n')];
  const env = Object.fromEntries(lines.map((line) => [line.split('=')[0], line.replace(/^.*?=/, '')]));
  const [exec = ''] = valuesOf('ExecStart').map(here);
  const words = exec
    .split(/ +/)
    .map((word) => word.replace(/^\$\{(\w+)\}$/, (_, name: string) => env[name] ?? ''));
  const port = String(await freePort());
  const [program = '', ...args] = [...before, ...words, '--port', port, ...more];
  const child: ChildProcessWithoutNullStreams = spawn(program, args, {
    cwd: '/',
    env: { PATH: process.env.PATH, ...env },
  });
  child.stdin.end();
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk;
  });
  const ended = finished(child);
  await until(
    () => /^listening on/m.test(stderr),
    () => `a listener: ${stderr}`,
  );
  return {
    ...account,
    url: `http://127.0.0.1:${port}`,
    transcripts: join(root, 'var/lib/steno/transcripts'),
    state: join(root, 'var/lib/steno'),
    stop: async () => {
      const from = Date.now();
      child.kill('SIGTERM');
      return { ...(await ended), seconds: (Date.now() - from) / 1000 };
    },
  };
}

describe('the line of ExecStart', () => {
  it('receives at its path alone, downloads into its state folder, and ends as the unit expects', async () => {
    const listener = await start();
    expect((await send(`${listener.url}/`, complete('1'))).status).toBe(404);
    expect((await send(`${listener.url}${HOOK}`, complete('1'))).status).toBe(200);
    await until(() => listing(listener.transcripts).length === 1, 'a transcript');
    expect(listing(listener.state)).toContain('ledger.db');
    const { code, seconds } = await listener.stop();
    expect(valuesOf('SuccessExitStatus')).toEqual([String(code)]);
    expect(seconds).toBeLessThan(Number(valuesOf('TimeoutStopSec')[0]));
  }, 60_000);

  longOnly(
    'is given longer to stop than listen gives an action that never ends',
    async () => {
      const listener = await start([], ['--exec', 'sleep 300']);
      expect((await send(`${listener.url}${HOOK}`, complete('1'))).status).toBe(200);
      await until(() => listing(listener.transcripts).length === 1, 'a transcript');
      const { code, seconds } = await listener.stop();
      expect([code, seconds > 9]).toEqual([143, true]);
      expect(seconds).toBeLessThan(Number(valuesOf('TimeoutStopSec')[0]));
    },
    60_000,
  );
});
