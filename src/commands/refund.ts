import { checkTestFile } from '../catalog/check.ts';
import { command } from '../cli/command-spec.ts';
import { flag } from '../cli/options.ts';
import { StenoError, usage } from '../lib/errors.ts';

export const refund = command({
  name: 'refund',
  summary: 'Refund a file on which no work has been done',
  about:
    'Refunds a file that was ordered with prepay or on an invoice, while no transcription work has been done. ' +
    'It asks first on a terminal; elsewhere it wants --yes. It is sent once.',
  args: [{ name: '<id>', help: 'audiofile id', values: 'audiofile' }],
  options: {
    yes: flag('-y, --yes', 'do not ask'),
    test: flag('--test', 'ask for a fake approval; only for audiofiles 100 and 101'),
  },
  examples: [
    ['steno refund 12345', 'asks before it does it'],
    ['steno refund 12345 --yes', 'in a script'],
    ['steno refund 100 --test --yes', 'try it'],
  ],
  async run(context, { args: [id = ''], options }) {
    const { checkId } = await import('../api/ids.ts');
    checkId(id);
    if (options.test) checkTestFile(id);
    if (!options.yes && !context.stdin.isTTY) {
      throw usage(
        'a refund wants --yes where nobody can be asked',
        `run: steno refund ${id} --yes${options.test ? ' --test' : ''}`,
      );
    }
    const transport = await context.transport();
    if (!options.yes) {
      const { askPerson } = await import('../ui/prompt.ts');
      if (!(await askPerson(context, (questions) => questions.confirm(`Refund audiofile ${id}?`)))) {
        throw new StenoError('failed', 'not refunded: the question was not answered with yes');
      }
    }
    const [{ refundFile }, { doneView }, { whileSpinning }] = await Promise.all([
      import('../api/files.ts'),
      import('../views/simple.ts'),
      import('../ui/spinner.ts'),
    ]);
    const done = await whileSpinning(context.out, 'Refunding', () => refundFile(transport, id, options.test));
    await context.out.show(doneView(done));
  },
});
