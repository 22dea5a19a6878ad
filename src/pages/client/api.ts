/** The calls to the server that sent this page, and its live changes. */
import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';

export type Topic = 'files' | 'events' | 'spend';

/** The stream of changes: it runs, it broke off and is tried again, or this browser has no access. */
export const link = signal<'connecting' | 'live' | 'lost' | 'denied'>('connecting');
/** Why the ledger can't be read at the moment. */
export const trouble = signal('');

async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(path, { ...init, cache: 'no-store' }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error;
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

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return exactJson(await (await send(path, { signal: signal ?? null })).text()) as T;
}

export const getText = async (path: string): Promise<string> => (await send(path)).text();

const sendJson = (path: string, body: object): Promise<Response> =>
  send(path, {
    ...{ method: 'POST', headers: { 'Content-Type': 'application/json' } },
    body: JSON.stringify(body),
  });

export const post = async <T>(path: string, body: object): Promise<T> =>
  exactJson(await (await sendJson(path, body)).text()) as T;

export const getBlob = async (path: string, body: object): Promise<Blob> =>
  (await sendJson(path, body)).blob();

/** A number that JavaScript would round stays as it was written, as a text. */
function exactJson(text: string): unknown {
  if (!/[\d.]{16}/.test(text)) return JSON.parse(text);
  const keep = (_: string, value: unknown, context?: { source?: string }): unknown =>
    typeof value === 'number' && (context?.source?.length ?? 0) > 15 ? context?.source : value;
  return JSON.parse(text, keep as (key: string, value: unknown) => unknown);
}

type Listener = (topics: readonly Topic[]) => void;
const listeners = new Set<Listener>();

/** Calls back when one of the topics has changed; returns what ends it. */
export function onChange(topics: readonly Topic[], work: () => void): () => void {
  const listener: Listener = (changed) => {
    if (topics.some((each) => changed.includes(each))) work();
  };
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Reading anew takes the time of the call, and this much at least: changes may come by the second. */
const RELOAD_PAUSE_MS = 800;

/** Does the work, never twice at a time; once more afterwards if it was asked for meanwhile. */
export function oneAtATime(work: () => Promise<void>): () => void {
  let isBusy = false;
  let isAsked = false;
  const run = async (): Promise<void> => {
    isAsked = isBusy;
    if (isBusy) return;
    isBusy = true;
    await work().catch(() => {});
    isBusy = false;
    if (isAsked) setTimeout(run, RELOAD_PAUSE_MS);
  };
  return () => void run();
}

export interface Loaded<T> {
  readonly data?: T;
  readonly error?: Error;
}

/** What the server says at a path, read again when a topic changes; an error keeps what was shown. */
export function useLoad<T>(path: string, topics: readonly Topic[] = []): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { path: string }>({ path });
  useEffect(() => {
    if (!path) return;
    const abort = new AbortController();
    const load = oneAtATime(async () => {
      try {
        setState({ path, data: await get<T>(path, abort.signal) });
      } catch (error) {
        if (!abort.signal.aborted)
          setState((old) => ({ ...(old.path === path ? old : { path }), error: error as Error }));
      }
    });
    load();
    const stop = onChange(topics, load);
    return () => {
      stop();
      abort.abort();
    };
  }, [path]);
  return state.path === path ? state : {};
}

interface Change {
  readonly type: 'hello' | 'changed' | 'trouble' | 'well' | 'beat' | 'lost' | 'ask';
  readonly topics?: readonly Topic[];
  readonly message?: string;
}

/** The server sends something every 15 s. */
const MAX_SILENCE_MS = 40_000;
const MAX_PAUSE_MS = 4_000;
const PAUSE_MS = 250;
/** A browser has six connections to a host: one tab reads the changes, and tells the others. */
const tabs = new BroadcastChannel('steno-changes');
let isReading = false;

/** This tab reads as soon as no other does. A tab without access leaves it to the next. */
export function followChanges(): void {
  tabs.onmessage = ({ data }: MessageEvent<Change>) => hear(data);
  tabs.postMessage({ type: 'ask' });
  void navigator.locks.request('steno-changes', async () => {
    isReading = true;
    for (let pause = PAUSE_MS; link.value !== 'denied'; pause = Math.min(2 * pause, MAX_PAUSE_MS)) {
      await readChanges(() => {
        pause = PAUSE_MS;
      }).catch(() => {});
      tell({ type: 'lost' });
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
    isReading = false;
  });
}

async function readChanges(onHello: () => void): Promise<void> {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const watch = (): void => {
    clearTimeout(timer);
    timer = setTimeout(() => abort.abort(), MAX_SILENCE_MS);
  };
  watch();
  try {
    const response = await send('/api/live', { signal: abort.signal });
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ''; reader; ) {
      const { value, done } = await reader.read();
      if (done) return;
      watch();
      onHello();
      const lines = (rest + value).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter(Boolean)) tell(JSON.parse(line));
    }
  } finally {
    clearTimeout(timer);
    abort.abort();
  }
}

function tell(change: Change): void {
  tabs.postMessage(change);
  take(change);
}

/** What another tab says. */
function hear(change: Change): void {
  if (change.type !== 'ask') take(change);
  else if (isReading && link.value === 'lost') tabs.postMessage({ type: 'lost' });
  else if (isReading && trouble.value) tabs.postMessage({ type: 'trouble', message: trouble.value });
  else if (isReading && link.value === 'live') tabs.postMessage({ type: 'beat' });
}

function take({ type, topics = ['files', 'events', 'spend'], message = '' }: Change): void {
  const before = link.value;
  if (before === 'denied') return;
  link.value = type === 'lost' ? 'lost' : 'live';
  if (type === 'trouble') trouble.value = message || 'the ledger cannot be read';
  else if (type !== 'beat' && type !== 'lost') trouble.value = '';
  // What happened meanwhile is not known: it is read again. Another tab may read now.
  const isBack = type !== 'lost' && (before !== 'live' || type === 'hello');
  // At the start that is a moment: spending, which takes long to read, is left out.
  const known: readonly Topic[] = before === 'connecting' ? ['files', 'events'] : topics;
  if (type === 'changed' || type === 'well' || isBack) for (const each of listeners) each(known);
}
