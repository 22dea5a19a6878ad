/** What `steno doctor` found. */
import type { CheckResult, Status } from '../flows/doctor/check.ts';
import type { Line, Tone } from '../lib/line.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import { RecordType, textField } from './record.ts';
import { oneOf, text } from './schema.ts';

export const doctorRecord = new RecordType<CheckResult>([
  textField('check', 'its name', ({ check }) => check, { kind: 'id', schema: text }),
  textField('status', 'ok, warn, fail or skipped', ({ status }) => status, {
    schema: oneOf('ok', 'warn', 'fail', 'skipped'),
  }),
  textField('message', 'what was found', ({ message }) => message, { schema: text }),
  textField('hint', 'what to do', ({ hint }) => hint),
]);

/** --quiet: what needs attention. */
export function doctorView(results: readonly CheckResult[]): View {
  const quiet = results.filter(({ status }) => status === 'fail' || status === 'warn');
  return { ...doctorRecord.view(results, ({ check }) => check), quiet: quiet.map(({ check }) => check) };
}

const tones: Readonly<Record<Status, Tone>> = { ok: 'good', warn: 'warn', fail: 'bad', skipped: 'faint' };
const labels: Readonly<Record<Status, string>> = { ok: 'ok', warn: 'warn', fail: 'FAIL', skipped: '-' };
const LABEL_WIDTH = 4;
const GAP = 2;

/** For a person: nothing is cut, because it says what to do; what does not fit goes on in the next line. */
export function doctorLines(results: readonly CheckResult[], columns: number): Line[] {
  const nameWidth = Math.max(...results.map(({ check }) => check.length));
  const indent = LABEL_WIDTH + GAP + nameWidth + GAP;
  const room = Math.max(20, columns - indent);
  const lines = results.flatMap(({ check, status, message, hint }): Line[] => {
    const [first = '', ...rest] = wrapped(message, room);
    const tone = status === 'skipped' ? ('faint' as const) : undefined;
    return [
      {
        pieces: [
          { text: labels[status].padEnd(LABEL_WIDTH), tone: tones[status] },
          { text: check.padEnd(nameWidth), tone: 'strong' },
          { text: first, tone },
        ],
        narrowing: [],
      },
      ...rest.map((line) => ({ indent, pieces: [{ text: line, tone }], narrowing: [] })),
      ...(hint ? wrapped(`hint: ${hint}`, room) : []).map((line) => ({
        indent,
        pieces: [{ text: line, tone: tones[status] }],
        narrowing: [],
      })),
    ];
  });
  return [...lines, { pieces: [{ text: summary(results), tone: 'strong' }], narrowing: [] }];
}

function summary(results: readonly CheckResult[]): string {
  const count = (wanted: Status): number => results.filter(({ status }) => status === wanted).length;
  const [failures, warnings] = [count('fail'), count('warn')];
  if (failures + warnings === 0) return 'all is well';
  return [failures && `${failures} failed`, warnings && plural(warnings, 'warning')]
    .filter(Boolean)
    .join(', ');
}

/** By words; a path or a command that is longer than the room stays whole, so that it can be copied. */
function wrapped(message: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of message.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
