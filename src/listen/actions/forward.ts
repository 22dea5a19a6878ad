/** Passes deliveries on as they came, body and content type to the byte. */

import { type PostResult, PostTarget } from '../../api/http/post.ts';
import type { Env } from '../../lib/env.ts';
import { hopMarker } from '../hop-marker.ts';
import type { Action, Outcome } from './action.ts';

const JOBS = 8;
/** Answers after which asking again may help. */
const passing = new Set([408, 425, 429]);

export async function forwardTo(url: string, env: Env): Promise<Action> {
  const target = await PostTarget.open(url, env);
  return {
    kind: 'forward',
    target: withoutPassword(url),
    jobs: JOBS,
    triesAgain: true,
    // What was found by looking has no body to pass on.
    sources: ['received'],
    run: async ({ n, contentType, body }, _, signal) =>
      judge(
        await target.post(
          { contentType, body, headers: { 'steno-event': String(n), 'steno-listener': hopMarker } },
          signal,
        ),
      ),
    close: () => target.close(),
  };
}

export function judge(result: PostResult): Outcome {
  if ('error' in result) return { end: result.reached ? 'again' : 'down', text: result.error };
  const { status, location } = result;
  const text = `HTTP ${status}${location ? ` to ${location}` : ''}`;
  if (status >= 200 && status < 300) return { end: 'done', text };
  return { end: status >= 500 || passing.has(status) ? 'again' : 'failed', text };
}

/** The ledger and the screen need not know it. */
export function withoutPassword(text: string): string {
  const url = new URL(text);
  if (!url.password) return text;
  url.password = '***';
  return url.href;
}
