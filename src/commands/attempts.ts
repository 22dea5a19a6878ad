import { command } from '../cli/command-spec.ts';
import { flag, list, text } from '../cli/options.ts';

const work = () => import('./attempts.run.ts');

const settle = command({
  name: 'settle',
  summary: 'Say what became of an order without a known end',
  about:
    'Settles an attempt after you have looked at your account. With --placed the order is kept, and with --file its ' +
    'files too: the service is asked about each, and its link must be one of the URLs of the attempt. With ' +
    '--not-placed its URLs may be ordered again.',
  args: [{ name: '<n>', help: 'number of the attempt', values: 'attempt' }],
  options: {
    placed: text('--placed <order>', 'it went through, as this order', {
      values: 'order',
      excludes: ['--not-placed'],
    }),
    file: list('--file <id…>', 'with --placed, the audiofiles of the order', { needs: ['--placed'] }),
    notPlaced: flag('--not-placed', 'it did not go through'),
  },
  examples: [
    [
      'steno attempts settle 3 --placed 4nX --file 12345',
      'it went through: the order and its file are known',
    ],
    ['steno attempts settle 3 --placed 4nX', 'it went through, and its files are not known yet'],
    ['steno attempts settle 3 --not-placed', 'it did not: the URLs may be ordered again'],
  ],
  load: async () => (await work()).settle,
});

export const attempts = command({
  name: 'attempts',
  summary: 'List orders whose outcome is not known',
  about:
    'Lists attempts to order whose end is not known, newest first. One that is unclear had no clear answer (or its ' +
    'answer named no files): look at your account, then settle it, also where its URLs were ordered again later. One that is being sent has a process that waits ' +
    'for the answer: wait for it. Until it is settled, its URLs are not ordered again unless --again.',
  children: [settle],
  examples: [
    ['steno attempts', 'what to look at'],
    ['steno attempts --json | jq -r ".[].urls[]"', 'the URLs, for a script'],
    ['steno attempts settle 3 --not-placed', 'it did not go through'],
  ],
  load: async () => (await work()).list,
});
