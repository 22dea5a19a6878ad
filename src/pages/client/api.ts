/** The calls to the server that sent this page, and what has changed there. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

const topics = ['files', 'events', 'spend'] as const;
export type Topic = (typeof topics)[number];

/** The server answers, or it does not and is asked again, or this browser has no access. */
export const link = signal<'connecting' | 'live' | 'lost' | 'denied'>('connecting');
/** Why the ledger can't be read at the moment. */
export const trouble = signal('');

/** With a body it is a POST. */
async function call(path: string, body?: object, signal: AbortSignal | null = null): Promise<Response> {
  const headers = { 'Content-Type': 'application/json' };
  const post = body && { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(path, { ...post, signal, cache: 'no-store' }).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    link.value = 'lost';
    throw new Error('steno ui is not responding; if it has ended, run it again');
  });
  if (response.ok) return response;
  const { error = {} } = (await response.json().catch(() => ({}))) as {
    error?: { code?: string; message?: string; hint?: string };
  };
  const { code, message = `steno ui answered ${response.status}`, hint } = error;
  if (response.status === 403 && code === 'auth') link.value = 'denied';
  throw new Error(hint ? `${message} (${hint})` : message);
}

export async function get<T>(path: string, body?: object, signal?: AbortSignal): Promise<T> {
  return exactJson(await (await call(path, body, signal)).text()) as T;
}

export const getBlob = async (path: string, body?: object): Promise<Blob> => (await call(path, body)).blob();

/** Lets the browser save a file. */
export function saveAs(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A number that JavaScript would round stays as it was written, as a text. */
function exactJson(text: string): unknown {
  if (!/[\d.]{16}/.test(text)) return JSON.parse(text);
  const keep = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && (context?.source?.length ?? 0) > 15 ? context?.source : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

export interface Loaded<T> {
  readonly data?: T;
  readonly error?: Error;
}

/** Recent answers by path, shown at once when the user comes back to a page. */
const kept = new Map<string, unknown>();
const MAX_KEPT = 10;

async function load<T>(path: string, signal: AbortSignal): Promise<T> {
  const data = await get<T>(path, undefined, signal);
  kept.delete(path);
  kept.set(path, data);
  const [oldest = ''] = kept.keys();
  if (kept.size > MAX_KEPT) kept.delete(oldest);
  return data;
}

/** Changes may come by the second: reading anew takes the time of the call, and this much at least. */
const RELOAD_PAUSE_MS = 800;
const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** What is told of changes. */
const listeners = new Set<(changed: readonly Topic[]) => void>();

/** What the server says at a path, read again when a topic changes; an error keeps what was shown. */
export function useLoad<T>(path: string, own: readonly Topic[] = []): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { path?: string }>({});
  useEffect(() => {
    if (!path) return;
    const abort = new AbortController();
    const { signal } = abort;
    let [isBusy, isStale] = [false, true];
    const read = async (): Promise<void> => {
      isBusy = true;
      for (; isStale && !signal.aborted; await pause(RELOAD_PAUSE_MS)) {
        isStale = false;
        const read = load<T>(path, signal);
        const answer = await read.then(
          (data) => ({ data }),
          (error: Error) => ({ data: kept.get(path) as T, error }),
        );
        if (!signal.aborted) setState({ path, ...answer });
      }
      isBusy = false;
    };
    const onChange = (changed: readonly Topic[]): void => {
      isStale ||= own.some((each) => changed.includes(each));
      if (isStale && !isBusy) void read();
    };
    onChange([]);
    listeners.add(onChange);
    return () => {
      listeners.delete(onChange);
      abort.abort();
    };
  }, [path]);
  if (state.path === path) return state;
  const data = kept.get(path) as T | undefined;
  return data === undefined ? {} : { data };
}

const POLL_MS = 700;
const LIMIT_MS = 10_000;
/** Each differs after a change. */
let seen: Readonly<Partial<Record<Topic, string>>> | undefined;

/** Polls for changes every second. */
export async function followChanges(): Promise<void> {
  for (; link.value !== 'denied'; await pause(POLL_MS))
    await askForChanges().catch(() => {
      if (link.value !== 'denied') link.value = 'lost';
    });
}

async function askForChanges(): Promise<void> {
  type Marks = Readonly<Partial<Record<Topic | 'trouble', string>>>;
  const marks = await get<Marks>('/api/live', undefined, AbortSignal.timeout(LIMIT_MS));
  const isBack = link.value === 'lost' || trouble.value !== '';
  link.value = 'live';
  trouble.value = marks.trouble ?? '';
  if (marks.trouble !== undefined) return;
  // What happened meanwhile is not known. At the start that is a moment: spending, which takes long, is left out.
  const changed = topics.filter((each) => isBack || (seen ? seen[each] !== marks[each] : each !== 'spend'));
  seen = marks;
  if (changed.length) for (const each of listeners) each(changed);
}
