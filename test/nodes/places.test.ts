/** The package where users have it: another user's, a folder that can't be written to, no home, other settings of a system. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { SANDBOX_KEY } from '../../src/sandbox/server.ts';
import { freshFolder, listing, modeOf } from '../support/files.ts';
import { filesBelow } from '../support/secrets.ts';
import { canMount } from '../support/small-disk.ts';
import { finished, type Result } from '../support/steno.ts';
import { NodeUnderTest, NodeUser } from './node-user.ts';
import { binFolder } from './node-versions.ts';

const node = new NodeUnderTest('20');
const ORDER = 'order https://example.com/talk.mp3 --sku TRANS14';
const isRoot = process.getuid?.() === 0;

/** A user id without a name, as a container may run under. */
const STRANGER = 54_321;

/** Settings and state where the platform has them, below HOME. */
const PLATFORM = { STENO_CONFIG_DIR: undefined, STENO_STATE_DIR: undefined };

const state = (home: string): string => join(home, '.local', 'state', 'steno');

/** Runs another program: the package in another place, or a shell. */
class ProgramUser extends NodeUser {
  override readonly program: readonly [string, ...string[]];

  constructor(program: readonly [string, ...string[]], env: Record<string, string | undefined>) {
    super('20', env);
    this.program = program;
  }
}

/** Runs the same command line by way of another program: setpriv, unshare. */
class Through extends ProgramUser {
  constructor(way: readonly [string, ...string[]], env: Record<string, string | undefined>) {
    super([...way, join(inject('prefix'), 'bin', 'steno')], { ...PLATFORM, ...env });
  }
}

/** Whether a program of the system may do this here: in some containers root may not. */
const may = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

function mount(folder: string, options: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder]);
  onTestFinished(() => void spawnSync('umount', ['-l', folder]));
}

const mayMount = canMount && may('unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt');

/** Nothing that was begun is left under a name of ours, and no file holds the key. */
function expectTidy(folder: string): void {
  const files = existsSync(folder) ? filesBelow(folder) : [];
  expect(files.filter((path) => /\.(new|part|tmp)$|\.tmp-/.test(path))).toEqual([]);
  expect(files.filter((path) => readFileSync(path).includes(SANDBOX_KEY))).toEqual([]);
}

describe('a home', () => {
  it('that has never seen it gets private folders, at the first order', async () => {
    const user = node.newUser(PLATFORM);
    await user.ok('balance');
    await user.ok('whoami');
    expect(listing(user.home)).toEqual([]);
    await user.ok(ORDER);
    expect(listing(user.home)).toEqual(['.local']);
    expect(listing(state(user.home))).toContain('ledger.db');
    expect(modeOf(state(user.home))).toBe('700');
    expect(modeOf(join(state(user.home), 'ledger.db'))).toBe('600');
    expectTidy(user.home);
  });

  it('has one ledger, whichever folder it is run from', async () => {
    const user = node.newUser(PLATFORM);
    const [one, other] = [freshFolder(), freshFolder()];
    await user.ok(ORDER, { cwd: one });
    await user.exits(9, ORDER, { cwd: other });
    await user.ok('wait --interval 100ms --timeout 25s --download .', { cwd: other });
    expect([listing(one), listing(other)]).toEqual([[], [expect.stringMatching(/^\d+\.txt$/)]]);
  });

  it('may be named with blanks and umlauts, as may all other folders', async () => {
    const folder = join(freshFolder(), 'Größe & Maß, "zwei" $HOME');
    const home = join(folder, 'Zuhause é');
    const prefix = join(folder, 'Programme');
    mkdirSync(home, { recursive: true });
    cpSync(inject('prefix'), prefix, { recursive: true, verbatimSymlinks: true });
    const user = new ProgramUser([join(prefix, 'bin', 'steno')], {
      ...PLATFORM,
      HOME: home,
      STENO_API_KEY: SANDBOX_KEY,
      STENO_BASE_URL: node.baseUrl,
    });
    const line = ['order', 'https://example.com/blanks.mp3', '--sku', 'TRANS14', '--interval', '100ms'];
    const { code } = await user.run([...line, '--download', 'Texte für mich'], { cwd: folder });
    expect(code).toBe(0);
    expect(listing(join(folder, 'Texte für mich'))).toEqual([expect.stringMatching(/^\d+\.txt$/)]);
    expect((await user.ok('ledger status')).stdout).toContain(`where\t${join(state(home), 'ledger.db')}\n`);
    await user.ok('config set timeout 20s');
    expect((await user.ok('config get timeout')).stdout).toBe('20s\n');
  });

  it.each(['', 'relative'])(
    'that is HOME=%s is none: the ledger does not depend on the folder',
    async (HOME) => {
      const cwd = freshFolder();
      const user = node.newUser({ ...PLATFORM, HOME, XDG_STATE_HOME: 'x', XDG_CONFIG_HOME: 'y' });
      const { stdout } = await user.ok('config path', { cwd });
      expect(stdout).toMatch(/^\//);
      expect(stdout.startsWith(cwd)).toBe(false);
      expect(listing(cwd)).toEqual([]);
    },
  );
});

describe.runIf(isRoot)('another user', () => {
  const as = (id: number, env: Record<string, string | undefined>): Through =>
    new Through(['setpriv', `--reuid=${id}`, `--regid=${id}`, '--clear-groups'], {
      // The Nodes are in a folder that only its owner can open.
      PATH: `${openFolder}:${process.env.PATH}`,
      STENO_API_KEY: SANDBOX_KEY,
      STENO_BASE_URL: node.baseUrl,
      ...env,
    });
  let openFolder = '';

  beforeAll(() => {
    openFolder = freshFolder();
    cpSync(join(binFolder('20'), 'node'), join(openFolder, 'node'));
    chmodSync(openFolder, 0o755);
    const prefix = join(inject('prefix'), '..');
    chmodSync(prefix, 0o755);
  });

  const homeOf = (id: number): string => {
    const home = freshFolder();
    chmodSync(home, 0o755);
    chownSync(home, id, id);
    return home;
  };

  it.each([65_534, STRANGER])('with the id %i runs what root has installed', async (id) => {
    const user = as(id, { HOME: homeOf(id) });
    const cwd = user.env.HOME ?? '';
    await user.ok(ORDER.replace('talk', `by-${id}`), { cwd });
    await user.exits(9, ORDER.replace('talk', `by-${id}`), { cwd });
    expectTidy(cwd);
  });

  it('without any home is told what to set, and needs no more than that', async () => {
    const user = as(STRANGER, { HOME: undefined });
    const cwd = '/';
    const { stderr } = await user.exits(1, ORDER, { cwd });
    expect(stderr).toBe(
      'steno: this user has no home folder\nhint: set HOME, or both STENO_CONFIG_DIR and STENO_STATE_DIR\n',
    );
    await user.ok('--help', { cwd });
    await user.ok('help storage', { cwd });
    await user.ok('skus', { cwd });
    await user.ok('__complete audiofile', { cwd });
    const folder = homeOf(STRANGER);
    const env = { STENO_CONFIG_DIR: join(folder, 'c'), STENO_STATE_DIR: join(folder, 's') };
    await user.ok(ORDER.replace('talk', 'homeless'), { cwd, env });
    expect(listing(folder)).toEqual(['s']);
  });

  it.each(['/nonexistent', 'of root'])(
    'with a home that can not be written to (%s) is told so before anything is sent',
    async (which) => {
      const HOME = which === 'of root' ? freshFolder() : which;
      if (HOME !== which) chmodSync(HOME, 0o755);
      const user = as(STRANGER, { HOME });
      const { stderr } = await user.exits(1, ORDER.replace('talk', 'unwritable'), { cwd: '/' });
      expect(stderr).toContain(`steno: can't create the folder ${HOME}`);
      expect(stderr).toContain(
        ': permission denied\nhint: make it writable, or name another folder with STENO_STATE_DIR\n',
      );
      expect(existsSync('/nonexistent')).toBe(false);
      await user.ok('balance', { cwd: '/' });
    },
  );
});

describe.runIf(mayMount)('a disk', () => {
  /** A user whose home is a disk of its own, with an order and its transcript. */
  async function onDisk(): Promise<{ user: NodeUser; home: string; id: string }> {
    const home = freshFolder();
    mount(home, 'size=6m,mode=700');
    const user = node.newUser({ ...PLATFORM, HOME: home });
    const id = await node.delivered(`disk-${Math.random().toString(36).slice(2)}`, user);
    return { user, home, id };
  }

  /** What reads the service alone goes on; what needs the ledger says why it can't. */
  async function expectReading(user: NodeUser, id: string, reason: string): Promise<void> {
    const out = freshFolder();
    await user.ok('balance');
    const { stderr } = await user.ok(`transcript ${id} -o ${join(out, 'a.txt')}`);
    expect(stderr).toContain(reason);
    expect(listing(out)).toEqual(['a.txt']);
    const refused = await user.exits(1, ORDER.replace('talk', 'refused'));
    expect(refused.stderr).toMatch(new RegExp(`^steno: can't write .*ledger\\.db: ${reason}\nhint: .*\n$`));
    expect((await user.exits(1, 'listen --port 0')).stderr).toContain(reason);
  }

  it('that can only be read stops orders, and nothing else', async () => {
    const { user, home, id } = await onDisk();
    execFileSync('mount', ['-o', 'remount,ro', home]);
    await expectReading(user, id, 'the disk is read-only');
    const { stderr } = await user.exits(1, 'config set timeout 4s');
    expect(stderr).toContain('name another folder with STENO_CONFIG_DIR');
    execFileSync('mount', ['-o', 'remount,rw', home]);
    await user.ok(ORDER.replace('talk', `rw-${id}`));
    expectTidy(home);
  });

  it('that can only be read, with nothing on it, is told apart from one without orders', async () => {
    const home = freshFolder();
    mount(home, 'ro,size=1m');
    const user = node.newUser({ ...PLATFORM, HOME: home });
    const { stderr } = await user.exits(1, 'files');
    expect(stderr).toMatch(
      /^steno: can't create the folder .*: the disk is read-only\nhint: .*STENO_STATE_DIR\n$/,
    );
    await user.ok(`${ORDER.replace('talk', 'unnoted')} --no-ledger`);
    expect((await user.exits(1, 'doctor')).stdout).toMatch(/^disk\tfail\t/m);
  });

  it('that is full stops orders before they are sent, and leaves nothing half-written', async () => {
    const { user, home, id } = await onDisk();
    spawnSync('dd', ['if=/dev/zero', `of=${join(home, 'fill')}`, 'bs=1k'], { stdio: 'ignore' });
    await expectReading(user, id, 'the disk is full');
    const refused = await user.exits(1, `transcript ${id} -o ${join(home, 'b.txt')}`);
    expect(refused.stderr).toMatch(/can't write .*b\.txt: the disk is full/);
    await user.exits(1, 'config set timeout 4s');
    await user.exits(1, `ledger export -o ${join(home, 'dump')}`);
    expect(listing(home).filter((name) => !name.startsWith('.'))).toEqual(['fill']);
    writeFileSync(join(home, 'fill'), '');
    await user.ok(ORDER.replace('talk', `room-${id}`));
    expect(await user.json('files')).toHaveLength(2);
    expectTidy(home);
  });
});

describe('a system that is set to', () => {
  it.each([{ LANG: 'C' }, { LC_ALL: 'POSIX' }, { LANG: 'de_DE.ISO-8859-1', LC_ALL: 'de_DE.ISO-8859-1' }])(
    '%o keeps and shows all letters',
    async (locale) => {
      const user = node.newUser({ ...PLATFORM, ...locale });
      const line = ['order', 'https://example.com/größe.mp3', '--sku', 'TRANS14', '--notes', 'Grüße, 日本'];
      expect((await user.run([...line, '--again'])).code).toBe(0);
      expect((await user.ok('files --columns all')).stdout).toContain('Grüße, 日本');
      expect((await user.onTerminal('steno files --no-pager')).stdout).not.toContain('\ufffd');
    },
  );

  it.each(['Pacific/Chatham', 'nonsense', '', ':/etc/passwd', 'America/New_York'])(
    'TZ=%s has the same times in its ledger',
    async (TZ) => {
      const user = node.newUser({ TZ });
      await node.order(`tz-${TZ.replace(/\W/g, '')}`, user);
      const [file] = await user.json<Array<{ ordered_at: string }>>('files --since 1h');
      expect(Math.abs(Date.parse(file?.ordered_at ?? '') - Date.now())).toBeLessThan(600_000);
      expect(file?.ordered_at).toMatch(/Z$/);
      await user.ok('report --by month');
      expect((await user.onTerminal('steno files --no-pager')).stdout).toMatch(/just now| ago/);
    },
  );
});

describe('without a network', () => {
  const mayUnshare = may('unshare', '-n', 'true');

  it('is installed from tarballs alone, without scripts', async () => {
    const folder = freshFolder();
    const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier'];
    const npm = (args: readonly string[], env: Record<string, string> = {}): string =>
      execFileSync('npm', [...args, ...quiet], {
        cwd: folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...env },
      });
    const needed = ['@photostructure/sqlite', 'node-addon-api', 'node-gyp-build'];
    const tarballs = needed
      .map((name) => join(process.cwd(), 'node_modules', name))
      .map((path) => join(folder, npm(['pack', '--ignore-scripts', path]).trim()));
    const prefix = join(folder, 'prefix');
    const install = ['install', '--prefix', prefix, '--offline', '--ignore-scripts'];
    // A cache that has never seen the registry.
    npm([...install, ...tarballs, inject('tarball')], { npm_config_cache: join(folder, 'cache') });
    const user = new ProgramUser([join(prefix, 'node_modules', '.bin', 'steno')], PLATFORM);
    expect((await user.ok(`--sandbox ${ORDER} --quiet`)).stdout).toBe('1001\n');
  });

  it.runIf(mayUnshare)('says so, exits 7, and orders nothing', async () => {
    const user = new Through(['unshare', '-n'], {
      STENO_API_KEY: SANDBOX_KEY,
      STENO_BASE_URL: 'https://steno.example.com/API4',
    });
    const { stderr } = await user.exits(7, ORDER);
    expect(stderr).toMatch(/^steno: can't (reach|find) steno\.example\.com/);
    expect((await user.ok('files')).stdout).toBe('');
    await user.ok('skus');
    await user.ok('attempts');
  });

  it.runIf(mayUnshare && may('unshare', '-n', 'ip', 'link', 'set', 'lo', 'up'))(
    'has the sandbox, which needs this machine alone',
    async () => {
      const line = 'ip link set lo up && exec "$0" "$@"';
      const user = new Through(['unshare', '-n', 'sh', '-c', line], {});
      expect((await user.ok(`--sandbox ${ORDER} --quiet`)).stdout).toBe('1001\n');
    },
  );
});

describe('the command', () => {
  it('runs through a symlink of a symlink, and with another name', async () => {
    const user = node.newUser();
    const bin = freshFolder();
    symlinkSync(join(inject('prefix'), 'bin', 'steno'), join(bin, 'first'));
    symlinkSync(join(bin, 'first'), join(bin, 'second'));
    const linked = new ProgramUser([join(bin, 'second')], user.env);
    await linked.ok('balance');
  });

  it('runs with stdin, stdout and stderr closed', async () => {
    const user = node.newUser();
    const run = async (line: string): Promise<Result> => {
      const shell = new ProgramUser(['bash', '-c'], user.env);
      const child = shell.start([line.replace('steno', user.program[0])]);
      child.stdin.end();
      return finished(child);
    };
    expect((await run('steno balance <&-')).code).toBe(0);
    expect((await run('steno balance 2>&-')).stdout).toMatch(/^\d+\.\d\d\n$/);
    const { code, stderr } = await run('steno balance >&-');
    // Node puts /dev/null in the place of a closed stdout.
    expect([code, stderr]).toEqual([0, '']);
  });
});
