/** The rules of the house: who may import whom, and what stays out of the way until it is needed. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, normalize, resolve, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';
import { BIN } from '../support/steno.ts';

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
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => path.split(sep).join('/'))
  .sort()
  .map((path) => {
    const text = readFileSync(join('src', path), 'utf8');
    return { path, text, imports: importsOf(path, text) };
  });

function importsOf(path: string, text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const target = (name: string): string => {
    if (name.startsWith('node:')) return name;
    if (!name.startsWith('.')) return /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name;
    return normalize(join(dirname(path), name.replace(/\.js$/, '.ts')))
      .split(sep)
      .join('/');
  };
  const statics = [...code.matchAll(/^(?:import|export)\s+(?:(type\s)?[^;'"]*?\sfrom\s+)?'([^']+)'/gm)].map(
    ([, type, name = '']): Import => ({ to: target(name), kind: type ? 'type' : 'static' }),
  );
  const dynamics = [...code.matchAll(/(typeof\s+)?\b(?:import|require|getBuiltinModule)\(\s*'([^']+)'/g)].map(
    ([, type, name = '']): Import => ({ to: target(name), kind: type ? 'type' : 'dynamic' }),
  );
  return [...statics, ...dynamics];
}

const isOurs = (name: string): boolean => /\.tsx?$/.test(name);

/** The folder below src that a module lives in. */
const layerOf = (path: string): string => path.slice(0, path.indexOf('/'));

/** What each layer may import besides itself. Imports go downwards only. */
const below: Readonly<Record<string, readonly string[]>> = {
  start: ['completion', 'ledger', 'settings', 'lib'],
  cli: ['commands', 'spec', 'completion', 'views', 'settings', 'ui', 'catalog', 'lib'],
  help: [],
  commands: [
    'mcp',
    'spec',
    'completion',
    'pages',
    'listen',
    'views',
    'flows',
    'transcripts',
    'feeds',
    'ledger',
    'api',
    'settings',
    'ui',
    'sandbox',
    'catalog',
    'lib',
  ],
  mcp: ['spec', 'flows', 'ledger', 'ui', 'transcripts', 'lib'],
  spec: ['completion', 'views', 'ledger', 'api', 'settings', 'ui', 'sandbox', 'catalog', 'lib'],
  completion: ['lib'],
  pages: ['views', 'listen', 'flows', 'transcripts', 'ledger', 'api', 'settings', 'catalog', 'lib'],
  views: ['catalog', 'lib'],
  listen: ['flows', 'ledger', 'api', 'settings', 'catalog', 'lib'],
  flows: ['transcripts', 'feeds', 'ledger', 'api', 'settings', 'catalog', 'lib'],
  transcripts: ['catalog', 'lib'],
  feeds: ['api', 'lib'],
  ledger: ['catalog', 'lib'],
  api: ['catalog', 'lib'],
  settings: ['catalog', 'lib'],
  sandbox: ['catalog', 'lib'],
  ui: ['catalog', 'lib'],
  catalog: ['lib'],
  lib: [],
};

/** A view knows the shapes that flows and the layers below return, never their code. */
const typesBelow: Readonly<Record<string, readonly string[]>> = {
  views: ['listen', 'flows', 'transcripts', 'feeds', 'ledger', 'api', 'settings'],
};

/** Every import that a rule forbids, as `a.ts → b.ts`. */
function offences(forbidden: (module: Module, each: Import) => boolean): string[] {
  return modules.flatMap((module) =>
    module.imports.filter((each) => forbidden(module, each)).map((each) => `${module.path} → ${each.to}`),
  );
}

/** Circles of imports, each as the path that leads back to its beginning; `nodeOf` says what a module belongs to. */
function circles(nodeOf: (path: string) => string): string[] {
  const links = new Map<string, Set<string>>();
  for (const { path, imports } of modules) {
    const node = nodeOf(path);
    const others = links.get(node) ?? new Set();
    for (const { to } of imports)
      if (isOurs(to) && (to === path || nodeOf(to) !== node)) others.add(nodeOf(to));
    links.set(node, others);
  }
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): void => {
    const at = trail.indexOf(node);
    if (at >= 0) found.push([...trail.slice(at), node].join(' → '));
    if (at >= 0 || done.has(node)) return;
    for (const to of links.get(node) ?? []) visit(to, [...trail, node]);
    done.add(node);
  };
  for (const node of links.keys()) visit(node, []);
  return found;
}

/** The modules that one of these needs to run. */
function neededBy(isFirst: (path: string) => boolean): Module[] {
  const found = new Set(modules.filter(({ path }) => isFirst(path)));
  for (const { imports } of found)
    for (const { to, kind } of imports) {
      const module = modules.find(({ path }) => path === to);
      if (module && kind !== 'type') found.add(module);
    }
  return [...found];
}

describe('imports', () => {
  it('are all understood by this test', () => {
    const known = new Set(modules.map((module) => module.path));
    expect(offences((_, { to }) => isOurs(to) && !known.has(to) && !to.endsWith('.d.ts'))).toEqual([]);
    const lines = modules.flatMap(({ text }) => text.match(/^import\b|^export\b.*\bfrom '/gm) ?? []);
    const found = modules.flatMap(({ imports }) => imports.filter((each) => each.kind !== 'dynamic'));
    expect(found.length).toBeGreaterThanOrEqual(lines.length);
  });

  it('start in folders that have a place among the layers', () => {
    expect(modules.map(({ path }) => path).filter((path) => !(layerOf(path) in below))).toEqual([]);
  });

  it('go downwards only', () => {
    const upwards = offences(({ path }, { to, kind }) => {
      const [from, layer] = [layerOf(path), layerOf(to)];
      if (!isOurs(to) || layer === from) return false;
      if (kind === 'type' && typesBelow[from]?.includes(layer)) return false;
      return !below[from]?.includes(layer);
    });
    expect(upwards).toEqual([]);
  });

  it('go down the list of src/README.md, which names every layer in this order', () => {
    const listed = [...readFileSync('src/README.md', 'utf8').matchAll(/^\| `([a-z]+)\/` \|/gm)];
    const order = listed.map(([, layer = '']) => layer);
    expect(order).toEqual(Object.keys(below));
    for (const [layer, allowed] of [...Object.entries(below), ...Object.entries(typesBelow)])
      for (const each of allowed) expect(order.indexOf(each), each).toBeGreaterThan(order.indexOf(layer));
  });

  it('go downwards within the ledger too: stores, then tables, then exports and copies', () => {
    const folders = ['ledger/stores', 'ledger', 'ledger/dump'];
    const height = (path: string): number => folders.indexOf(dirname(path));
    const ofLedger = modules.filter(({ path }) => layerOf(path) === 'ledger');
    expect(ofLedger.map(({ path }) => path).filter((path) => height(path) < 0)).toEqual([]);
    const upwards = offences(
      ({ path }, { to }) =>
        layerOf(path) === 'ledger' && layerOf(to) === 'ledger' && height(to) > height(path),
    );
    expect(upwards).toEqual([]);
  });

  it('bring nothing of Node into the page of ui', () => {
    const client = neededBy((path) => path.startsWith('pages/client/'));
    expect(client.length).toBeGreaterThan(20);
    expect(client.flatMap(({ imports }) => imports.filter(({ to }) => to.startsWith('node:')))).toEqual([]);
  });

  it('never form a circle, types included', () => {
    expect(circles((path) => path)).toEqual([]);
  });

  it('never form a circle of folders, subfolders and types included', () => {
    expect(circles(dirname)).toEqual([]);
  });

  it('name commands in their registry alone, and so never in another command', () => {
    const elsewhere = offences(
      ({ path }, { to }) => to.startsWith('commands/') && path !== 'cli/registry.ts',
    );
    expect(elsewhere).toEqual([]);
  });

  it('are static in a command: the registry loads it late, and what is heavy loads itself late', () => {
    const late = offences(({ path }, { kind }) => layerOf(path) === 'commands' && kind === 'dynamic');
    expect(late).toEqual([]);
    const early = offences((_, { to, kind }) => to.startsWith('commands/') && kind !== 'dynamic');
    expect(early).toEqual([]);
  });

  it('name the sandbox in the context and in its own command alone', () => {
    const allowed = /^(sandbox\/|spec\/context\.ts$|commands\/sandbox\.)/;
    expect(offences(({ path }, { to }) => to.startsWith('sandbox/') && !allowed.test(path))).toEqual([]);
  });
});

describe('packages', () => {
  const owners: ReadonlyArray<readonly [packages: readonly string[], owner: RegExp]> = [
    [['undici'], /^api\/http\//],
    [['@photostructure/sqlite', 'node:sqlite'], /^lib\/sqlite-driver\.ts$/],
    [['chalk', 'ora', 'cli-table3', 'string-width'], /^ui\//],
    [['pg'], /^ledger\/stores\//],
    [['conf'], /^settings\//],
    [['sax'], /^feeds\//],
    [['csv-parse'], /^flows\/orders\/manifest-formats\.ts$/],
    [['commander'], /^cli\/program\.ts$/],
    [['@modelcontextprotocol/server', 'zod'], /^mcp\//],
    [['preact', '@preact/signals'], /^pages\/client\//],
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
      ...['rolldown.config.js', 'vitest.config.ts', 'tsconfig.json'].map((path) =>
        readFileSync(path, 'utf8'),
      ),
      ...filesBelow('test').map((path) => readFileSync(path, 'utf8')),
    ].join('\n');
    const isUsed = (name: string): boolean =>
      commandOf[name]?.test(scripts) ||
      new RegExp(`(?:from |import\\()'${name}(?:/[^']*)?'`).test(sources) ||
      (name === '@types/node' && /"types":\s*\["node"\]/.test(sources)) ||
      // The types of a package that brings none.
      (name.startsWith('@types/') && named.includes(name.replace('@types/', '')));
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
    'sax',
    '@photostructure/sqlite',
    'node:sqlite',
    'pg',
    'pg/lib/client.js',
    '@modelcontextprotocol/server',
  ];

  it('is small: no HTTP, settings writer, colour, spinner, table or database', () => {
    const reached = new Map<string, string>([['cli/process.ts', 'cli/process.ts']]);
    for (const [path, trail] of reached) {
      for (const { to, kind } of modules.find((module) => module.path === path)?.imports ?? []) {
        if (kind === 'static' && !reached.has(to)) reached.set(to, `${trail} → ${to}`);
      }
    }
    expect(reached.size).toBeGreaterThan(20);
    const unwelcome = [...reached].filter(
      ([path]) => heavy.includes(path) || /^(ledger|sandbox|lib\/sqlite)\b(?!\/scenarios)/.test(path),
    );
    expect(unwelcome.map(([, trail]) => trail)).toEqual([]);
  });

  /** Of SQLite, where Node has none of its own. */
  const driver = Number.parseInt(process.versions.node, 10) < 22 ? ['driver.js'] : [];

  it.each([
    ['--version', ['launch.js']],
    ['--help', ['launch.js']],
    ['order --help', ['launch.js']],
    ['skus', ['launch.js']],
    ['formats --json', ['launch.js']],
    ['__complete audiofile', ['launch.js', 'complete.js']],
    // A ledger in a file needs nothing of what a shared one does, and no call is made.
    [
      'files --quiet',
      [
        'launch.js',
        'steno.js',
        'rolldown-runtime.js',
        'ledger.js',
        'common.js',
        'call.js',
        'sqlite.js',
        ...driver,
      ],
    ],
  ])('is small in the build too: steno %s', (line, expected) => {
    const build = expected.map((name) => resolve('dist', name));
    expect(filesLoadedBy(line.split(' '))).toEqual([BIN, ...build]);
  });

  it.each(['config list', 'completion zsh'])('loads no package from the build: steno %s', (line) => {
    const loaded = filesLoadedBy(line.split(' ')).map((path) => basename(path));
    expect(loaded.slice(0, 3)).toEqual(['steno.js', 'launch.js', 'steno.js']);
    const packages = ['undici.js', 'source.js', 'ora.js', 'client.js', 'sax.js', 'sync.js'];
    expect(loaded.filter((name) => packages.includes(name))).toEqual([]);
  });
});

/** Runs the program with a look at every file of ours that it reads, and gives those that are code. */
function filesLoadedBy(args: readonly string[]): string[] {
  const folder = freshFolder();
  const spy = join(folder, 'spy.cjs');
  writeFileSync(
    spy,
    `const fs = require('node:fs');
    for (const name of ['readFileSync', 'openSync']) {
      const original = fs[name];
      fs[name] = (path, ...rest) => {
        process._rawDebug('read ' + path);
        return original(path, ...rest);
      };
    }`,
  );
  const { stderr } = spawnSync(process.execPath, ['--require', spy, BIN, ...args], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, HOME: folder, STENO_CONFIG_DIR: folder, STENO_STATE_DIR: folder },
  });
  // Reading a file with an encoding of its own opens it by the other function.
  const read = [...new Set([...stderr.matchAll(/^read (.*)$/gm)].map(([, path = '']) => path))];
  // The driver of SQLite on Node 20 is no file of ours.
  return read.filter((path) => /\.[cm]?js$/.test(path) && path !== spy && !path.includes('node_modules'));
}

describe('folders', () => {
  it('are made in one place: the recursive mkdir of Node may never end', () => {
    const making = modules.filter(({ text }) => /\bmkdir(Sync)?\b/.test(text));
    expect(making.map(({ path }) => path)).toEqual(['lib/fs.ts']);
  });
});

describe('the mask', () => {
  const using = (pattern: RegExp): string[] =>
    modules.filter(({ text }) => pattern.test(text)).map(({ path }) => path);

  it('is made once, in the context, and handed down', () => {
    expect(using(/\bnew Mask\(/)).toEqual(['spec/context.ts']);
  });

  it('learns a secret where that enters, in settings', () => {
    expect(using(/\bmask\.add\(/).map(layerOf)).toEqual(['settings', 'settings']);
  });
});

describe('files', () => {
  it('have at most 600 lines', () => {
    const long = modules.map(({ path, text }) => [path, text.split('\n').length] as const);
    expect(long.filter(([, lines]) => lines > 600)).toEqual([]);
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

describe('classes that everything uses', () => {
  it.each([
    ['spec/context.ts', 'Context'],
    ['spec/ledgers.ts', 'Ledgers'],
  ])('have at most 15 public members: %s', (path, name) => {
    const text = modules.find((module) => module.path === path)?.text ?? '';
    const [, body = ''] = new RegExp(`^export class ${name} \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text) ?? [];
    const members = [...body.matchAll(/^ {2}(?:readonly |async |get )*([a-z]\w*)(?= ?[:?(<=])/gm)].map(
      ([, each]) => each,
    );
    const known = new Set(members.filter((each) => each !== 'constructor'));
    expect(known.size).toBeGreaterThan(5);
    expect([...known].slice(15)).toEqual([]);
  });
});
