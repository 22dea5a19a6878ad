/** Runs the user's command for an event. Nothing of the event is ever part of the command line. */

import { type GroupEnd, mayStartLater, ProcessGroup, passLines } from '../lib/child-processes.ts';
import type { Env } from '../lib/env.ts';
import { errorMessage } from '../lib/errors.ts';
import { formatJson } from '../lib/json.ts';
import { childEnv } from '../lib/processes.ts';
import { formatDuration } from '../lib/time.ts';
import { type Action, type Outcome, targetRetries } from './action.ts';
import { startTimer } from './background.ts';
import type { ReceivedEvent } from './event.ts';

export interface ExecOptions {
  readonly command: string;
  readonly env: Env;
  /** The key of the account, for a command that is to have it. */
  readonly key?: string | undefined;
  /** How long one run may take. */
  readonly timeoutMs: number;
  readonly jobs: number;
  /** Gets what the command prints, in whole lines. */
  readonly onOutput: (lines: string) => void;
}

export const execAction = (options: ExecOptions): Action => ({
  kind: 'exec',
  target: options.command,
  jobs: options.jobs,
  recordsTries: true,
  retriedByNext: false,
  retries: () => targetRetries,
  run: (event, { attempt, signal }) => runCommand(event, attempt, options, signal),
});

export async function runCommand(
  event: ReceivedEvent,
  attempt: number,
  { command, env, key, timeoutMs, onOutput }: ExecOptions,
  signal: AbortSignal,
): Promise<Outcome> {
  if (signal.aborted) return { end: 'retry', text: 'interrupted' };
  try {
    const inherited = { ...childEnv(env), ...(key && { STENO_API_KEY: key }) };
    const variables = { ...inherited, ...eventVariables(event, attempt) };
    const input = `${formatJson(event.json, 0)}\n`;
    const { end, timedOut } = await runGroup(command, variables, input, { timeoutMs, onOutput }, signal);
    if (timedOut) return { end: 'failed', text: `stopped after ${formatDuration(timeoutMs)}` };
    if (signal.aborted) return { end: 'retry', text: 'interrupted' };
    const text = end.code === null ? `${end.killedBy}` : `exit ${end.code}`;
    return { end: end.code === 0 ? 'done' : 'failed', text };
  } catch (error) {
    return {
      end: mayStartLater(error) ? 'down' : 'failed',
      text: `can't start: ${errorMessage(error)}`,
    };
  }
}

/** Waits for the command to end; ends it, with all that it started, when its time is over or the signal fires. */
function runGroup(
  command: string,
  env: Env,
  input: string,
  { timeoutMs, onOutput }: Pick<ExecOptions, 'timeoutMs' | 'onOutput'>,
  signal: AbortSignal,
): Promise<{ end: GroupEnd; timedOut: boolean }> {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const group = new ProcessGroup({ command, env, hasInput: true });
    const passLastLines = group.outputs.map((output) => passLines(output, onOutput));
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
        for (const pass of passLastLines) pass();
        cancelTimeout();
        signal.removeEventListener('abort', endNow);
      })
      .then((end) => resolve({ end, timedOut }), reject);
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
  add('KEY', event.key);
  add('TAGS', event.audio.tags?.join(',') ?? '');
  add('FEED', event.audio.feed ?? '');
  add('TRY', String(attempt));
  // Also where there is none: an event is unsigned, and must not name a file of this machine.
  add('PATH', event.path);
  add('SOURCE_PATH', event.audio.source ?? '');
  add('FORMAT', event.format);
  for (const [name, values] of event.fields) add(name, values.join(','));
  return variables;
}
