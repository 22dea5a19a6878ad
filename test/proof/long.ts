/**
 * `npm run test:long`: what takes too long for `npm test`. The parts run one after the other; the soak needs little of
 * the machine and half an hour, so it runs beside them. With arguments only the first part runs, with these.
 */
import { spawn } from 'node:child_process';

interface Part {
  readonly name: string;
  readonly command: readonly string[];
}

interface Outcome extends Part {
  readonly code: number;
  readonly minutes: number;
  readonly said: string;
}

const files: Part = {
  name: 'all faults, all crash points and the long files',
  command: ['npx', 'vitest', 'run', '--mode', 'long'],
};
const parts: readonly Part[] = [
  files,
  { name: 'every property with many cases', command: ['npm', 'run', 'test:fuzz'] },
];

/** Prints what a part says, or keeps it where several run at once. */
function run(part: Part, more: readonly string[], output: 'inherit' | 'pipe'): Promise<Outcome> {
  const [program = '', ...args] = [...part.command, ...more];
  const started = Date.now();
  const child = spawn(program, args, {
    stdio: ['ignore', output, output],
    shell: process.platform === 'win32',
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  return new Promise((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) =>
      done({ ...part, code: code ?? 1, minutes: (Date.now() - started) / 60_000, said }),
    );
  });
}

const line = ({ name, code, minutes }: Outcome): string =>
  `${code === 0 ? 'passed' : 'FAILED'}  ${minutes.toFixed(1).padStart(5)} min  ${name}\n`;

const more = process.argv.slice(3);
const outcomes: Outcome[] = [];
for (const part of more.length > 0 ? [files] : parts) outcomes.push(await run(part, more, 'inherit'));
for (const { code, said } of outcomes) if (code !== 0) process.stderr.write(said);
process.stdout.write(`\n${outcomes.map(line).join('')}`);
process.exitCode = outcomes.every(({ code }) => code === 0) ? 0 : 1;
