/**
 * `npm run test:long`: what takes too long for `npm test`, one after the other. The soak takes half an hour and little
 * of the machine, so it runs beside the rest. With arguments only the first part runs, with these.
 */
import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { binFolder, fetchNodes, versions } from '../nodes/node-versions.ts';
import { type Part, runParts, summary } from './parts.ts';

const args = process.argv.slice(3);

const files: Part = {
  name: 'the long files, and all of what has a slice in npm test',
  command: ['npx', 'vitest', 'run', '--mode', 'long', ...args],
};

/** All of `npm test`, run by the newest Node and with it. */
function onNewestNode(): Part {
  fetchNodes();
  const newest = versions[versions.length - 1] as (typeof versions)[number];
  // Some tests run it as other users, who can't look into the home of this one.
  const folder = mkdtempSync(join(tmpdir(), 'steno-node-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // Without a handler a signal ends the process, and 'exit' is not heard.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  chmodSync(folder, 0o755);
  copyFileSync(join(binFolder(newest), 'node'), join(folder, 'node'));
  return {
    name: `npm test on Node ${newest}`,
    command: [join(folder, 'node'), 'node_modules/vitest/vitest.mjs', 'run'],
    env: {
      PATH: `${folder}${delimiter}${process.env.PATH}`,
      STENO_PROOF_RUN: `npm test, Node ${newest}`,
    },
  };
}

const others = (): readonly Part[] => [
  { name: 'every property with many cases', command: ['npm', 'run', 'test:fuzz'] },
  onNewestNode(),
];

const soak: Part = {
  name: 'listen, wait and the sandbox for half an hour',
  command: ['npm', 'run', 'test:soak'],
};

const outcomes = await (args.length > 0 ? runParts([files]) : runParts([files, ...others()], [soak]));
process.stdout.write(summary(outcomes));
process.exitCode = outcomes.every(({ code }) => code === 0) ? 0 : 1;
