import { checkTestableEvent } from '../catalog/check.ts';
import { testableEvents } from '../catalog/events.ts';
import { examine } from '../flows/doctor/doctor.ts';
import { StenoError } from '../lib/errors.ts';
import { plural } from '../lib/text.ts';
import { CALL_EXITS, command } from '../spec/command.ts';
import { setupOf } from '../spec/doctor-setup.ts';
import { flag, text } from '../spec/options.ts';
import { showLines } from '../ui/output.ts';
import { whileWorking } from '../ui/progress.ts';
import { doctorLines } from '../views/lines.ts';
import { doctorRecord, doctorView } from '../views/setup.ts';

const options = {
  offline: flag('--offline', 'skip checks that need the network', { excludes: ['--test-event'] }),
  testEvent: text(
    '--test-event <EVENT>',
    'have the service send this event, and wait until a local listener receives it',
    {
      values: testableEvents,
      effect: 'account',
    },
  ),
};

export const doctor = command({
  name: 'doctor',
  summary: 'Check your setup and suggest fixes',
  about:
    'Checks Node, the config file, the key, the service, the proxy, the clock, the ledger, the webhook and more. ' +
    'Each line is ok or says what to do. Changes nothing. Exits with 1 if a check fails; a warning is not a ' +
    'failure.',
  details: [
    '--json prints {check, status, message, hint} for each check, always in the same order; status is ok, warn, ' +
      'fail or skipped.',
  ],
  options,
  examples: [
    ['steno doctor', 'when something does not work'],
    ['steno --sandbox doctor --offline --json', 'for a script'],
    ['steno doctor --test-event TRANSCRIPT_COMPLETE', 'with steno listen running in another window'],
  ],
  makesNoFile: true,
  effect: 'read',
  exits: CALL_EXITS,
  output: () => doctorRecord.printedList,
  async run(context, { options }) {
    const { out, signal } = context;
    if (options.testEvent !== undefined) checkTestableEvent(options.testEvent);
    const results = await whileWorking(out, 'Checking', () =>
      examine(setupOf(context, options), STENO_VERSION, __dirname),
    );
    if (signal.aborted) throw new StenoError('interrupted', 'interrupted');
    if (out.forPeople && out.isBrief) await showLines(out, doctorLines(results, out.stdout.columns));
    else await out.show(doctorView(results));
    const failures = results.filter(({ status }) => status === 'fail');
    if (failures.length)
      throw new StenoError(
        'failed',
        `${plural(failures.length, 'check')} failed: ${failures.map(({ check }) => check).join(', ')}`,
      );
  },
});
