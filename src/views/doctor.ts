/** What `steno doctor` found. */
import type { CheckResult, Status } from '../flows/doctor/check.ts';
import { toJson } from '../lib/json.ts';
import type { Line, Tone } from '../lib/line.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';

export const doctorView = (results: readonly CheckResult[]): View => ({
  json: toJson(
    results.map(({ check, status, message, hint }) => ({ check, status, message, hint: hint ?? null })),
  ),
  columns: [{ name: 'check', kind: 'id' }, { name: 'status' }, { name: 'message' }, { name: 'hint' }],
  rows: results.map(({ check, status, message, hint }) => [check, status, message, hint ?? '']),
  // What needs somebody's attention.
  quiet: results.filter(({ status }) => status === 'fail' || status === 'warn').map(({ check }) => check),
});

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
      ...rest.map((text) => ({ indent, pieces: [{ text, tone }], narrowing: [] })),
      ...(hint ? wrapped(`hint: ${hint}`, room) : []).map((text) => ({
        indent,
        pieces: [{ text, tone: tones[status] }],
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
function wrapped(text: string, room: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
