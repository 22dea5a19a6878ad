import { usage } from '../lib/errors.ts';
import { parseDuration } from '../lib/time.ts';

/** A failure on purpose: at random with a chance, or a delay of every call. */
export type Fault =
  | { readonly kind: 'status'; readonly status: number; readonly chance: number }
  | { readonly kind: 'reset' | 'truncate'; readonly chance: number }
  | { readonly kind: 'slow'; readonly milliseconds: number };

const HINT = 'write it as 503=0.1, reset=0.05, truncate=0.02 or slow=2s';

export function parseFault(text: string): Fault {
  const [, word = '', value = ''] = /^([^=]+)=(.+)$/.exec(text.trim()) ?? [];
  if (word === 'slow') return { kind: 'slow', milliseconds: parseDuration(value) };
  const chance = /^\d*\.?\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!(chance >= 0 && chance <= 1)) throw usage(`'${text}' is not a fault`, HINT);
  if (word === 'reset' || word === 'truncate') return { kind: word, chance };
  if (/^[45]\d\d$/.test(word)) return { kind: 'status', status: Number(word), chance };
  throw usage(`'${text}' is not a fault`, HINT);
}

export interface FaultPlan {
  readonly delayMs: number;
  /** Answer with this status, without carrying out the call. */
  readonly status: number | undefined;
  /** Carry out the call, but reset the connection or cut the answer. */
  readonly breakage: 'reset' | 'truncate' | undefined;
}

export function planFaults(faults: readonly Fault[]): FaultPlan {
  let plan: FaultPlan = { delayMs: 0, status: undefined, breakage: undefined };
  for (const fault of faults) {
    if (fault.kind === 'slow') plan = { ...plan, delayMs: plan.delayMs + fault.milliseconds };
    else if (Math.random() >= fault.chance) continue;
    else if (fault.kind === 'status') plan = { ...plan, status: plan.status ?? fault.status };
    else plan = { ...plan, breakage: plan.breakage ?? fault.kind };
  }
  return plan;
}
