import { testableEvents } from '../catalog/events.ts';
import { command } from '../spec/command.ts';
import { flag, text } from '../spec/options.ts';

export const doctor = command({
  name: 'doctor',
  summary: 'Check the set-up line by line, and say what to do',
  about:
    'Looks at Node, the config file, the key, the service, the proxy, the clock, the ledger, the webhook and more. Each ' +
    'line is ok, or says what to do. Nothing is changed. Exits with 1 if a check failed; a warning is no failure.',
  details: [
    '--json gives {check, status, message, hint} for each, always in the same order; status is ok, warn, fail or skipped.',
  ],
  options: {
    offline: flag('--offline', 'leave out what needs the network', { excludes: ['--test-event'] }),
    testEvent: text(
      '--test-event <EVENT>',
      'have the service send this, and wait until a listener here has it',
      {
        values: testableEvents,
      },
    ),
  },
  examples: [
    ['steno doctor', 'when something does not work'],
    ['steno --sandbox doctor --offline --json', 'for a script'],
    ['steno doctor --test-event TRANSCRIPT_COMPLETE', 'with steno listen in another window'],
  ],
  makesNoFile: true,
  load: async () => (await import('./doctor.run.ts')).run,
});
