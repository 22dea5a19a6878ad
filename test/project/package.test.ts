/** What users install: packed, installed elsewhere and run from an empty folder. */
import { type ExecFileSyncOptions, execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';

interface Packed {
  readonly filename: string;
  readonly unpackedSize: number;
  readonly files: ReadonlyArray<{ readonly path: string; readonly mode: number }>;
}

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly version: string;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
};

const folder = freshFolder();
const prefix = join(folder, 'prefix');
const empty = join(folder, 'empty');
let packed: Packed;

const npm = (args: readonly string[], options: ExecFileSyncOptions = {}): string =>
  execFileSync('npm', [...args, '--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier'], {
    stdio: 'pipe',
    timeout: 110_000,
    ...options,
  }).toString();

/** Runs what was installed, with settings and data of its own. */
const steno = (...args: string[]): string => stenoOf(prefix, args);

const stenoOf = (place: string, args: readonly string[]): string =>
  execFileSync(join(place, 'bin', 'steno'), args, {
    cwd: empty,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      STENO_CONFIG_DIR: join(folder, 'config'),
      STENO_STATE_DIR: join(folder, 'state'),
    },
  });

beforeAll(() => {
  mkdirSync(empty);
  // The build is there; `prepack` would take it away from the tests that run beside this one.
  const said = npm(['pack', '--ignore-scripts', '--json', '--pack-destination', folder]);
  const [first] = JSON.parse(said) as Packed[];
  if (!first) throw new Error(`npm pack made nothing: ${said}`);
  packed = first;
  const tarball = join(folder, packed.filename);
  npm(['install', '--global', '--prefix', prefix, '--prefer-offline', '--ignore-scripts', tarball], {
    cwd: empty,
  });
}, 120_000);

describe('the package', () => {
  it('holds only what it needs', () => {
    const paths = packed.files.map((file) => file.path);
    const expected =
      /^((bin|dist)\/(package\.json|[\w.-]+\.js)|dist\/(maps\.json\.br|completion\.json|SKILL\.md)|dist\/(LICENSES|text\/[\w -]+)\.txt|dist\/help\/[a-z-]+\.md|dist\/man\/steno[\w-]*\.[17]\.gz|dist\/ui\/[\w.]+|completions\/[\w.]+)$/;
    const beside = ['LICENSE', 'README.md', 'package.json'];
    expect(paths.filter((path) => !expected.test(path) && !beside.includes(path))).toEqual([]);
    expect(paths).toEqual(
      expect.arrayContaining([...beside, 'bin/steno.js', 'dist/steno.js', 'dist/help/money.md']),
    );
    expect(paths.filter((path) => basename(path).startsWith('generate'))).toEqual([]);
    expect(packed.unpackedSize).toBeLessThan(3_000_000);
  });

  it('has an executable that says which program runs it', () => {
    const bin = packed.files.find((file) => file.path === 'bin/steno.js');
    expect((bin?.mode ?? 0) & 0o111).not.toBe(0);
    expect(readFileSync('bin/steno.js', 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });

  it('is built by npm ci in a clone, and before it is packed', () => {
    const clone = join(folder, 'clone');
    mkdirSync(clone);
    const { version, scripts } = manifest;
    const root = { name: 'steno-cli', version };
    writeFileSync(join(clone, 'package.json'), JSON.stringify({ ...root, scripts }));
    const lock = { ...root, lockfileVersion: 3, packages: { '': root } };
    writeFileSync(join(clone, 'package-lock.json'), JSON.stringify(lock));
    // Stands for the build, which needs what npm ci installs.
    writeFileSync(join(clone, 'rolldown.config.js'), "require('node:fs').writeFileSync('built', '')");
    npm(['ci'], { cwd: clone });
    expect(existsSync(join(clone, 'built'))).toBe(true);
    expect(scripts.prepack).toBe(scripts.build);
  });

  it('runs no script of its own where it is installed, and npm has nothing to say about it', () => {
    const own = ['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare'];
    expect(Object.keys(manifest.scripts).filter((name) => own.includes(name))).toEqual([]);
    const place = join(folder, 'with-scripts');
    const flags = [
      '--prefer-offline',
      '--no-audit',
      '--no-fund',
      '--no-update-notifier',
      '--loglevel=notice',
    ];
    const args = ['install', '--global', '--prefix', place, ...flags, join(folder, packed.filename)];
    const { status, stdout, stderr } = spawnSync('npm', args, { cwd: empty, encoding: 'utf8' });
    expect(status).toBe(0);
    expect(`${stdout}${stderr}`.split('\n').filter((line) => /steno-cli|prepare/.test(line))).toEqual([]);
    expect(stenoOf(place, ['--version'])).toBe(`${manifest.version}\n`);
    expect(stenoOf(place, ['--sandbox', 'balance'])).toMatch(/^\d+\.\d\d\n$/);
  }, 120_000);

  it('has a changelog that begins with its version, or with what comes after it', () => {
    const [first, second] = [...readFileSync('CHANGELOG.md', 'utf8').matchAll(/^## (.*)$/gm)].map(
      ([, title]) => title,
    );
    expect(first === 'Unreleased' ? second : first).toBe(manifest.version);
    const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { readonly version: string };
    expect(lock.version).toBe(manifest.version);
  });

  it('has the page for agents as a skill', () => {
    const skill = readFileSync(join(prefix, 'lib/node_modules/steno-cli/dist/SKILL.md'), 'utf8');
    expect(skill).toMatch(/^---\nname: steno\ndescription: /);
  });

  it('installs with no more than it names', () => {
    expect(Object.keys(manifest.dependencies)).toEqual(['@photostructure/sqlite']);
  });
});

describe('installed elsewhere', () => {
  it('tells its version', () => {
    expect(steno('--version')).toBe(`${manifest.version}\n`);
  });

  it('has its man pages where man looks for them', () => {
    const page = join(prefix, 'share', 'man', 'man1', 'steno-order.1.gz');
    expect(gunzipSync(readFileSync(page)).toString()).toContain('.SH NAME\nsteno\\-order \\- Order ');
    expect(existsSync(join(prefix, 'share', 'man', 'man7', 'steno-exit-codes.7.gz'))).toBe(true);
  });

  it('lists the catalogue', () => {
    expect(steno('skus')).toContain('TRANS14\torder\ttranscription\t');
  });

  it('reaches the sandbox, database and all', () => {
    expect(steno('--sandbox', 'balance')).toMatch(/^\d+\.\d\d\n$/);
  });

  it('names the files of src in a stack trace of --debug', () => {
    expect(() => steno('balance', '--debug')).toThrow(
      /no API key is set\n[\s\S]*\/src\/cli\/main\.ts:\d+:\d+\)/,
    );
  });

  it('orders in the sandbox, and the next command sees the file', () => {
    const id = steno(
      '--sandbox',
      'order',
      'https://example.com/talk.mp3',
      '--sku',
      'TRANS14',
      '--quiet',
    ).trim();
    expect(id).toMatch(/^\d+$/);
    expect(steno('--sandbox', 'file', id, '--json')).toContain('https://example.com/talk.mp3');
  });
});
