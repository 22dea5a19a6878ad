/** Runs the user's command for an event. Nothing of the event is ever part of the command line. */
import { formatDuration } from '../../lib/duration.ts';
import { type Env, withoutKey } from '../../lib/env.ts';
import { errorMessage } from '../../lib/errors.ts';
import { formatJson } from '../../lib/json.ts';
import { type GroupEnd, ProcessGroup } from '../../lib/process-group.ts';
import type { ReceivedEvent } from '../event.ts';
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

/** What one run may print; the rest is read and dropped, with a pause after each piece: `yes` would fill a processor. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const DROP_PAUSE_MS = 1;
const OUTPUT_NOTE = 'steno: the command printed more than 1 MiB; the rest is not shown\n';

export async function runCommand(
  event: ReceivedEvent,
  attempt: number,
  { command, env, key, timeoutMs, onOutput }: ExecOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  if (signal.aborted) return { end: 'retry', text: 'interrupted' };
  try {
    const inherited = { ...withoutKey(env), ...(key && { STENO_API_KEY: key }) };
    const variables = { ...inherited, ...eventVariables(event, attempt) };
    const { end, timedOut } = await runGroup(command, variables, `${formatJson(event.json, 0)}\n`, {
      timeoutMs,
      signal,
      show: limitOutput(onOutput),
    });
    if (timedOut) return { end: 'failed', text: `ended after ${formatDuration(timeoutMs)}` };
    if (signal.aborted) return { end: 'retry', text: 'interrupted' };
    const text = end.code === null ? `${end.killedBy}` : `exit ${end.code}`;
    return { end: end.code === 0 ? 'done' : 'failed', text };
  } catch (error) {
    return { end: 'failed', text: errorMessage(error) };
  }
}

interface RunLimits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** False: it was dropped. */
  readonly show: (chunk: Buffer) => boolean;
}

/** Waits for the command to end; ends it, with all that it started, when its time is over or the signal fires. */
function runGroup(
  command: string,
  env: Env,
  input: string,
  { timeoutMs, signal, show }: RunLimits,
): Promise<{ end: GroupEnd; timedOut: boolean }> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const group = new ProcessGroup({ command, env, hasInput: true });
    for (const output of group.outputs)
      output.on('data', (chunk: Buffer) => {
        if (show(chunk)) return;
        output.pause();
        startTimer(DROP_PAUSE_MS, () => void output.resume(), reject);
      });
    group.stdin?.end(input);
    const endNow = (): void => group.end();
    const onTimeout = (): void => {
      timedOut = true;
      endNow();
    };
    const cancelTimeout = startTimer(timeoutMs, onTimeout, reject);
    signal.addEventListener('abort', endNow);
    void group.ended
      .finally(() => {
        cancelTimeout();
        signal.removeEventListener('abort', endNow);
      })
      .then((end) => resolve({ end, timedOut }), reject);
  });
}

/** Passes on what a run prints up to the limit, and says once that there is more. */
function limitOutput(onOutput: (chunk: Buffer) => void): (chunk: Buffer) => boolean {
  let left = MAX_OUTPUT_BYTES;
  return (chunk) => {
    if (left < 0) return false;
    const shown = chunk.subarray(0, left);
    if (shown.length) onOutput(shown);
    left -= chunk.length;
    if (left < 0) onOutput(Buffer.from(`\n${OUTPUT_NOTE}`));
    return left >= 0;
  };
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
