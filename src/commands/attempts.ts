import { command } from '../cli/command-spec.ts';
import { flag, list, text } from '../cli/options.ts';

const work = () => import('./attempts.run.ts');

const settle = command({
  name: 'settle',
  summary: 'Say what became of an order without a known end',
  about:
    'Settles an attempt after you have looked at your account: with --placed the order is kept; with --not-placed its ' +
    'URLs may be ordered again.',
  details: [
    'With --file the files of the order are kept too: the service is asked about each, and its link must be one of the ' +
      'URLs of the attempt.',
  ],
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
    ['steno attempts settle 3 --placed 4nX --file 12345', 'it went through'],
    ['steno attempts settle 3 --not-placed', 'it did not'],
    ['steno attempts settle 3 --placed 4nX', 'its files are not known yet'],
  ],
  load: async () => (await work()).settle,
});

export const attempts = command({
  name: 'attempts',
  summary: 'List orders whose outcome is not known',
  about:
    'Lists attempts to order whose end is not known, newest first. Look at your account, then settle each; until then ' +
    'its URLs are not ordered again unless --again.',
  details: [
    [
      [
        'unclear',
        'there was no clear answer, or it named no files: settle it, also where its URLs were ordered again',
      ],
      ['being sent', 'a process waits for the answer: wait for it'],
    ],
  ],
  children: [settle],
  examples: [
    ['steno attempts', 'what to look at'],
    ['steno attempts --json | jq -r ".[].urls[]"', 'the URLs, for a script'],
    ['steno attempts settle 3 --not-placed', 'it did not go through'],
  ],
  load: async () => (await work()).list,
});
