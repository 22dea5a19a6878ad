/** Sends deliveries on as they came, body and content type to the byte; for one that never came, a form made by us. */

import { openPostTarget, type PostResult } from '../api/http/keyless.ts';
import type { Env } from '../lib/env.ts';
import { maskUserinfo } from '../lib/url.ts';
import { type Action, type Outcome, targetRetries } from './action.ts';
import { addSelf, LISTENER_HEADER } from './server.ts';

const JOBS = 8;
/** One event may be too much for a target; this many in a row are not the fault of the events. */
const DOWN_AFTER_REFUSALS = 8;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** Statuses after which the same request never works; 409 is a listener that the delivery has passed before. */
const finalStatuses = new Set([400, 409, 410, 413, 414, 415, 422, 431]);

export async function forwardAction(url: string, env: Env): Promise<Action> {
  const target = await openPostTarget(url, env);
  return {
    kind: 'forward',
    target: maskUserinfo(url),
    jobs: JOBS,
    retriedByNext: false,
    retries: () => targetRetries,
    downAfterRefusals: DOWN_AFTER_REFUSALS,
    async run({ n, source, contentType, rawBody: body }, { via, signal }) {
      const own = { 'steno-event': String(n), [LISTENER_HEADER]: addSelf(via) };
      const sent =
        source === 'found'
          ? { contentType: FORM_TYPE, headers: { ...own, 'steno-found': 'true' } }
          : { contentType, headers: own };
      return outcomeOf(await target.post({ ...sent, body }, signal));
    },
    close: () => target.close(),
  };
}

export function outcomeOf(result: PostResult): Outcome {
  if ('error' in result) return { end: result.reached ? 'retry' : 'down', text: result.error };
  const { status, location } = result;
  const text = `HTTP ${status}${location ? ` to ${location}` : ''}`;
  if (status >= 200 && status < 300) return { end: 'done', text };
  return { end: finalStatuses.has(status) ? 'failed' : 'retry', text };
}
