/** One run of `steno listen`: opens what it needs, and closes it at the end. */

import { setMaxListeners } from 'node:events';
import { errorMessage } from '../lib/errors.ts';
import { ListeningSession, type Shared } from './listening-session.ts';
import { SessionEnd } from './session-end.ts';
import type { ListenPlan, SessionCallbacks, SessionResources } from './session-options.ts';
import { SessionRun } from './session-run.ts';
import { Tally } from './tally.ts';
import { RepeatedWarnings } from './warnings.ts';

export async function listen(
  plan: ListenPlan,
  resources: SessionResources,
  callbacks: SessionCallbacks,
): Promise<void> {
  const tally = new Tally();
  const warnings = new RepeatedWarnings(callbacks.onWarning);
  const onError = (error: unknown): void => {
    if (end.signal.aborted) warnings.warn(errorMessage(error));
    else end.fail(error);
  };
  const end = new SessionEnd(plan.endConditions, resources.interrupt, onError);
  try {
    const counting = tally.counting(callbacks);
    await openAndRun({ plan, resources, callbacks: counting, end, tally, warnings, onError });
  } catch (error) {
    end.fail(error);
  }
  if (tally.isReady) await callbacks.onTotal(tally);
  end.throwFailure();
}

async function openAndRun(shared: Shared): Promise<void> {
  const { plan, resources, end } = shared;
  const { connect } = resources;
  const service = await connect?.(end.signal);
  try {
    // A lock fails at once on this connection: the receiver must not block.
    const ledger = await resources.ledger.openSecondConnection();
    try {
      const abort = new AbortController();
      // Every action under way listens to it.
      setMaxListeners(0, abort.signal);
      const actions = await plan.openActions({ ledger, connect: connect && (() => connect(abort.signal)) });
      const run = new SessionRun(plan.only);
      // One that is reached over a network is not waited for.
      if (ledger.isInPlace) await run.begin(resources.ledger);
      await new ListeningSession(shared, { service, ledger, run, actions, abort }).run();
    } finally {
      await ledger.close();
    }
  } finally {
    await service?.close();
  }
}
