import { eventTypes, meaningOfEvent } from '../catalog/events.ts';
import { FOLLOW_ROWS, LIST_ROWS } from '../lib/defaults.ts';
import { command } from '../spec/command.ts';
import { count, execOptions, flag, list, text } from '../spec/options.ts';

const work = () => import('./events.run.ts');

const show = command({
  name: 'show',
  summary: 'Show one event whole, and what was done about it',
  about:
    'Shows every field of an event, its body as received, and each action with its outcome. With --quiet it prints ' +
    'the body alone; with --json also its bytes as base64.',
  args: [{ name: '<n>', help: 'number of the event', values: 'event' }],
  examples: [
    ['steno events show 12', 'all that is known of it'],
    ['steno events show 12 --json | jq .actions', 'what was done about it'],
  ],
  load: async () => (await work()).show,
});

const replay = command({
  name: 'replay',
  summary: 'Send events once more, as they were received',
  about:
    'Sends the delivery of each event to a URL once more, as it is kept, or runs a command for it as listen --exec ' +
    'does. One after the other, each once.',
  details: [
    'Body and content type are the same to the byte, but links come without their signature (S3, Google, Azure, ' +
      'CloudFront), which is never kept. If the target is out of reach it ' +
      'exits with 7, if it refuses with 1, if only some worked with 10.',
  ],
  args: [{ name: '<n…>', help: 'numbers of the events', values: 'event' }],
  options: {
    to: text('--to <url>', 'send them here', { excludes: ['--exec'] }),
    exec: text('--exec <command>', 'run this for each: JSON on stdin, STENO_EVENT_* variables'),
    ...execOptions(),
  },
  examples: [
    ['steno events replay 12 --to http://127.0.0.1:3000/hook', 'once more to a program of yours'],
    ['steno events replay 12 13 --exec "jq .fields"', 'once more through a command'],
    ['steno events --quiet --since 1d | xargs steno events replay --exec cat', 'a whole day'],
  ],
  load: async () => (await work()).replay,
});

export const events = command({
  name: 'events',
  summary: 'List what listen has received',
  about:
    'Lists the events that listen has received, newest first, with their numbers. With --follow it goes on: the latest ' +
    'ones, then each as it arrives, whichever process receives it.',
  details: [
    '--quiet prints the numbers. An event that is kept but not in the ledger yet has no number (null in JSON).',
  ],
  options: {
    limit: count('--limit <n>', 'show at most this many', {
      defaultNote: `all; ${LIST_ROWS} on a terminal without a pager, ${FOLLOW_ROWS} with --follow`,
    }),
    event: list('--event <EVENT…>', 'only these events', {
      values: eventTypes.map(({ name }) => name),
      meaning: meaningOfEvent,
    }),
    file: text('--file <id>', 'only events about this file', { values: 'audiofile' }),
    order: text('--order <id>', 'only events about this order', { values: 'order' }),
    since: text('--since <time>', 'only events since then: 2026-11-01, or 3d ago'),
    found: flag('--found', 'instead, events that never came, found by asking the service'),
    follow: flag('--follow', 'go on and print events as they arrive, until Ctrl-C'),
  },
  children: [show, replay],
  examples: [
    ['steno events', 'the latest'],
    ['steno events --event TRANSCRIPT_COMPLETE --since 7d', 'completed lately'],
    ['steno events --order 4nX --json', 'all about an order, for a script'],
    ['steno events --follow', 'watch another process listen'],
    ['steno events replay 12 --to http://127.0.0.1:3000/hook', 'send one once more'],
  ],
  load: async () => (await work()).list,
});
