/** Asks an address for anything, without the key: whether it is there, how fast it is, and what its clock says. */
import { monotonicMs } from '../../lib/clock.ts';
import type { Env } from '../../lib/env.ts';
import { startDeadline } from './deadline.ts';
import { exchange } from './exchange.ts';
import { connectionError } from './failures.ts';
import { openPool } from './pool.ts';
import { proxyFor } from './proxy.ts';

export interface Probe {
  /** What a hint names. */
  readonly baseUrl: string;
  readonly path: string;
  readonly env: Env;
  readonly userAgent: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

export interface ProbeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** From the first packet to the headers of the answer. */
  readonly roundTripMs: number;
}

/** Throws where no answer comes. */
export async function probe(what: Probe): Promise<ProbeAnswer> {
  const { baseUrl, path, env, userAgent, limitMs, signal } = what;
  const url = new URL(`${baseUrl.replace(/\/+$/, '')}${path}`);
  const pool = await openPool(url, proxyFor(url, env));
  const deadline = startDeadline(limitMs, signal);
  const startedAt = monotonicMs();
  try {
    const { status, headers, body } = await exchange(
      pool.sender,
      {
        origin: url.origin,
        path: url.pathname,
        method: 'GET',
        headers: { 'user-agent': userAgent, accept: 'application/json' },
      },
      deadline.signal,
    );
    const roundTripMs = monotonicMs() - startedAt;
    body.discard();
    return { status, headers, roundTripMs };
  } catch (error) {
    const call = { method: 'GET', path: url.pathname, safety: 'read' } as const;
    const { expired: timedOut } = deadline;
    throw connectionError(call, error, {
      sent: true,
      interrupted: signal.aborted,
      timedOut,
      origin: { baseUrl, peer: pool.peer },
    });
  } finally {
    deadline.clear();
    await pool.close();
  }
}
