/** Runs of several commands, of which all must pass. */
import { spawn } from 'node:child_process';

export interface Part {
  readonly name: string;
  readonly command: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export interface Outcome {
  readonly name: string;
  readonly code: number;
  readonly minutes: number;
  /** What it printed, where that was kept back. */
  readonly said: string;
}

/** One after the other, whether or not one fails; `beside` runs meanwhile, and what it prints is kept back. */
export async function runParts(parts: readonly Part[], beside: readonly Part[] = []): Promise<Outcome[]> {
  const meanwhile = beside.map((part) => run(part, 'pipe'));
  const outcomes: Outcome[] = [];
  for (const part of parts) outcomes.push(await run(part, 'inherit'));
  return [...outcomes, ...(await Promise.all(meanwhile))];
}

function run({ name, command, env }: Part, output: 'inherit' | 'pipe'): Promise<Outcome> {
  const [program = '', ...args] = command;
  const started = Date.now();
  const child = spawn(program, args, {
    stdio: ['ignore', output, output],
    // npm is a batch file on Windows.
    shell: process.platform === 'win32',
    env: { ...process.env, ...env },
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
  return new Promise((done) => {
    const end = (code: number): void => done({ name, code, minutes: (Date.now() - started) / 60_000, said });
    child.on('error', (error) => {
      said += `${error.message}\n`;
      end(1);
    });
    child.on('close', (code) => end(code ?? 1));
  });
}

/** What a failed part kept back, then a line for each part. */
export const summary = (outcomes: readonly Outcome[]): string =>
  [
    ...outcomes.filter(({ code }) => code !== 0).map(({ said }) => said),
    '\n',
    ...outcomes.map(
      ({ name, code, minutes }) =>
        `${code === 0 ? 'passed' : 'FAILED'}  ${minutes.toFixed(1).padStart(5)} min  ${name}\n`,
    ),
  ].join('');
