/** The completion scripts in the real shells: what each makes of the answer of `steno __complete`. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { completionScript } from '../../src/completion/shells.ts';
import { freshFolder } from '../support/files.ts';
import { sampleTree } from './sample-tree.ts';

const shells = ['bash', 'zsh', 'fish'] as const;
type Tested = (typeof shells)[number];

const parse: Record<Tested, readonly string[]> = { bash: ['-n'], zsh: ['-n'], fish: ['--no-execute'] };

const offers: Record<Tested, (script: string, line: string) => string[]> = {
  bash: inBash,
  zsh: inZsh,
  fish: inFish,
};

/** Where the shells run: what lies there is what they may offer as files. */
let folder = '';

/** Keeps what zsh finds out about its own completions, which is slow, from one test to the next. */
const kept = freshFolder();

beforeEach(() => {
  folder = freshFolder();
  for (const name of ['bin', 'work', 'work/my folder']) mkdirSync(join(folder, name));
  writeFileSync(join(folder, 'work/my notes.txt'), '');
});

/** A command that writes down its arguments, then does as told. */
function fakeSteno(does: string): void {
  const path = join(folder, 'bin/steno');
  writeFileSync(path, `#!/bin/sh\necho "$*" >>'${folder}/started'\n${does}\n`);
  chmodSync(path, 0o755);
}

/** The build, and a copy that completes other commands. */
const builds = { real: resolve('dist'), sample: freshFolder() };
cpSync(builds.real, builds.sample, { recursive: true, filter: (path) => !/\/(man|text)$/.test(path) });
writeFileSync(join(builds.sample, 'completion.json'), JSON.stringify(sampleTree));

const steno = (build: keyof typeof builds): void =>
  fakeSteno(`exec '${process.execPath}' '${builds[build]}/complete.js' "$@"`);

// In CI a missing shell is a failure; elsewhere its tests are skipped.
const missing = (shell: Tested): boolean => !process.env.CI && spawnSync(shell, ['--version']).status !== 0;

for (const shell of shells) {
  describe.skipIf(missing(shell))(`${shell} completes`, () => {
    const complete = (line: string): string[] => offers[shell](completionScript(shell), line);

    test('from a script that it can parse', () => {
      const path = join(folder, 'script');
      writeFileSync(path, completionScript(shell));
      execFileSync(shell, [...parse[shell], path]);
    });

    test.each([
      ['a command', 'steno webh', ['webhook']],
      ['after a URL and a quoted text', "steno order https://a.b/c?d=e --name 'A B' --dry", ['--dry-run']],
      ['a value after =', 'steno order --sku=TST', ['TSTMP1']],
      ['a value after a quoted one', "steno order --sku 'TRANS14',TST", ['TRANS14,TSTMP1']],
      ['names from the settings', 'steno file 1 --profile=d', ['default']],
      ['nothing where nothing fits', 'steno order --notes my', []],
      ['files as an argument', 'steno order my', ['my folder', 'my notes.txt']],
      ['files after =', 'steno order --notes-file=my', ['my folder', 'my notes.txt']],
      ['only folders', 'steno sync --download my', ['my folder']],
    ])('%s', (_, line, expected) => {
      steno('real');
      expect(complete(line)).toEqual(expected);
    });

    test.each([
      ['a value with a blank', 'steno list --state On', ['On Hold']],
      ['a value after one with a blank', 'steno list --state On\\ Hold,Del', ['On Hold,Delivered']],
      ['odd characters as they are', 'steno list --odd ', [`$(x) 'y' "z" [a]:b\\c`]],
    ])('%s', (_, line, expected) => {
      steno('sample');
      expect(complete(line)).toEqual(expected);
    });

    test('a line with a key, which no list of processes shows', () => {
      steno('real');
      expect(complete('steno --api-key secret webh')).toEqual(['webhook']);
      expect(readFileSync(join(folder, 'started'), 'utf8')).toBe(`__complete ${shell}\n`);
    });

    test.each(['echo broken >&2; exit 1', 'true'])('nothing where steno fails: %s', (does) => {
      fakeSteno(does);
      expect(complete('steno fi')).toEqual([]);
    });
  });
}

function run(command: string, args: readonly string[], env: Record<string, string> = {}): string {
  const PATH = `${join(folder, 'bin')}:${process.env.PATH}`;
  const settings = { PATH, HOME: folder, LANG: 'C.UTF-8', TERM: 'xterm', ...env };
  const { stdout, stderr, error } = spawnSync(command, args, {
    cwd: join(folder, 'work'),
    env: settings,
    encoding: 'utf8',
    timeout: 20_000,
  });
  if (error) throw error;
  expect(stderr).toBe('');
  return stdout;
}

/** What each shell makes of a line is its own: compared are the values, without the flag before =. */
const values = (lines: readonly string[]): string[] =>
  [...new Set(lines.map((each) => each.replace(/^--[\w-]+=/, '').replace(/\/$/, '')))].sort();

/** Sets what bash sets before it asks, then reads the answer as bash would in a command line. */
function inBash(script: string, line: string): string[] {
  const path = join(folder, 'steno.bash');
  writeFileSync(path, script);
  const driver = `source "$1"
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:' COMP_LINE=$2 COMP_POINT=\${#2}
read -ra COMP_WORDS <<<"$2"
COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_steno steno "" ""
for each in "\${COMPREPLY[@]}"; do eval "printf '%s\\n' $each"; done`;
  return values(run('bash', ['--norc', '-c', driver, 'bash', path, line]).split('\n').slice(0, -1));
}

function inFish(script: string, line: string): string[] {
  const path = join(folder, 'steno.fish');
  writeFileSync(path, script);
  const found = run('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', path, line]);
  return values(
    found
      .split('\n')
      .slice(0, -1)
      .map((each) => each.split('\t')[0] ?? ''),
  );
}

/** Presses Tab in a zsh on a terminal of its own, which writes down what was added. */
function inZsh(script: string, line: string): string[] {
  const offered = join(folder, 'offered');
  writeFileSync(join(folder, '_steno'), script);
  writeFileSync(join(folder, '.zshrc'), zshrc);
  run('zsh', ['-f', '-c', zshDriver, 'zsh', line], {
    ZDOTDIR: folder,
    OFFERED: offered,
    DUMP: join(kept, 'dump'),
  });
  const found = readFileSync(offered, 'utf8').split('\n');
  return values(found.filter(Boolean));
}

const zshrc = `PS1='READY>'
fpath=($ZDOTDIR $fpath)
autoload -Uz compinit
compinit -C -d $DUMP
LISTMAX=10000
compadd() {
  local -a added
  if [[ " \${(j: :)@[1,(i)(-|--)]} " == *' -'[OAD]' '* ]]; then
    builtin compadd "$@"
    return
  fi
  builtin compadd -A added "$@"
  print -rl -- \${(Q)added/#/\${\${(Q)IPREFIX}#--*=}} >>$OFFERED
  builtin compadd "$@"
}
finish() {
  print >>$OFFERED
  exit 0
}
zle -N finish
bindkey '^X' finish
`;

const zshDriver = `zmodload zsh/zpty
zpty inner zsh -i
zpty -r -m inner shown '*READY>*'
zpty -w -n inner "$1"$'\\t\\C-x'
while zpty -r inner shown; do :; done
zpty -d inner`;
