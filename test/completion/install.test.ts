/** `completion install` and `uninstall`: what they write, and that nothing is left of it. */
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Machine, placeOf } from '../../src/completion/places.ts';
import { freshFolder, modeOf } from '../support/files.ts';
import { User } from '../support/steno.ts';

class Person extends User {
  constructor(env: Record<string, string | undefined> = {}) {
    super({ SHELL: '/bin/bash', STENO_CONFIG_DIR: undefined, STENO_STATE_DIR: undefined, ...env });
  }

  path(name: string): string {
    return join(this.home, name);
  }

  write(name: string, content: string | Buffer): string {
    mkdirSync(dirname(this.path(name)), { recursive: true });
    writeFileSync(this.path(name), content);
    return this.path(name);
  }

  async completion(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(['completion', ...args]);
    expect([code, stderr.includes('steno:')], stderr).toEqual([0, false]);
    return stdout;
  }

  /** Every file below the home with its bytes and mode, and every folder and link. */
  everything(): Record<string, string> {
    const names = readdirSync(this.home, { recursive: true, encoding: 'utf8' }).sort();
    return Object.fromEntries(
      names.map((name) => {
        const path = this.path(name);
        const stats = lstatSync(path);
        if (stats.isSymbolicLink()) return [name, `link to ${readlinkSync(path)}`];
        return [name, stats.isFile() ? `${modeOf(path)} ${readFileSync(path, 'latin1')}` : 'folder'];
      }),
    );
  }
}

const scripts = {
  bash: '.local/share/bash-completion/completions/steno',
  zsh: '.local/share/zsh/site-functions/_steno',
  fish: '.config/fish/completions/steno.fish',
  powershell: '.config/powershell/steno-completion.ps1',
} as const;
const profile = '.config/powershell/Microsoft.PowerShell_profile.ps1';
const shells = Object.keys(scripts) as (keyof typeof scripts)[];

describe('completion install', () => {
  it.each(shells)('writes the script that %s is printed, says so, and does it once', async (shell) => {
    const person = new Person();
    const rows = await person.completion('install', shell);
    expect(rows.split('\n')[0]).toBe([shell, 'new', 'script', person.path(scripts[shell])].join('\t'));
    const written = readFileSync(person.path(scripts[shell]), 'utf8');
    const printed = await person.completion(shell);
    expect(written.startsWith(printed)).toBe(true);
    expect(written.slice(printed.length)).toMatch(/^\n# Installed by steno completion install; .*\n$/);
    const before = person.everything();
    const said = rows
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t')[3] ?? '');
    const files = Object.keys(before).filter((name) => before[name] !== 'folder');
    expect(said.sort()).toEqual(files.map((name) => person.path(name)));
    const again = await person.completion('install', shell);
    expect(again).toBe(rows.replaceAll('\tnew\t', '\tunchanged\t'));
    expect(person.everything()).toEqual(before);
  });

  it('takes the shell of $SHELL, and says what to do about another', async () => {
    const zsh = new Person({ SHELL: '/opt/bin/zsh' });
    expect(await zsh.completion('install', '--quiet')).toBe(
      `${zsh.path(scripts.zsh)}\n${zsh.path('.zshrc')}\n`,
    );
    expect(await zsh.completion('install', '--quiet')).toBe('');
    for (const SHELL of ['/bin/dash', '', undefined]) {
      const { code, stderr } = await new Person({ SHELL }).run(['completion', 'install']);
      expect([code, stderr.match(/hint: choose one: steno completion install bash/)?.length]).toEqual([2, 1]);
    }
    const { code, stderr } = await new Person().run(['completion', 'install', 'powershel']);
    expect([code, stderr.includes('did you mean powershell?')]).toEqual([2, true]);
  });

  it.each(shells)('shows with --dry-run what it would write for %s, and writes nothing', async (shell) => {
    const person = new Person();
    const before = person.everything();
    const { stdout, stderr } = await person.run(['completion', 'install', shell, '--dry-run']);
    expect(person.everything()).toEqual(before);
    expect(stderr).toMatch(/nothing was written\n$/);
    expect(await person.completion('install', shell)).toBe(stdout);
    const lines = existsSync(person.path('.zshrc'))
      ? readFileSync(person.path('.zshrc'), 'utf8').split('\n').slice(1, -2)
      : [];
    for (const line of lines) expect(stderr).toContain(line);
  });

  it('replaces the script of an older version, and never a file that is not ours', async () => {
    const person = new Person();
    const path = person.write(
      scripts.fish,
      '# Completion of steno for fish, generated from the program: old\n',
    );
    expect(await person.completion('install', 'fish')).toContain('fish\tchanged\tscript\t');
    expect(readFileSync(path, 'utf8')).toContain('complete -c steno');
    writeFileSync(path, 'complete -c steno -a mine\n');
    const { code, stderr } = await person.run(['completion', 'install', 'fish']);
    expect([code, stderr]).toEqual([
      2,
      `steno: ${path} exists, but is not a script of steno\nhint: move it away, then try again\n`,
    ]);
    expect(await person.completion('uninstall')).toBe('');
    expect(readFileSync(path, 'utf8')).toBe('complete -c steno -a mine\n');
  });

  it('respects XDG_DATA_HOME, XDG_CONFIG_HOME, ZDOTDIR and BASH_COMPLETION_USER_DIR', async () => {
    const folder = freshFolder();
    const inside = (name: string): string => join(folder, name);
    const person = new Person({
      XDG_DATA_HOME: inside('data'),
      XDG_CONFIG_HOME: inside('config'),
      ZDOTDIR: inside('dots'),
    });
    const paths = async (...args: string[]) =>
      (await person.completion('install', '--quiet', ...args)).trimEnd().split('\n');
    expect(await paths('bash')).toEqual([
      inside('data/bash-completion/completions/steno'),
      person.path('.bashrc'),
    ]);
    expect(await paths('zsh')).toEqual([inside('data/zsh/site-functions/_steno'), inside('dots/.zshrc')]);
    expect(await paths('fish')).toEqual([inside('config/fish/completions/steno.fish')]);
    expect(readFileSync(inside('dots/.zshrc'), 'utf8')).toContain(
      `fpath=(${inside('data/zsh/site-functions')} "`,
    );
    await person.completion('uninstall');
    const other = new Person({
      BASH_COMPLETION_USER_DIR: inside('own'),
      XDG_DATA_HOME: 'relative',
      XDG_CONFIG_HOME: '',
    });
    expect((await other.completion('install', 'bash')).split('\n')[0]).toContain(
      inside('own/completions/steno'),
    );
    expect(await other.completion('install', 'zsh', '--quiet')).toContain(other.path(scripts.zsh));
  });
});

const rcFiles: ReadonlyArray<readonly [what: string, content: string | Buffer | undefined]> = [
  ['is missing', undefined],
  ['is empty', ''],
  ['ends its last line', 'alias x=y\n'],
  ['does not end its last line', 'alias x=y'],
  ['has Windows line ends', 'alias x=y\r\n\r\necho hi\r\n'],
  ['has Windows line ends and an open line', 'alias x=y\r\necho hi'],
  ['is not UTF-8', Buffer.from([0xff, 0x61, 0xe9, 0x0a, 0x00, 0x80])],
  ['ends with blank lines', 'x\n\n\n'],
  ['has a mark of another program', '# >>> conda initialize >>>\nx\n# <<< conda initialize <<<\n'],
];

describe.each(['bash', 'zsh'] as const)('a start-up file of %s', (shell) => {
  const name = `.${shell}rc`;

  it.each(rcFiles)('that %s is as before after uninstall', async (_, content) => {
    const person = new Person();
    if (content !== undefined) person.write(name, content);
    const before = person.everything();
    await person.completion('install', shell);
    const [start, rest] = [content ?? '', readFileSync(person.path(name))];
    expect(rest.subarray(0, start.length)).toEqual(Buffer.from(start));
    expect(rest.length).toBeGreaterThan(start.length);
    await person.completion('uninstall', shell);
    expect(person.everything()).toEqual(before);
    expect(await person.completion('uninstall')).toBe('');
  });

  it('keeps its mode, and a link to it', async () => {
    const person = new Person();
    const file = person.write('dotfiles/rc', 'x=1');
    chmodSync(file, 0o640);
    symlinkSync('dotfiles/rc', person.path(name));
    const before = person.everything();
    await person.completion('install', shell);
    expect(modeOf(file)).toBe('640');
    expect(readlinkSync(person.path(name))).toBe('dotfiles/rc');
    expect(readFileSync(file, 'utf8')).toContain('x=1\n# >>> steno completion');
    await person.completion('uninstall');
    expect(person.everything()).toEqual(before);
  });

  it('keeps what was added after the block', async () => {
    const person = new Person();
    const file = person.write(name, 'a');
    await person.completion('install', shell);
    writeFileSync(file, `${readFileSync(file, 'utf8')}b\n`);
    await person.completion('uninstall');
    expect(readFileSync(file, 'utf8')).toBe('a\nb\n');
  });

  it('is left alone where the end of the block is gone', async () => {
    const person = new Person();
    const file = person.write(name, '');
    await person.completion('install', shell);
    const cut = readFileSync(file, 'utf8').replace(/# <<<.*\n/, 'mine\n');
    writeFileSync(file, cut);
    const before = person.everything();
    for (const command of ['install', 'uninstall']) {
      const { code, stderr } = await person.run(['completion', command, shell]);
      expect([code, stderr.startsWith(`steno: can't change ${file}: `)]).toEqual([2, true]);
    }
    expect(person.everything()).toEqual(before);
  });
});

describe('completion uninstall', () => {
  it('leaves nothing of what was installed for all shells, folders included', async () => {
    const person = new Person();
    const before = person.everything();
    for (const shell of [...shells].reverse()) await person.completion('install', shell);
    const dry = await person.completion('uninstall', '--dry-run');
    expect(existsSync(person.path(scripts.bash))).toBe(true);
    expect(await person.completion('uninstall')).toBe(dry);
    expect(dry.trimEnd().split('\n')).toHaveLength(7);
    expect(person.everything()).toEqual(before);
  });

  it('leaves folders with other files, and other shells', async () => {
    const person = new Person();
    await person.completion('install', 'bash');
    await person.completion('install', 'fish');
    person.write('.local/share/bash-completion/completions/other', 'x');
    await person.completion('uninstall', 'bash');
    expect(existsSync(person.path(scripts.bash))).toBe(false);
    expect(existsSync(person.path(scripts.fish))).toBe(true);
    expect(existsSync(person.path('.local/share/bash-completion/completions/other'))).toBe(true);
  });

  it('says where nothing is installed', async () => {
    const { code, stdout, stderr } = await new Person().run(['completion', 'uninstall']);
    expect([code, stdout, stderr]).toEqual([0, '', 'nothing is installed\n']);
  });

  it('gives back a profile of Windows PowerShell in UTF-16', async () => {
    const person = new Person();
    const before = Buffer.from('\ufeffSet-Alias x y\r\n', 'utf16le');
    const path = person.write(profile, before);
    await person.completion('install', 'powershell');
    const text = readFileSync(path).toString('utf16le');
    expect(text).toMatch(
      /^\ufeffSet-Alias x y\r\n# >>> steno completion >>>\r\nif \(Test-Path .*\r\n# <<< .*\r\n$/,
    );
    await person.completion('uninstall');
    expect(readFileSync(path)).toEqual(before);
  });
});

describe('a home that takes nothing', () => {
  it.each([
    ['is not set', undefined, 2],
    ['is empty', '', 2],
    ['is relative', 'here', 2],
    ['is not there', '/no/such/home', 1],
  ])('%s', async (_, HOME, expected) => {
    const { code, stdout, stderr } = await new Person({ HOME }).run(['completion', 'install']);
    expect([code, stdout]).toEqual([expected, '']);
    expect(stderr).toMatch(
      /^steno: .*(HOME is not set|no home folder).*\nhint: .*steno completion <shell>\n$/,
    );
  });

  it('has a start-up file that can not be changed: then no script stays either', async () => {
    const person = new Person();
    mkdirSync(person.path('.zshrc'));
    const before = person.everything();
    const { code, stderr } = await person.run(['completion', 'install', 'zsh']);
    expect([code, stderr.startsWith(`steno: can't read ${person.path('.zshrc')}`)]).toEqual([1, true]);
    rmSync(person.path('.zshrc'), { recursive: true });
    // The folder of the link's target is missing, which shows only when it is written.
    symlinkSync('missing/rc', person.path('.zshrc'));
    const { code: later } = await person.run(['completion', 'install', 'zsh']);
    expect(later).toBe(1);
    expect(Object.keys(person.everything())).toEqual(Object.keys(before));
  });
});

describe('where bash looks', () => {
  function machine(files: Readonly<Record<string, string>>, platform: NodeJS.Platform = 'linux'): Machine {
    const root = freshFolder();
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
    mkdirSync(join(root, 'home'), { recursive: true });
    return { env: { HOME: join(root, 'home') }, platform, root };
  }
  const startUpFile = (...args: Parameters<typeof machine>): string | undefined => {
    const chosen = machine(...args);
    return placeOf('bash', chosen).startUpFile?.slice(join(chosen.root, 'home').length + 1);
  };
  const program = { 'usr/share/bash-completion/bash_completion': '' };

  it.each([
    ['the skeleton of Debian', { 'home/.bashrc': '  . /usr/share/bash-completion/bash_completion\n' }],
    ['/etc/bash.bashrc', { 'etc/bash.bashrc': '[ -r /x/bash_completion ] && . /x/bash_completion\n' }],
    [
      '/etc/bashrc of Fedora',
      { 'etc/bashrc': 'for i in /etc/profile.d/*.sh; do\n', 'etc/profile.d/bash_completion.sh': '' },
    ],
  ])('needs no line in .bashrc where bash-completion is loaded by %s', (_, files) => {
    expect(startUpFile({ ...program, ...files })).toBe(undefined);
    expect(startUpFile(files)).toBe('.bashrc');
  });

  it('needs a line where it is there but not loaded', () => {
    expect(startUpFile(program)).toBe('.bashrc');
    expect(
      startUpFile({ ...program, 'etc/bash.bashrc': '#  . /usr/share/bash-completion/bash_completion\n' }),
    ).toBe('.bashrc');
  });

  it('takes the file that login shells of macOS read', () => {
    expect(startUpFile({}, 'darwin')).toBe('.bash_profile');
    expect(startUpFile({ 'home/.profile': 'x\n' }, 'darwin')).toBe('.profile');
    expect(startUpFile({ 'home/.bash_profile': '. ~/.bashrc\n' }, 'darwin')).toBe('.bashrc');
    expect(startUpFile({ 'home/.bash_profile': '# . ~/.bashrc\n', 'home/.profile': '' }, 'darwin')).toBe(
      '.bash_profile',
    );
  });
});
