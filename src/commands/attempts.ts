import { command } from '../spec/command.ts';
import { flag, list, optionalText } from '../spec/options.ts';

const work = () => import('./attempts.run.ts');

const settle = command({
  name: 'settle',
  summary: 'Say what became of an order, upgrade or refund',
  about:
    'Settles an attempt after you have looked at your account: with --placed it counts as bought (or as refunded); with ' +
    '--not-placed it may be tried again. --reopen undoes a mistaken answer.',
  details: [
    'With --file the files of the order are kept too: the service is asked about each, and its link must be one of the ' +
      'URLs of the attempt.',
    'An upgrade or a refund has no order id of its own: --placed stands alone.',
  ],
  args: [{ name: '<n>', help: 'number of the attempt', values: 'attempt' }],
  options: {
    placed: optionalText('--placed [order]', 'it went through; an order also needs its id', {
      values: 'order',
      excludes: ['--not-placed', '--reopen'],
    }),
    file: list('--file <id…>', 'with --placed, the audiofiles of the order', { needs: ['--placed'] }),
    notPlaced: flag('--not-placed', 'it did not go through', { excludes: ['--reopen'] }),
    reopen: flag('--reopen', 'it was settled by mistake: its outcome is not known'),
  },
  examples: [
    ['steno attempts settle 3 --placed 4nX --file 12345', 'the order went through'],
    ['steno attempts settle 3 --not-placed', 'it did not'],
    ['steno attempts settle 3 --placed 4nX', 'its files are not known yet'],
    ['steno attempts settle 4 --placed', 'the upgrade or the refund went through'],
    ['steno attempts settle 3 --reopen', 'that was wrong'],
  ],
  load: async () => (await work()).settle,
});

export const attempts = command({
  name: 'attempts',
  summary: 'List purchases whose outcome is not known',
  about:
    'Lists orders, upgrades and refunds whose outcome is not known, newest first. Look at your account, then settle each; ' +
    'until then, the same call is sent again only with --again.',
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
