/** The release workflow, run step by step on a copy of the last commit, as far as it goes without a real registry. */
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { freshFolder } from '../support/files.ts';

const workflow = readFileSync('.github/workflows/release.yml', 'utf8');
const jobs = new Map(workflow.split(/^ {2}(?=\w+:$)/m).map((text) => [text.split(':')[0], text]));
const stepsOf = (job: string): string[] =>
  [...(jobs.get(job) ?? '').matchAll(/^ {6}- run: (.*)$/gm)].map(([, line = '']) => line);
const steps = stepsOf('publish');
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };

/** A tree without git has no last commit. */
const inClone = it.runIf(existsSync('.git'));

interface Published {
  readonly name: string;
  readonly versions: Readonly<
    Record<string, { readonly dist: { readonly integrity: string }; readonly repository?: unknown }>
  >;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

/** Stands for the registry: knows no package, and keeps what is put. */
async function startRegistry() {
  const put: Published[] = [];
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    if (request.method === 'PUT') put.push(JSON.parse(Buffer.concat(parts).toString()));
    response
      .writeHead(request.method === 'PUT' ? 201 : 404, { 'content-type': 'application/json' })
      .end('{}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { put, host, close: () => server.close() };
}

/** Not execFileSync, which would keep this process from answering as the registry. */
function shell(line: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('bash', ['-ec', line], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        said += part;
      });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(said) : reject(new Error(`${line}: ${code}\n${said}`)),
    );
  });
}

describe('the release workflow', () => {
  inClone(
    'publishes, on the loopback, a tarball that holds what was verified',
    async () => {
      const folder = freshFolder();
      const clone = join(folder, 'clone');
      execFileSync('git', ['clone', '-q', '.', clone]);
      const registry = await startRegistry();
      const bin = join(folder, 'bin');
      mkdirSync(bin);
      writeFileSync(join(bin, 'gh'), '#!/bin/sh\necho "$@" > released\n');
      chmodSync(join(bin, 'gh'), 0o755);
      writeFileSync(join(folder, 'npmrc'), `//${registry.host}/:_authToken=not-a-real-token\n`);
      const env = {
        ...process.env,
        PATH: `${bin}${delimiter}${process.env.PATH}`,
        GITHUB_REF_NAME: `v${version}`,
        GITHUB_SERVER_URL: 'https://github.example',
        GITHUB_REPOSITORY: 'ada/steno',
        CI: '1',
      };
      try {
        expect(steps.length).toBeGreaterThan(6);
        for (const step of steps) {
          if (!step.includes('npm publish')) {
            await shell(step, clone, env);
            continue;
          }
          // Provenance is signed with an identity that only the runner of a workflow has.
          expect(step).toContain('--provenance');
          await shell(step.replace(' --provenance', ''), clone, {
            ...env,
            NPM_CONFIG_REGISTRY: `http://${registry.host}`,
            NPM_CONFIG_USERCONFIG: join(folder, 'npmrc'),
          });
        }
      } finally {
        registry.close();
      }
      const [published] = registry.put;
      expect(published?.name).toBe('steno-cli');
      const tarball = readFileSync(join(clone, 'release', `steno-cli-${version}.tgz`));
      const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
      expect(published?.versions[version]?.dist.integrity).toBe(integrity);
      const url = 'git+https://github.example/ada/steno.git';
      expect(published?.versions[version]?.repository).toEqual({ type: 'git', url });
      const sbom = JSON.parse(readFileSync(join(clone, 'release', 'sbom.json'), 'utf8')) as {
        readonly components: ReadonlyArray<{ readonly name: string }>;
      };
      const names = sbom.components.map((each) => each.name);
      expect(names).toEqual(expect.arrayContaining(['undici', 'commander', '@photostructure/sqlite']));
      expect(names).not.toContain('vitest');
      expect(readFileSync(join(clone, 'released'), 'utf8')).toContain(`release create v${version}`);
      expect(readFileSync(join(clone, 'release', 'notes.md'), 'utf8').length).toBeGreaterThan(40);
    },
    300_000,
  );

  it('publishes nothing that has not passed the tests of CI', () => {
    expect(stepsOf('test')).toContain('.ci/run');
    expect(jobs.get('publish')).toMatch(/^ {4}needs: test$/m);
  });

  it('leaves out a version that is there already, such as the first one, which is published by hand', () => {
    const bin = freshFolder();
    writeFileSync(join(bin, 'npm'), '#!/bin/sh\n[ "$1" = view ] || exit 1\n', { mode: 0o755 });
    const [publish = ''] = steps.filter((each) => each.includes('npm publish'));
    const env = {
      ...process.env,
      PATH: `${bin}${delimiter}${process.env.PATH}`,
      GITHUB_REF_NAME: `v${version}`,
    };
    execFileSync('bash', ['-ec', publish], { env });
    expect(readFileSync('.github/CONTRIBUTING.md', 'utf8')).toContain(
      'npm publish --access public ./steno-cli-',
    );
  });

  it('uses actions that run on a Node which is still maintained', () => {
    const files = readdirSync('.github', { recursive: true, encoding: 'utf8' }).filter((path) =>
      path.endsWith('.yml'),
    );
    const text = [...files.map((path) => join('.github', path)), 'README.md'].map((path) =>
      readFileSync(path, 'utf8'),
    );
    // The first major version of each that runs on Node 24.
    const first: Record<string, number> = { checkout: 5, 'setup-node': 5, cache: 5, 'upload-artifact': 6 };
    const used = [
      ...text.join('\n').matchAll(/actions\/(checkout|setup-node|cache|upload-artifact)\S*@v(\d+)/g),
    ];
    expect(used.length).toBeGreaterThan(12);
    expect(
      used.filter(([, name = '', major]) => Number(major) < (first[name] ?? 0)).map(([use]) => use),
    ).toEqual([]);
  });

  it('refuses a tag that is not the version', async () => {
    const [notes = ''] = steps.filter((each) => each.includes('notes.js'));
    const folder = freshFolder();
    const line = notes
      .replace('mkdir release', `mkdir -p ${folder}/release`)
      .replace('> release', `> ${folder}/release`);
    await expect(shell(line, '.', { ...process.env, GITHUB_REF_NAME: 'v99.0.0' })).rejects.toThrow(
      /the tag is/,
    );
  });
});

describe('the package', () => {
  it('ships the licence text of every package that is bundled', () => {
    const all = readFileSync('dist/LICENSES.txt', 'utf8').split(`\n${'-'.repeat(72)}\n`);
    expect(all.length).toBeGreaterThan(20);
    const without = all.filter(
      (each) => !/permission|permitted|licen[cs]e is/i.test(each.split('\n').slice(1).join(' ')),
    );
    expect(without).toEqual([]);
  });
});
