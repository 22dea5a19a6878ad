import { command } from '../options.ts';

/** What the completion scripts call for words that only the ledger knows. It never fails loudly. */
export const complete = command({
  name: '__complete',
  summary: 'Print ids for a shell to offer',
  hidden: true,
  args: [
    { name: '<kind>', help: 'audiofile, order or invoice', values: ['audiofile', 'order', 'invoice'] },
    { name: '[prefix]', help: 'what is typed so far' },
  ],
  examples: [['steno __complete audiofile 12', 'ids that begin with 12']],
  async run(context, { args: [kind = '', prefix = ''] }) {
    try {
      const ledger = context.hasLedger ? await context.ledger() : undefined;
      const words = ledger?.words.find(kind, prefix) ?? [];
      context.out.write(words.map(({ id, about }) => `${id}\t${about.replace(/\s+/g, ' ')}\n`).join(''));
    } catch (error) {
      context.out.debug((error as Error).message);
    }
  },
});
