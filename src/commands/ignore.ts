import { toIgnore } from '../flows/orders/local-audio.ts';
import { IgnoredAudio } from '../ledger/ignored-audio.ts';
import { usage } from '../lib/errors.ts';
import { thisSender } from '../lib/sender.ts';
import { command, LEDGER_EXITS } from '../spec/command.ts';
import { flag } from '../spec/options.ts';
import { ignoredRecord } from '../views/orders.ts';

export const ignore = command({
  name: 'ignore',
  summary: 'Exclude audio from manifests, feeds and folders',
  about:
    'Excludes audio from every later order of a manifest, feed or folder, until you run ignore --remove. A URL ' +
    'that you order by itself is not affected.',
  details: [
    'A URL is recognized however it is written, a guid in any feed, a local file by its content. For audio with a ' +
      'key, give the key. The list is part of the ledger and applies to everyone who uses it. Each call prints the ' +
      'resulting list.',
  ],
  args: [{ name: '[url|key|guid…]', help: 'audio to ignore: URL, key, guid or local file', values: 'file' }],
  options: {
    list: flag('--list', 'show the list', { excludes: ['--remove'] }),
    remove: flag('--remove', 'remove the audio from the list'),
  },
  examples: [
    ['steno ignore https://example.com/broken.mp3', 'skip a broken link from now on'],
    ['steno ignore --list', 'show the list'],
    ['steno ignore --remove https://example.com/broken.mp3', 'the link works again'],
  ],
  effect: 'local',
  effectsOf: ({ options }) => [options.list ? 'read' : 'local'],
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
