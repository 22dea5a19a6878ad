import type { Money } from '../lib/money.ts';
import type { Context } from '../spec/context.ts';

/** The protocol is large, and loaded by nothing else. */
export async function serveProtocol(context: Context, maxCost: Money | undefined): Promise<void> {
  const { serve } = await import('./server.ts');
  await serve(context, maxCost);
}
