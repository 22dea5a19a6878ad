import { formats } from '../catalog/formats.ts';
import { orderSkus, transcriptionSkus } from '../catalog/skus.ts';
import { command } from '../cli/command-spec.ts';
import { count, duration, flag, list, repeated, text } from '../cli/options.ts';

export const order = command({
  name: 'order',
  summary: 'Order transcription of audio at one or more URLs',
  about:
    'Orders transcription of audio at one or more URLs. All SKUs and notes apply to every URL. An order is sent ' +
    'once: if no clear answer comes, steno exits with 11 and does not try again; see it with steno attempts. An ' +
    'audio that is on order already is not ordered again (exit 9) unless --again, however its link is written: ' +
    'spelling, signatures and tracking parameters do not count. With --key the key alone tells audio apart: the ' +
    'same URL without it, or with another key, is another audio. An order on hold is placed but not started; steno ' +
    'exits with 0 unless --fail-on-hold or --wait.\n\n' +
    'A manifest holds one URL a line, or is CSV with a header, or JSON lines, with the fields url, sku, notes, ' +
    'names (with | between them) and key. Rows alike in SKUs, notes and names share an order. With a manifest or ' +
    '--skip-ordered, what another process is ordering is waited for, and what had no clear answer before is listed ' +
    'and holds up no other row.',
  args: [{ name: '[url…]', help: 'where the audio is, preferably an mp3' }],
  options: {
    sku: list('--sku <SKU…>', 'what to order: a transcription and add-ons', {
      values: orderSkus.map((each) => each.sku),
      onlyOneOf: transcriptionSkus,
    }),
    from: text('--from <file|->', 'take the URLs from a manifest, or from stdin with -', { values: 'file' }),
    perOrder: count('--per-order <n>', 'how many URLs go into one order (default: 50 with --from, else all)'),
    notes: text('--notes <text>', 'comments for the transcribers'),
    notesFile: text('--notes-file <file>', 'take the comments from a file, or from stdin with -', {
      values: 'file',
    }),
    name: repeated('--name <name>', "a speaker's name; repeat it for each"),
    key: text('--key <text>', 'what tells this audio from others, in place of its URL'),
    test: flag('--test', 'place a test order, which is not transcribed'),
    dryRun: flag('--dry-run', 'show what would be ordered and send nothing'),
    wait: flag('--wait', 'wait until the files are delivered'),
    interval: duration('--interval <duration>', 'with --wait, the time between two polls'),
    download: text('--download <dir>', 'wait, and download the transcripts to this folder', {
      values: 'folder',
    }),
    format: list('--format <ext…>', 'with --download, the document types', {
      default: 'txt',
      values: formats.map((each) => each.ext),
    }),
    failOnHold: flag('--fail-on-hold', 'exit with 5 if the order is put on hold'),
    skipOrdered: flag('--skip-ordered', 'leave out URLs that are on order already'),
    retryUnclear: flag('--retry-unclear', 'with --skip-ordered: order again what had no clear answer'),
    again: flag('--again', 'order again what is on order already'),
    anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
    param: repeated('--param <key=value>', 'send one more parameter as it is; repeat it for each'),
  },
  examples: [
    ['steno order https://example.com/talk.mp3 --sku TRANS14', 'one file, at the lowest price'],
    [
      'steno order https://example.com/a.mp3 https://example.com/b.mp3 --sku TRANS2,TSTMP1',
      'two, with timestamps',
    ],
    [
      'steno order https://example.com/talk.mp3 --sku EMSR02 --wait --download transcripts',
      'order, wait, fetch',
    ],
    ['steno order --from talks.csv --sku TRANS14 --skip-ordered --dry-run', 'many: see the orders first'],
    ['steno order https://example.com/latest.mp3 --key "show 41" --sku TRANS14', 'the link is not unique'],
    ['steno order --from talks.csv --skip-ordered --retry-unclear', 'once more what had no clear answer'],
    ['id=$(steno order https://example.com/talk.mp3 --sku TRANS6 --quiet --fail-on-hold)', 'in a script'],
  ],
  load: async () => (await import('./order.run.ts')).run,
});
