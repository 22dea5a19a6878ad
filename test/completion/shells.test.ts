/** The completion scripts in the real shells: what each offers for a line, and what it starts to find out. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.ts';
import type { CommandNode, Flag } from '../../src/completion/model.ts';
import { completionScript } from '../../src/completion/script.ts';
import { groups } from '../support/commands.ts';
import { freshFolder } from '../support/files.ts';
import { sliceOf } from '../support/slices.ts';

const tree = commandTree(groups);

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

// In CI a missing shell is a failure; elsewhere its tests are skipped.
const missing = (shell: Tested): boolean => !process.env.CI && spawnSync(shell, ['--version']).status !== 0;

for (const shell of shells) {
  describe.skipIf(missing(shell))(`${shell} completes`, () => {
    const complete = (line: string, root: CommandNode = tree) =>
      offers[shell](completionScript(shell, root), line);

    test('from a script that it can parse', () => {
      const path = join(folder, 'script');
      writeFileSync(path, completionScript(shell, tree));
      execFileSync(shell, [...parse[shell], path]);
    });

    // bash is quick; zsh and fish take most of the time, and the same lists are made for all three.
    const lines: ReadonlyArray<readonly [string, string, readonly string[]]> = [
      ['a command', 'steno webh', ['webhook']],
      ['nested commands', 'steno webhook ', ['get', 'set', 'test']],
      ['a flag', 'steno order --sku', ['--sku']],
      ['a global flag after the command', 'steno order --prof', ['--profile']],
      ['a global flag before the command', 'steno --prof', ['--profile']],
      ['after a global flag with a value', 'steno --profile x order --sku', ['--sku']],
      ['after a value that is named like a command', 'steno --profile order file --wat', ['--watch']],
      ['after a text that is named like a command', 'steno order --notes webhook --dry', ['--dry-run']],
      ['after a URL and a quoted text', "steno order https://a.b/c?d=e --name 'A B' --dry", ['--dry-run']],
      ['a SKU', 'steno order --sku TRANS1', ['TRANS14']],
      ['a SKU after =', 'steno order --sku=TST', ['TSTMP1']],
      ['a SKU after a comma', 'steno order --sku TRANS14,TST', ['TRANS14,TSTMP1']],
      ['a SKU after a quoted one', "steno order --sku 'TRANS14',TST", ['TRANS14,TSTMP1']],
      ['a SKU after = and a comma', 'steno order --sku=TRANS14,TST', ['TRANS14,TSTMP1']],
      ['no format twice', 'steno transcript 1 --format doc,do', ['doc,docx']],
      ['no format twice in two flags', 'steno transcript 1 --format doc --format do', ['docx']],
      ['no format twice after =', 'steno transcript 1 --format=txt,doc --format=do', ['docx']],
      ['no second transcription after a comma', 'steno order --sku TRANS14,T', ['TRANS14,TSTMP1']],
      ['no second transcription after a quoted one', "steno order --sku 'TRANS14',T", ['TRANS14,TSTMP1']],
      ['no second transcription after =', 'steno order --sku=TSTMP1,EMSR02,TR', []],
      ['no second transcription in another flag', 'steno order --sku TRANS2 --sku T', ['TSTMP1']],
      ['no second transcription in another flag after =', 'steno order --sku=TSTMP1,TRANS6 --sku=TR', []],
      ['a transcription after an add-on', 'steno order --sku TSTMP1 --sku TRANS1', ['TRANS14']],
      ['a transcription after a note that names one', 'steno order --notes TRANS2 --sku TRANS1', ['TRANS14']],
      ['no second change of speed', 'steno upgrade 1 --sku UPGRD1,UPG', []],
      ['other upgrades after a change of speed', 'steno upgrade 1 --sku UPGRD1,T', ['UPGRD1,TSTMP1']],
      ['a format', 'steno transcript 1 --format doc', ['doc', 'docx']],
      ['an event', 'steno webhook test ORDER', ['ORDER_ON_HOLD']],
      ['nothing beyond the last argument', 'steno webhook test ORDER_ON_HOLD ORD', []],
      ['a setting, after a global flag', 'steno config --json set ti', ['timeout']],
      ['a shell', 'steno completion z', ['zsh']],
      [
        'a subcommand or a word',
        'steno completion ',
        ['bash', 'fish', 'install', 'powershell', 'uninstall', 'zsh'],
      ],
      ['a shell to install', 'steno completion install --dry-run f', ['fish']],
      ['a flag of a subcommand', 'steno completion uninstall --dry', ['--dry-run']],
      ['a topic of help', 'steno help exit', ['exit-codes']],
      ['a schema', 'steno schema warn', ['warning']],
      ['a schema of a subcommand', 'steno schema events sh', ['show']],
      ['a command to explain', 'steno help webh', ['webhook']],
      ['no flag after --', 'steno order -- --sku', []],
      ['no flag of another command', 'steno file --sku', []],
      ['a subcommand to explain', 'steno help events re', ['replay']],
      ['nothing below a command without subcommands', 'steno help order ', []],
      ['nothing for a key', 'steno --api-key ', []],
      ['nothing for a key to keep', 'steno config set api-key ', []],
      ['nothing for a note', 'steno order --notes my', []],
      ['nothing for a time', 'steno files --since ', []],
      ['values of a setting', 'steno config set timeout ', ['1m', '2m', '30s', '5m']],
      ['values of a setting after a flag', 'steno config set --json currency --quiet E', ['EUR']],
      ['a state', 'steno ls --state Ref', ['Refunded']],
      ['audio on disk', 'steno order my', ['my folder', 'my notes.txt']],
      ['an export to import', 'steno ledger import my', ['my folder', 'my notes.txt']],
      ['a feed on disk', 'steno order --feed my', ['my folder', 'my notes.txt']],
      ['a page to write', 'steno report --html my', ['my folder', 'my notes.txt']],
      ['a place for transcripts', 'steno transcript 1 -o my', ['my folder', 'my notes.txt']],
      ['a folder for transcripts', 'steno sync --download my', ['my folder']],
      ['files', 'steno order --notes-file my', ['my folder', 'my notes.txt']],
      ['files after =', 'steno order --notes-file=my', ['my folder', 'my notes.txt']],
    ];

    test.each(sliceOf(lines, shell === 'bash' ? 1 : 5))('%s', (_, line, expected) => {
      fakeSteno('echo started >&2');
      expect(complete(line)).toEqual(expected);
      expect(started()).toBe('');
    });

    test.each([
      ['an alias', 'steno l', ['list', 'ls']],
      ['the flags of an alias', 'steno ls --into', ['--into']],
      ['a value with a blank', 'steno list --state On', ['On Hold']],
      ['a value after one with a blank', 'steno list --state On\\ Hold,Del', ['On Hold,Delivered']],
      ['a short flag', 'steno list -i my', ['my folder']],
      ['only folders', 'steno list --into my', ['my folder']],
      ['odd characters as they are', 'steno list --odd ', [`$(x) 'y' "z" [a]:b\\c`]],
    ])('%s', (_, line, expected) => {
      expect(complete(line, sampleTree)).toEqual(expected);
    });

    test.each([
      ['profiles', 'steno --profile ', 'profile'],
      ['profiles after the command', 'steno file 1 --profile=', 'profile'],
      ['addresses', 'steno --base-url ', 'base-url'],
      ['invoices', 'steno invoice 7 ', 'invoice'],
      ['orders', 'steno wait --order ', 'order'],
      ['attempts', 'steno attempts settle ', 'attempt'],
      ['an event to show', 'steno events show ', 'event'],
      ['events to replay', 'steno events replay 1 ', 'event'],
      ['held orders of the sandbox', 'steno sandbox release ', 'sandbox-held-order'],
      ['ledgers to keep', 'steno config set ledger ', 'ledger'],
      ['accounts to keep', 'steno config --profile x set account ', 'account'],
      ['where to copy the ledger', 'steno ledger copy --to ', 'copy-target'],
    ])('%s by asking steno', (_, line, kind) => {
      fakeSteno("printf 'one\\tA\\ntwo\\t\\n'");
      expect(complete(line).filter((each) => !each.startsWith('-'))).toEqual(['one', 'two']);
      expect(started()).toContain(`: __complete ${kind} \n`);
    });

    test('ids by asking steno, for the profile in use', () => {
      fakeSteno("printf '123\\tA talk: [1] (Delivered)\\n145\\tOther\\n777\\tThird\\n'");
      expect(complete('steno --profile work file 9 1')).toEqual(['123', '145']);
      expect(started()).toContain('work: __complete audiofile 1\n');
    });

    test('ids of the sandbox', () => {
      fakeSteno("printf '123\\tA talk\\n'");
      expect(complete('steno file --sandbox 1')).toEqual(['123']);
      expect(started()).toContain('sandbox: __complete audiofile 1\n');
    });

    test('ids of the sandbox, also beside a profile', () => {
      fakeSteno("printf '123\\tA talk\\n'");
      expect(complete('steno --sandbox --profile work file 1')).toEqual(['123']);
      expect(started()).toContain('sandbox: __complete audiofile 1\n');
    });

    test('ids after a comma', () => {
      fakeSteno("printf '123\\tA\\n145\\tB\\n'");
      expect(complete('steno list --order=123,1', sampleTree)).toEqual(['123,145']);
      expect(started()).toContain(': __complete order 1\n');
    });

    test('no ids where steno fails', () => {
      fakeSteno('echo 123; echo broken >&2; exit 1');
      expect(complete('steno file 1')).toEqual([]);
    });

    test('no ids where steno knows none', () => {
      fakeSteno('true');
      expect(complete('steno file ').filter((each) => !each.startsWith('-'))).toEqual([]);
    });

    test('flags of a command with ids without asking', () => {
      fakeSteno('echo 123');
      expect(complete('steno file --wat')).toEqual(['--watch']);
      expect(started()).toBe('');
    });
  });
}

/** A command that only tells that it was started, then does as told. */
function fakeSteno(does: string): void {
  const path = join(folder, 'bin/steno');
  writeFileSync(path, `#!/bin/sh\necho "$STENO_PROFILE: $*" >>'${folder}/started'\n${does}\n`);
  chmodSync(path, 0o755);
}

const started = (): string =>
  existsSync(join(folder, 'started')) ? readFileSync(join(folder, 'started'), 'utf8') : '';

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

const flagBase: Flag = {
  names: [],
  help: 'it\'s [odd]: $HOME `x` \\ "q"',
  takesValue: true,
  valueName: 'x:y',
  many: false,
  list: false,
  values: [],
  meaning: () => '',
  onlyOneOf: [],
};

/** What no command has yet, and what a shell could trip over. */
const sampleTree: CommandNode = {
  path: [],
  names: ['steno'],
  summary: '',
  flags: [],
  args: [],
  children: [
    {
      path: ['list'],
      names: ['list', 'ls'],
      summary: flagBase.help,
      flags: [
        { ...flagBase, names: ['--state'], many: true, list: true, values: ['On Hold', 'Delivered'] },
        { ...flagBase, names: ['--into', '-i'], values: 'folder' },
        { ...flagBase, names: ['--order'], many: true, list: true, values: 'order' },
        { ...flagBase, names: ['--odd'], values: [`$(x) 'y' "z" [a]:b\\c`] },
      ],
      args: [],
      children: [],
    },
  ],
};
