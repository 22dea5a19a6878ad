import type { CheckResult, Status } from '../flows/doctor/check.ts';
import { toJson } from '../lib/json.ts';
import type { Line, Tone } from '../lib/line.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import { type Field, oneOf, RecordType, text, textField } from './record.ts';

export interface ShownSetting {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

const member = (name: string): string => name.replaceAll('-', '_');

/** What `whoami` prints: plain values, and where each came from. */
export const whoamiView = (settings: readonly ShownSetting[]): View => ({
  ...settingsView(settings),
  json: toJson({
    ...Object.fromEntries(settings.map(({ name, value }) => [member(name), value || null])),
    sources: Object.fromEntries(settings.map(({ name, source }) => [member(name), source])),
  }),
});

export const settingsView = (settings: readonly ShownSetting[]): View => ({
  json: toJson(
    Object.fromEntries(settings.map(({ name, value, source }) => [name, { value: value || null, source }])),
  ),
  columns: [
    { name: 'setting', kind: 'id' },
    { name: 'value', importance: 90 },
    { name: 'source', importance: 50 },
  ],
  rows: settings.map(({ name, value, source }) => [name, value, source]),
  quiet: settings.filter(({ value }) => value).map(({ name, value }) => `${name}=${value}`),
});

// What `steno doctor` found.

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

// What was written to install completions, or removed.

interface Shown {
  readonly shell: string;
  readonly change: string;
  readonly part: string;
  readonly path: string;
}

const field = (name: keyof Shown, help: string, more: Partial<Field<Shown>> = {}): Field<Shown> =>
  textField(name, help, (change) => change[name], { schema: text, uncut: true, ...more });

export const changeRecord = new RecordType<Shown>([
  field('shell', 'bash, zsh, fish or powershell', { importance: 40 }),
  field('change', 'new, changed, removed or unchanged', {
    schema: oneOf('new', 'changed', 'removed', 'unchanged'),
    importance: 80,
  }),
  field('part', 'script, or block: lines in a start-up file', {
    schema: oneOf('script', 'block'),
    importance: 50,
  }),
  field('path', 'the file', { importance: 90 }),
]);

export function changesView(changes: readonly Shown[]): View {
  const written = changes.filter(({ change }) => change !== 'unchanged');
  const view = changeRecord.view(changes, ({ path }) => path);
  return { columns: view.columns, json: view.json, rows: view.rows, quiet: written.map(({ path }) => path) };
}
