/** The rules of the house: who may import whom, and what stays out of the way until it is needed. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BIN, freshFolder } from '../support/steno.ts';

interface Import {
  /** A path below src, or the name of a package. */
  readonly to: string;
  readonly kind: 'static' | 'dynamic' | 'type';
}

interface Module {
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const modules: readonly Module[] = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => path.split(sep).join('/'))
  .sort()
  .map((path) => {
    const text = readFileSync(join('src', path), 'utf8');
    return { path, text, imports: importsOf(path, text) };
  });

function importsOf(path: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const target = (name: string): string =>
    name.startsWith('.')
      ? normalize(join(dirname(path), name.replace(/\.js$/, '.ts')))
          .split(sep)
          .join('/')
      : name.startsWith('node:')
        ? name
        : (/^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
  const statics = [...code.matchAll(/^(?:import|export)\s+(?:(type\s)?[^;'"]*?\sfrom\s+)?'([^']+)'/gm)].map(
    ([, type, name = '']): Import => ({ to: target(name), kind: type ? 'type' : 'static' }),
  );
  const dynamics = [...code.matchAll(/(typeof\s+)?\b(?:import|require|getBuiltinModule)\(\s*'([^']+)'/g)].map(
    ([, type, name = '']): Import => ({ to: target(name), kind: type ? 'type' : 'dynamic' }),
  );
  return [...statics, ...dynamics];
}

const isOurs = (name: string): boolean => name.endsWith('.ts');

/** The modules that put the others together. */
const composition = [
  'code-cache.ts',
  'complete.ts',
  'context.ts',
  'docs.ts',
  'generate.ts',
  'help.ts',
  'launch.ts',
  'main.ts',
  'options.ts',
  'program.ts',
  'steno.ts',
];

/** The folder that a module lives in; any other module beside the folders is a leaf, which anyone may use. */
function layerOf(path: string): string {
  if (path.includes('/')) return path.slice(0, path.indexOf('/'));
  return composition.includes(path) ? 'composition' : 'leaf';
}

/** Downwards only: what a layer may import besides itself. A `type` costs nothing and binds nothing at run time. */
const below: Readonly<Record<string, readonly string[]>> = {
  commands: ['flows', 'views', 'listen', 'ledger', 'api', 'ui', 'settings', 'catalog', 'completion', 'leaf'],
  completion: ['ledger', 'settings', 'catalog', 'leaf'],
  views: ['ui', 'api', 'catalog', 'leaf'],
  flows: ['listen', 'ledger', 'api', 'ui', 'settings', 'catalog', 'leaf'],
  listen: ['ledger', 'api', 'ui', 'settings', 'catalog', 'leaf'],
  api: ['ui', 'settings', 'catalog', 'leaf'],
  ledger: ['settings', 'catalog', 'leaf'],
  ui: ['settings', 'catalog', 'leaf'],
  settings: ['catalog', 'leaf'],
  sandbox: ['ledger', 'catalog', 'leaf'],
  catalog: ['leaf'],
  leaf: [],
};

/** A view shows what a flow or the ledger gives back: it knows their shapes, never their code. */
const typesBelow: Readonly<Record<string, readonly string[]>> = { views: ['flows', 'listen', 'ledger'] };

/** Every import that a rule forbids, as `a.ts → b.ts`. */
function offences(forbidden: (module: Module, each: Import) => boolean): string[] {
  return modules.flatMap((module) =>
    module.imports.filter((each) => forbidden(module, each)).map((each) => `${module.path} → ${each.to}`),
  );
}

describe('imports', () => {
  it('are all understood by this test', () => {
    const known = new Set(modules.map((module) => module.path));
    expect(offences((_, { to }) => isOurs(to) && !known.has(to) && !to.endsWith('.d.ts'))).toEqual([]);
    const lines = modules.flatMap(({ text }) => text.match(/^import\b|^export\b.*\bfrom '/gm) ?? []);
    const found = modules.flatMap(({ imports }) => imports.filter((each) => each.kind !== 'dynamic'));
    expect(found.length).toBeGreaterThanOrEqual(lines.length);
  });

  it('live in folders that have a place in the house', () => {
    const homeless = modules.map(({ path }) => layerOf(path)).filter((layer) => !(layer in below));
    expect(homeless.filter((layer) => layer !== 'composition')).toEqual([]);
  });

  it('go downwards only', () => {
    const upwards = offences((module, { to, kind }) => {
      const from = layerOf(module.path);
      if (!isOurs(to) || from === 'composition') return false;
      const layer = layerOf(to);
      if (layer === from || layer === 'composition') return false;
      if (to.startsWith('sandbox/')) return false; // it has a rule of its own
      if (kind === 'type' && typesBelow[from]?.includes(layer)) return false;
      return !below[from]?.includes(layer);
    });
    expect(upwards).toEqual([]);
  });

  it('reach the composition from commands and completions only, and the context by its type alone', () => {
    const reaching = offences((module, { to, kind }) => {
      const from = layerOf(module.path);
      if (!isOurs(to) || from === 'composition' || layerOf(to) !== 'composition') return false;
      if (from === 'commands') return to !== 'options.ts' && !(to === 'context.ts' && kind === 'type');
      if (from === 'completion') return to !== 'options.ts' && to !== 'program.ts';
      return true;
    });
    expect(reaching).toEqual([]);
  });

  it('never lead from one command to another', () => {
    const between = offences(
      (module, { to }) => module.path.startsWith('commands/') && to.startsWith('commands/'),
    );
    expect(between).toEqual([]);
  });

  it('name commands in the program alone', () => {
    expect(offences((module, { to }) => to.startsWith('commands/') && module.path !== 'program.ts')).toEqual(
      [],
    );
  });

  it('name the sandbox in the composition and in its own command alone', () => {
    const allowed = ['context.ts', 'commands/sandbox.ts'];
    const outside = offences(
      (module, { to }) =>
        to.startsWith('sandbox/') && !module.path.startsWith('sandbox/') && !allowed.includes(module.path),
    );
    expect(outside).toEqual([]);
  });
});

describe('packages', () => {
  const owners: ReadonlyArray<readonly [packages: readonly string[], owner: RegExp]> = [
    [['undici'], /^api\//],
    [['@photostructure/sqlite', 'node:sqlite'], /^ledger\//],
    [['chalk', 'ora', 'cli-table3', 'string-width'], /^ui\//],
    [['conf'], /^settings\//],
    [['csv-parse'], /^flows\/manifest\.ts$/],
    [['commander'], /^(program|help)\.ts$/],
  ];

  it.each(owners)('keeps %s to one place', (names, owner) => {
    expect(offences((module, { to }) => names.includes(to) && !owner.test(module.path))).toEqual([]);
  });

  it('gives every package that src imports an owner', () => {
    const owned = owners.flatMap(([names]) => names);
    expect(offences((_, { to }) => !isOurs(to) && !to.startsWith('node:') && !owned.includes(to))).toEqual(
      [],
    );
  });

  it('uses every package that package.json names, and names every one that it uses', () => {
    const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as Record<
      string,
      Record<string, string>
    >;
    const named = Object.keys({ ...manifest.dependencies, ...manifest.devDependencies });
    const scripts = Object.values(manifest.scripts ?? {}).join(' ');
    const commandOf: Readonly<Record<string, RegExp>> = {
      '@biomejs/biome': /\bbiome\b/,
      typescript: /\btsc\b/,
      vitest: /\bvitest\b/,
    };
    const sources = [
      ...modules.map((module) => module.text),
      ...['esbuild.config.js', 'vitest.config.ts', 'tsconfig.json'].map((path) => readFileSync(path, 'utf8')),
      ...filesBelow('test').map((path) => readFileSync(path, 'utf8')),
    ].join('\n');
    const isUsed = (name: string): boolean =>
      commandOf[name]?.test(scripts) ||
      new RegExp(`(?:from |import\\()'${name}(?:/[^']*)?'`).test(sources) ||
      (name === '@types/node' && /"types":\s*\["node"\]/.test(sources));
    expect(named.filter((name) => !isUsed(name))).toEqual([]);
    const wanted = modules
      .flatMap((module) => module.imports.map((each) => each.to))
      .filter((name) => !isOurs(name) && !name.startsWith('node:'));
    expect([...new Set(wanted)].filter((name) => !named.includes(name))).toEqual([]);
  });
});

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(folder, path));

describe('what loads at once', () => {
  const heavy = [
    'undici',
    'conf',
    'chalk',
    'ora',
    'cli-table3',
    'string-width',
    'csv-parse',
    '@photostructure/sqlite',
    'node:sqlite',
  ];

  it('is small: no HTTP, settings writer, colour, spinner, table or database', () => {
    const reached = new Map<string, string>([['steno.ts', 'steno.ts']]);
    for (const [path, trail] of reached) {
      for (const { to, kind } of modules.find((module) => module.path === path)?.imports ?? []) {
        if (kind === 'static' && !reached.has(to)) reached.set(to, `${trail} → ${to}`);
      }
    }
    expect(reached.size).toBeGreaterThan(20);
    const unwelcome = [...reached].filter(
      ([path]) => heavy.includes(path) || /^(ledger|sandbox)\/(?!scenarios)/.test(path),
    );
    expect(unwelcome.map(([, trail]) => trail)).toEqual([]);
  });

  it.each([
    ['--version', ['launch.js']],
    ['--help', ['launch.js']],
    ['order --help', ['launch.js']],
    ['skus', ['launch.js']],
    ['formats --json', ['launch.js']],
    ['config list', ['launch.js', 'code-cache.js', 'steno.js']],
    ['completion zsh', ['launch.js', 'code-cache.js', 'steno.js']],
  ])('is small in the build too: steno %s', (line, expected) => {
    const build = expected.map((name) => resolve('dist', name));
    expect(filesLoadedBy(line.split(' '))).toEqual([BIN, ...build]);
  });
});

/** Runs the program with a look at every file of ours that it reads, and gives those that are code. */
function filesLoadedBy(args: readonly string[]): string[] {
  const folder = freshFolder();
  const spy = join(folder, 'spy.cjs');
  writeFileSync(
    spy,
    `const fs = require('node:fs');
    const { readFileSync } = fs;
    fs.readFileSync = (path, ...rest) => {
      process._rawDebug('read ' + path);
      return readFileSync(path, ...rest);
    };`,
  );
  const { stderr } = spawnSync(process.execPath, ['--require', spy, BIN, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, STENO_CONFIG_DIR: folder, STENO_STATE_DIR: folder },
  });
  const read = [...stderr.matchAll(/^read (.*)$/gm)].map(([, path = '']) => path);
  return read.filter((path) => /\.[cm]?js$/.test(path) && path !== spy);
}

describe('files', () => {
  it('have at most 350 lines', () => {
    const long = modules.map(({ path, text }) => [path, text.split('\n').length] as const);
    expect(long.filter(([, lines]) => lines > 350)).toEqual([]);
  });

  it('use no any', () => {
    const code = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
    const anys = modules.flatMap(({ path, text }) =>
      (code(text).match(/:\s*any\b(?=\s*[;,)=\]}>|&[])|\bas any\b|<any\b|\bany\[\]/g) ?? []).map(
        (found) => `${path}: ${found}`,
      ),
    );
    expect(anys).toEqual([]);
  });

  it('silence neither the compiler nor the linter', () => {
    const silenced = modules.filter(({ text }) =>
      /@ts-(ignore|nocheck|expect-error)|biome-ignore/.test(text),
    );
    expect(silenced.map(({ path }) => path)).toEqual([]);
  });
});
