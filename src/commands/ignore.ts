import { toIgnore } from '../flows/orders/local-audio.ts';
import { IgnoredAudio } from '../ledger/ignored-audio.ts';
import { usage } from '../lib/errors.ts';
import { thisSender } from '../lib/sender.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import { flag } from '../spec/options.ts';
import { ignoredRecord } from '../views/orders.ts';

export const ignore = command({
  name: 'ignore',
  summary: 'Leave audio out of lists, feeds and folders',
  about:
    'Leaves this audio out of every later order --from, --feed and folder, until ignore --remove. A URL that you order by ' +
    'itself is not affected.',
  details: [
    'A URL is known however it is written; a guid matches in any feed; a file of this machine is known by its content. ' +
      'Audio that has a key is named by its key. The list is kept in the ledger, for everyone who uses it. Without ' +
      '--remove, all that is ignored is printed.',
  ],
  args: [{ name: '[url|key|guid…]', help: 'what to ignore; or a file of this machine', values: 'file' }],
  options: {
    list: flag('--list', 'show what is ignored', { excludes: ['--remove'] }),
    remove: flag('--remove', 'stop ignoring it'),
  },
  examples: [
    ['steno ignore https://example.com/broken.mp3', 'never order it from a list again'],
    ['steno ignore --list', 'what is ignored'],
    ['steno ignore --remove https://example.com/broken.mp3', 'the link works again'],
  ],
  effect: 'local',
  exits: LEDGER_EXITS,
  output: () => ignoredRecord.printedList,
  async run(context, { args, options }) {
    const { out, env, signal } = context;
    if (args.length === 0 && !options.list)
      throw usage('ignore requires a URL, a key or a guid', 'see what is ignored: steno ignore --list');
    if (args.length && options.list)
      throw usage('--list takes no argument', 'leave out the argument or --list');
    const audios = await toIgnore(args, signal);
    const ledger = await context.ledgers.required('what is ignored is kept in the ledger');
    if (options.remove)
      for (const { given } of await new IgnoredAudio(ledger).remove(audios, thisSender(env)))
        await out.warn(`not on the ignore list: ${given}`, 'see: steno ignore --list');
    else if (audios.length) await new IgnoredAudio(ledger).add(audios, thisSender(env));
    const ignored = await new IgnoredAudio(ledger).list();
    await out.show(ignoredRecord.view(ignored));
    if (out.forPeople && ignored.length === 0) out.note('nothing is ignored');
  },
});
