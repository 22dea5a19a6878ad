import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { toIgnore } from '../flows/orders/local-audio.ts';
import { IgnoredAudio } from '../ledger/ignored-audio.ts';
import { usage } from '../lib/errors.ts';
import { thisSender } from '../lib/sender.ts';
import { ignoredView } from '../views/orders.ts';

interface IgnoreOptions {
  readonly list: boolean;
  readonly remove: boolean;
}

export async function run(context: Context, { args, options }: Input<IgnoreOptions>): Promise<void> {
  const { out, env, signal } = context;
  if (args.length === 0 && !options.list)
    throw usage('ignore requires a URL, a key or a guid', 'what is ignored: steno ignore --list');
  if (args.length && options.list)
    throw usage('--list takes no argument', 'leave out the argument, or --list');
  const audios = await toIgnore(args, signal);
  const ledger = await context.requireLedger('what is ignored is kept in the ledger');
  if (options.remove)
    for (const { given } of await new IgnoredAudio(ledger).remove(audios, thisSender(env)))
      await out.warn(`not on the ignore list: ${given}`, 'see: steno ignore --list');
  else if (audios.length) await new IgnoredAudio(ledger).add(audios, thisSender(env));
  const ignored = await new IgnoredAudio(ledger).list();
  await out.show(ignoredView(ignored));
  if (out.forPeople && ignored.length === 0) out.note('nothing is ignored');
}
