/** Sends deliveries on as they came, body and content type to the byte. */

import { type PostResult, PostTarget } from '../../api/http/post.ts';
import type { Env } from '../../lib/env.ts';
import { maskUserinfo } from '../../lib/userinfo.ts';
import { HOP_MARKER_HEADER, hopMarker } from '../hop-marker.ts';
import type { Action, Outcome } from './action.ts';

const JOBS = 8;
/** Statuses after which the same request may work later. */
const transientStatuses = new Set([408, 425, 429]);

export async function forwardAction(url: string, env: Env): Promise<Action> {
  const target = await PostTarget.open(url, env);
  return {
    kind: 'forward',
    target: maskUserinfo(url),
    jobs: JOBS,
    retriedByNext: true,
    // An event that was found by looking has no body to send.
    sources: ['received'],
    async run({ n, contentType, rawBody: body }, _attempt, signal) {
      const headers = { 'steno-event': String(n), [HOP_MARKER_HEADER]: hopMarker };
      return outcomeOf(await target.post({ contentType, body, headers }, signal));
    },
    close: () => target.close(),
  };
}

export function outcomeOf(result: PostResult): Outcome {
  if ('error' in result) return { end: result.reached ? 'retry' : 'down', text: result.error };
  const { status, location } = result;
  const text = `HTTP ${status}${location ? ` to ${location}` : ''}`;
  if (status >= 200 && status < 300) return { end: 'done', text };
  return { end: status >= 500 || transientStatuses.has(status) ? 'retry' : 'failed', text };
}
