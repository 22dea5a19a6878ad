/** Runs the user's command for an event. Nothing of the event is ever part of the command line. */

import type { ChildProcess } from 'node:child_process';
import { formatDuration } from '../../lib/duration.ts';
import { type Env, withoutKey } from '../../lib/env.ts';
import { errorMessage } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import type { ReceivedEvent } from '../event.ts';
import { endGroup, startGroup } from '../process-group.ts';
import { startTimer } from '../timers.ts';
import type { Action, Outcome } from './action.ts';
import { targetRetries } from './schedule.ts';

export interface ExecOptions {
  readonly command: string;
  readonly env: Env;
  /** The key of the account, for a command that is to have it. */
  readonly key?: string | undefined;
  /** How long one run may take. */
  readonly timeoutMs: number;
  readonly jobs: number;
  /** Gets what the command prints. */
  readonly onOutput: (chunk: Buffer) => void;
}

export const execAction = (options: ExecOptions): Action => ({
  kind: 'exec',
  target: options.command,
  jobs: options.jobs,
  recordsTries: true,
  retriedByNext: false,
  retries: () => targetRetries,
  sources: ['received', 'found'],
  run: (event, { attempt, signal }) => runCommand(event, attempt, options, signal),
});

export async function runCommand(
  event: ReceivedEvent,
  attempt: number,
  { command, env, key, timeoutMs, onOutput }: ExecOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  try {
    const inherited = { ...withoutKey(env), ...(key && { STENO_API_KEY: key }) };
    const child = startGroup(command, { ...inherited, ...eventVariables(event, attempt) }, 'pipe');
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', onOutput);
    // A command that does not read its input has not failed.
    child.stdin?.on('error', () => {}).end(`${formatJson(event.json, 0)}\n`);
    const end = await commandEnd(child, timeoutMs, signal);
    if (end.timedOut) return { end: 'failed', text: `ended after ${formatDuration(timeoutMs)}` };
    if (signal.aborted) return { end: 'retry', text: 'interrupted' };
    const text = end.code === null ? `${end.killedBy}` : `exit ${end.code}`;
    return { end: end.code === 0 ? 'done' : 'failed', text };
  } catch (error) {
    return { end: 'failed', text: errorMessage(error) };
  }
}

interface CommandEnd {
  readonly code: number | null;
  readonly killedBy: string | null;
  readonly timedOut: boolean;
}

/** Waits for the command to end; ends it when its time is over or the signal fires. */
function commandEnd(child: ChildProcess, timeoutMs: number, signal: AbortSignal): Promise<CommandEnd> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const endNow = (): void => void endGroup(child).catch(reject);
    const cancelTimeout = startTimer(
      timeoutMs,
      () => {
        timedOut = true;
        endNow();
      },
      reject,
    );
    const cleanUp = (): void => {
      cancelTimeout();
      signal.removeEventListener('abort', endNow);
    };
    if (signal.aborted) endNow();
    signal.addEventListener('abort', endNow);
    child.once('close', (code, killedBy) => {
      cleanUp();
      resolve({ code, killedBy, timedOut });
    });
    child.once('error', (error) => {
      cleanUp();
      reject(error);
    });
  });
}

/** Systems limit the length of a variable and of all of them together: what is longer is in the JSON alone. */
const MAX_VARIABLE_BYTES = 16_384;
const MAX_VARIABLES_BYTES = 65_536;
const MAX_NAME_LENGTH = 100;

function eventVariables(event: ReceivedEvent, attempt: number): Record<string, string> {
  const variables: Record<string, string> = {};
  let freeBytes = MAX_VARIABLES_BYTES;
  const add = (name: string, value: string): void => {
    const key = `STENO_EVENT_${name.toUpperCase().replace(/[^A-Z0-9_]/g, '_')}`;
    // The listener's own variables come first: a field of the same name can't replace them.
    if (key in variables) return;
    const safe = value.replaceAll('\0', '');
    const bytes = key.length + Buffer.byteLength(safe);
    if (key.length > MAX_NAME_LENGTH || bytes > MAX_VARIABLE_BYTES || bytes > freeBytes) return;
    freeBytes -= bytes;
    variables[key] = safe;
  };
  add('N', String(event.n));
  add('SOURCE', event.source);
  add('RECEIVED_AT', event.receivedAt);
  add('TITLE', event.title);
  add('TRY', String(attempt));
  for (const [name, values] of event.fields) add(name, values.join(','));
  return variables;
}
