import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Command as Commander } from 'commander';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.ts';
import { fillSections } from '../../src/cli/docs.ts';
import { buildProgram } from '../../src/cli/program.ts';
import type { CommandNode, Shell } from '../../src/completion/model.ts';
import { completionScript, scriptPaths } from '../../src/completion/shells.ts';
import { commands, groups } from '../support/commands.ts';
import { BIN, KEY, User } from '../support/steno.ts';

const tree = commandTree(groups);

const shells = Object.keys(scriptPaths) as Shell[];

beforeAll(() => {
  vi.stubGlobal('STENO_VERSION', '0.0.0');
});

describe.each(shells)('the completion of %s', (shell) => {
  const script = completionScript(shell);

  test('is kept as it is generated', () => {
    expect(readFileSync(scriptPaths[shell], 'utf8'), 'run: npm run build && npm run generate').toBe(script);
  });

  test('is printed by the program, whatever the key', () => {
    const env = { ...new User().env, STENO_API_KEY: KEY };
    expect(execFileSync(process.execPath, [BIN, 'completion', shell], { env, encoding: 'utf8' })).toBe(
      script,
    );
  });
});

describe('the script for bash', () => {
  /** What bash 3.2, which macOS has, does not know. */
  const newer: ReadonlyArray<readonly [what: string, pattern: RegExp]> = [
    ['associative arrays', /\b(declare|local|typeset)\s+-\w*A/],
    ['references', /\b(declare|local|typeset)\s+-\w*n\b/],
    ['declare -g', /\b(declare|typeset)\s+-\w*g/],
    ['mapfile', /\b(mapfile|readarray|coproc)\b/],
    ['upper and lower case', /\$\{\w+(\[[^\]]*\])?(,,?|\^\^?)/],
    ['transformations', /\$\{[^}]*@[A-Za-z]\}/],
    ['a negative index or length', /\$\{\w+\[-|\$\{\w+:[^}]*:\s*-/],
    ['[[ -v', /\[\[\s+-v\b/],
    ['|& and &>>', /\|&|&>>/],
    [';& and ;;&', /;&/],
    ['\\u in quotes', /\$'[^']*\\[uU]/],
    ['read -N or -i', /\bread\s+-\w*[Ni]/],
    ['source <(…)', /(source|\.)\s+<\(/],
    ['globstar and the like', /globstar|autocd|lastpipe/],
    ['complete -D or -E', /\bcomplete\s+-[DEI]\b/],
  ];
  const script = completionScript('bash');

  test.each(newer)('has no %s', (_, pattern) => {
    expect(script.split('\n').filter((line) => pattern.test(line))).toEqual([]);
  });

  test('uses compopt only where it is there', () => {
    const lines = script.split('\n').filter((line) => line.includes('compopt -'));
    expect(lines).toHaveLength(2);
    for (const line of lines) expect(line).toMatch(/compopt -o \w+ 2>\/dev\/null \|\| /);
  });
});

describe('the model of the commands', () => {
  test('has the commands and flags that the program parses, and no others', () => {
    expect(modelSummary(tree)).toEqual(programSummary(buildProgram(commands), []));
  });

  test('is written by the build', () => {
    expect(JSON.parse(readFileSync('dist/completion.json', 'utf8'))).toEqual(
      JSON.parse(JSON.stringify(tree)),
    );
  });
});

describe('the marked parts of a text', () => {
  test('are replaced, and the rest stays', () => {
    const text = 'a\n<!-- generated: variables -->\nold\n<!-- end: variables -->\nb\n';
    const filled = fillSections(text, groups);
    expect(filled).toMatch(/^a\n<!-- generated: variables -->\n- `[^`]+`: /);
    expect(filled).toMatch(/\n- `[^`]*NO_COLOR[^`]*`: .*\n(- .*\n)*<!-- end: variables -->\nb\n$/);
    expect(fillSections(filled, groups)).toBe(filled);
  });
});

type Summary = readonly (readonly [path: string, flags: readonly string[]])[];

function modelSummary(node: CommandNode, path: readonly string[] = []): Summary {
  const names = [...node.flags, ...tree.flags].flatMap((flag) => flag.names);
  const below = node.children
    .filter((child) => child.names[0] !== 'help' && !/^(schema|config set)$/.test(path.join(' ')))
    .flatMap((child) => modelSummary(child, [...path, child.names[0] ?? '']));
  return [[path.join(' '), sorted(names)], ...below];
}

function programSummary(command: Commander, path: readonly string[]): Summary {
  const options = command.createHelp().visibleOptions(command);
  const names = options.flatMap(({ long, short }) => [long, short].flatMap((name) => name ?? []));
  const shown = command
    .createHelp()
    .visibleCommands(command)
    .filter((child) => child.name() !== 'help');
  const below = shown.flatMap((child) => programSummary(child, [...path, child.name()]));
  return [[path.join(' '), sorted(names)], ...below];
}

const sorted = (names: readonly string[]): string[] => [...new Set(names)].sort();
