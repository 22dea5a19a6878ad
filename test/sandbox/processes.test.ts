import { type ChildProcess, spawn } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.ts';
import { freshFolder } from '../support/files.ts';
import { type Client, clientOf, order, receive } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let program: string;

beforeAll(async () => {
  const folder = freshFolder();
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction');
  program = join(folder, 'serve.mjs');
  const contents = `
    import { startSandbox } from './src/sandbox/index.ts';
    const sandbox = await startSandbox(JSON.parse(process.argv[2]));
    process.stdout.write(sandbox.baseUrl + ' ' + sandbox.apiKey + '\\n');
    process.stdin.resume().on('end', () => sandbox.close());`;
  await build({
    stdin: { contents, resolveDir: root },
    outfile: program,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['@photostructure/sqlite'],
  });
});

async function serve(options: SandboxOptions): Promise<Client & { child: ChildProcess }> {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const line = await new Promise<string>((resolve) =>
    child.stdout.once('data', (data) => resolve(String(data))),
  );
  const [baseUrl = '', key = ''] = line.trim().split(' ');
  return { child, ...clientOf(baseUrl, key) };
}

it('two processes on the same data neither double nor lose an event', async () => {
  const folder = freshFolder();
  const receiver = await receive();
  const servers = await Promise.all([
    serve({ folder, speed: 20 }),
    serve({ folder, speed: 20 }),
    serve({ folder, speed: 20 }),
  ]);
  await servers[0].post('/webhook', { webhook: receiver.url });
  const placed = await Promise.all(
    Array.from({ length: 150 }, (_, n) =>
      order(servers[n % 3] as Client, `https://a.example/${n % 2 ? 'difficult' : 'plain'}-${n}.mp3`),
    ),
  );
  expect(new Set(placed.map(({ order: id }) => id)).size).toBe(150);
  await until(() => receiver.events.length >= 225, '225 events');
  await sleep(400);
  const sent = receiver.events.map(({ event, audiofile }) => `${event} ${audiofile}`);
  expect(sent).toHaveLength(225);
  expect(new Set(sent).size).toBe(225);
});
