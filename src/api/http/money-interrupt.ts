/** What an interruption does to a call for money: one that may have been read is not broken off by the first. */
import { moneyCallOf } from './money-path.ts';

export interface MoneyInterrupt {
  /** Ends the call. */
  readonly signal: AbortSignal;
  clear(): void;
}

interface MoneyInterruptOptions {
  /** The user's first interruption. */
  readonly soft: AbortSignal;
  /** The second one. */
  readonly hard: AbortSignal;
  /** Some of the request may have reached the service. */
  readonly sent: () => boolean;
  /** The first one came, but the answer is waited for. */
  readonly onFinishing: () => void;
}

/** What to say when the answer to a call for money is waited for in spite of an interruption. */
export function finishingText(path: string): string {
  return `finishing the ${moneyCallOf(path) ?? 'order'} that is being sent; Ctrl-C again ends at once`;
}

export function moneyInterrupt({ soft, hard, sent, onFinishing }: MoneyInterruptOptions): MoneyInterrupt {
  const controller = new AbortController();
  const onHard = (): void => controller.abort();
  const onSoft = (): void => (sent() ? onFinishing() : controller.abort());
  if (soft.aborted || hard.aborted) controller.abort();
  soft.addEventListener('abort', onSoft);
  // The process looks at this listener too: without one, a second interruption exits at once.
  hard.addEventListener('abort', onHard);
  return {
    signal: controller.signal,
    clear: () => {
      soft.removeEventListener('abort', onSoft);
      hard.removeEventListener('abort', onHard);
    },
  };
}
