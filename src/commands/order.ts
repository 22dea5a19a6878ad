import { formats, meaningOfFormat } from '../catalog/formats.ts';
import { meaningOfOrderSku, orderSkus, transcriptionSkus } from '../catalog/skus.ts';
import { LISTED_URLS_PER_ORDER } from '../lib/defaults.ts';
import { pollNote } from '../lib/duration.ts';
import { command } from '../spec/command.ts';
import { count, duration, flag, list, nameTemplate, repeated, text } from '../spec/options.ts';

export const order = command({
  name: 'order',
  summary: 'Order transcription of audio at one or more URLs',
  about:
    'Orders transcription of audio at URLs, of a list, a podcast feed or files of this machine. It costs money, and is ' +
    'sent once. What is on order already is not ordered again (exit 9) unless --again.',
  details: [
    'All SKUs and notes apply to every URL. If no clear answer comes, steno exits with 11 and does not try again; see ' +
      'it with steno attempts. An order on hold is placed but not started: exit 0 unless --fail-on-hold or --wait.',
    'The same audio is known however its link is written: spelling, signatures and tracking ' +
      'parameters do not count. With --key the key alone tells audio apart: the same URL without it, or with another ' +
      'key, is another audio.',
    'A manifest (--from) holds one URL a line, or is CSV with a header, or JSON lines, with the fields url or ' +
      'path (a file of this machine), sku, notes, names and tags (with | between them), key and minutes; others are ' +
      'refused unless --ignore-columns. Rows alike in SKUs, notes and names share an order. With a manifest or ' +
      '--skip-ordered, what another process is ordering is waited for, and what had no clear answer before is listed ' +
      'and holds up no other row. A refused order of a list, a feed or a folder is sent again in halves: the refused ' +
      'rows are listed, the others are ordered (exit 10).',
    'With --feed the audio is that of a podcast: --latest, --since and --match choose episodes; without one of them all ' +
      'are shown and none is ordered (exit 2). Older pages of the feed are fetched only as needed, at most 200; ' +
      'if one of them fails, nothing is ordered. An episode is known by its guid too, so that a new token or host in its ' +
      'link does not order it again. What the feed has a transcript of is left out unless --again. In the notes, ' +
      '{title}, {link}, {date} and {guid} are those of the episode.',
    'A file or folder of this machine needs the setting upload-command: a command that gets the path as $1 (as its last ' +
      'argument, unless it names $1 or STENO_FILE) and prints one https URL. A file is known by its content, whatever it is called; one that is still being written is left ' +
      "out, and one that can't be uploaded holds up no other. In a folder, files with an audio extension are ordered; " +
      'hidden files and linked folders only with --hidden. Everything that is left out is counted and named.',
    'With --or-existing, what is on order already counts as ordered: it is printed, waited for and downloaded like the ' +
      'rest; if the existing order lacks a SKU that you ask for, exit 9. Audio on the ignore list (steno ignore) is left ' +
      'out of lists, feeds and folders. Whatever is left out is named on stderr, or has left_out in the JSON.',
    '--dry-run shows the cost as far as it is known, and exits with 0 even if that is too much. Prices come from your ' +
      'invoices or the setting price.<SKU>; lengths from the feed, the file or the column minutes, which comes first. ' +
      '--max-cost and budgets (steno budget, setting budget) order nothing if the cost is too high or unknown (exit 2). ' +
      '--unpriced allows unknown costs while something is left of the budget. --up-to-budget orders the rows that fit, ' +
      'from the top, and leaves out the rest: what is after a row that does not fit or has no known cost.',
  ],
  args: [{ name: '[url…]', help: 'where the audio is; or a file or folder of this machine', values: 'file' }],
  options: {
    sku: list('--sku <SKU…>', 'a transcription and add-ons', {
      values: orderSkus.map((each) => each.sku),
      meaning: meaningOfOrderSku,
      onlyOneOf: transcriptionSkus,
    }),
    from: text('--from <file|->', 'take the URLs from a manifest, or from stdin with -', {
      values: 'file',
      excludes: ['--feed'],
    }),
    feed: text('--feed <url|file>', 'order episodes of a podcast feed (RSS or Atom)', { values: 'file' }),
    dryRun: flag('--dry-run', 'show the orders and what they would cost; send nothing'),
    wait: flag('--wait', 'wait until the files are delivered'),
    download: text('--download <dir>', 'wait, and download the transcripts to this folder', {
      values: 'folder',
    }),
    skipOrdered: flag('--skip-ordered', 'leave out URLs that are on order already', {
      excludes: ['--again', '--no-ledger'],
    }),
    orExisting: flag('--or-existing', 'count what is on order already as ordered', {
      excludes: ['--again', '--no-ledger'],
    }),
    latest: count('--latest <n>', 'with --feed, the newest n episodes', { needs: ['--feed'] }),
    since: text('--since <time>', 'with --feed, episodes from then on: 2026-05-01, or 7d ago', {
      needs: ['--feed'],
    }),
    match: text('--match <text|/regex/>', 'with --feed, episodes whose title has it', { needs: ['--feed'] }),
    hidden: flag('--hidden', 'in folders, include hidden files (.name) and follow links to folders'),
    perOrder: count('--per-order <n>', 'how many URLs go into one order', {
      defaultNote: `${LISTED_URLS_PER_ORDER} of a list, else all`,
    }),
    notes: text('--notes <text>', 'comments for the transcribers', { excludes: ['--notes-file'] }),
    notesFile: text('--notes-file <file>', 'take the comments from a file, or from stdin with -', {
      values: 'file',
    }),
    name: repeated('--name <name>', "a speaker's name; repeat it for each"),
    key: text('--key <text>', 'what tells this audio from others, in place of its URL'),
    tag: repeated('--tag <text>', 'a tag for the audio; repeat it for each'),
    ignoreColumns: flag('--ignore-columns', 'with --from, ignore unknown columns', {
      needs: ['--from'],
    }),
    test: flag('--test', 'place a test order, which is not transcribed', {
      excludes: ['--wait', '--download'],
    }),
    maxCost: text('--max-cost <amount>', 'order nothing if it would cost more, or if that is not known'),
    unpriced: flag('--unpriced', 'under a budget, allow orders of unknown cost'),
    upToBudget: flag('--up-to-budget', 'order rows from the top while they fit the budget'),
    interval: duration('--interval <duration>', 'with --wait or --download, the time between two polls', {
      defaultNote: pollNote,
      needs: ['--wait', '--download'],
    }),
    format: list('--format <ext…>', 'with --download, the document types', {
      needs: ['--download'],
      default: 'txt',
      values: formats.map((each) => each.ext),
      meaning: meaningOfFormat,
    }),
    nameAs: nameTemplate('with --download, the name of each file', { needs: ['--download'] }),
    failOnHold: flag('--fail-on-hold', 'exit with 5 if the order is put on hold'),
    retryUnclear: flag('--retry-unclear', 'with --skip-ordered: order again what had no clear answer', {
      needs: ['--skip-ordered'],
    }),
    retryEnded: flag('--retry-ended', 'with --skip-ordered: order again what ended without a transcript', {
      needs: ['--skip-ordered'],
    }),
    again: flag('--again', 'order again what is on order already'),
    anySku: flag('--any-sku', 'accept SKUs that the API document does not list'),
    param: repeated('--param <key=value>', 'send one more parameter as it is; repeat it for each'),
  },
  examples: [
    ['steno order https://example.com/a.mp3 --sku TRANS14', 'one file'],
    ['steno order https://example.com/b.mp3 --sku TRANS14 --download .', 'and fetch it'],
    ['steno order https://example.com/{c,d}.mp3 --sku TRANS2,TSTMP1', 'two, with timestamps'],
    ['steno order --from talks.csv --skip-ordered --dry-run', 'many: see the orders first'],
    ['steno order --from talks.csv --skip-ordered --retry-unclear', 'also what had no clear answer'],
    ['steno order --from talks.csv --skip-ordered --retry-ended', 'also what ended without a transcript'],
    ['steno order https://example.com/new.mp3 --key "show 41" --sku TRANS14', 'the link is not unique'],
    ['steno order --feed https://example.com/feed.xml --latest 3 --sku TRANS14', 'new episodes'],
    ['steno order --feed feed.xml --since 7d --sku TRANS14 --max-cost 20', 'if they cost at most 20'],
    ['steno order recordings --sku TRANS14 --skip-ordered', 'all audio in a folder'],
    ['id=$(steno order https://example.com/talk.mp3 --sku TRANS6 --quiet)', 'in a script'],
  ],
  load: async () => (await import('./order.run.ts')).run,
});
