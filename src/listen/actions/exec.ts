/** Runs the user's command for an event. Nothing of the event is ever part of the command line. */

import { formatDuration } from '../../lib/duration.ts';
import type { Env } from '../../lib/env.ts';
import { errorMessage } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import type { ReceivedEvent } from '../event.ts';
import { endGroup, startGroup } from '../process-group.ts';
import type { Action, Outcome } from './action.ts';

export interface ExecOptions {
  readonly command: string;
  readonly env: Env;
  /** How long one run may take, in milliseconds. */
  readonly timeout: number;
  readonly jobs: number;
  /** Hears what the command prints. */
  readonly onOutput: (chunk: Buffer) => void;
}

export const execAction = (options: ExecOptions): Action => ({
  kind: 'exec',
  target: options.command,
  jobs: options.jobs,
  marksTries: true,
  triesAgain: false,
  sources: ['received', 'found'],
  run: (event, attempt, signal) => runFor(event, attempt, options, signal),
});

export async function runFor(
  event: ReceivedEvent,
  attempt: number,
  { command, env, timeout, onOutput }: ExecOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  const child = startGroup(command, { ...env, ...eventVariables(event, attempt) }, 'pipe');
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput);
  // A command that does not read its input is no failure.
  child.stdin?.on('error', () => {}).end(`${formatJson(event.json, 0)}\n`);
  let late = false;
  const end = (): void => void endGroup(child);
  const timer = setTimeout(() => {
    late = true;
    end();
  }, timeout);
  signal.addEventListener('abort', end);
  try {
    const [code, killedBy] = await new Promise<[number | null, string | null]>((done, failed) => {
      child.once('error', failed).once('close', (...how) => done(how));
    });
    if (late) return { end: 'failed', text: `ended after ${formatDuration(timeout)}` };
    if (signal.aborted) return { end: 'again', text: 'interrupted' };
    return { end: code === 0 ? 'done' : 'failed', text: code === null ? `${killedBy}` : `exit ${code}` };
  } catch (error) {
    return { end: 'failed', text: errorMessage(error) };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** A system takes no variable of any length, nor any number of them: what is longer is in the JSON alone. */
const LONGEST_VALUE = 16_384;
const MOST_TOGETHER = 65_536;

export function eventVariables(event: ReceivedEvent, attempt: number): Record<string, string> {
  const variables: Record<string, string> = {};
  let room = MOST_TOGETHER;
  const put = (name: string, value: string): void => {
    const key = `STENO_EVENT_${name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}`;
    // What the listener says itself comes first and can't be said otherwise by a delivery.
    if (key in variables) return;
    const safe = value.replaceAll('\0', '');
    const size = key.length + Buffer.byteLength(safe);
    if (key.length > 100 || size > LONGEST_VALUE || size > room) return;
    room -= size;
    variables[key] = safe;
  };
  put('N', String(event.n));
  put('SOURCE', event.source);
  put('RECEIVED_AT', event.receivedAt);
  put('TITLE', event.title);
  put('TRY', String(attempt));
  for (const [name, values] of event.fields) put(name, values.join(','));
  return variables;
}
