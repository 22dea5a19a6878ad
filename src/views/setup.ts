/** What belongs to the set-up: settings, the webhook, completions, and what `steno doctor` found. */
import type { Webhook } from '../api/account.ts';
import type { CheckResult, Status } from '../flows/doctor/check.ts';
import { toJson } from '../lib/json.ts';
import type { Line, Piece, Tone } from '../lib/line.ts';
import { shownWebhook } from '../lib/shown-webhook.ts';
import { plural } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import { joined } from './event-lines.ts';
import { answerField, type Field, RecordType, textField, wordField } from './record.ts';
import { oneOf } from './schema.ts';

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

export const doctorRecord = new RecordType<CheckResult>([
  wordField('check', 'its name', ({ check }) => check, { kind: 'id' }),
  textField('status', 'ok, warn, fail or skipped', ({ status }) => status, {
    schema: oneOf('ok', 'warn', 'fail', 'skipped'),
  }),
  wordField('message', 'what was found', ({ message }) => message),
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
  const below = (text: string, tone: Tone | undefined): Line => ({ indent, ...lineOf({ text, tone }) });
  const lines = results.flatMap(({ check, status, message, hint }): Line[] => {
    const [first = '', ...rest] = wrapped(message, room);
    const tone = status === 'skipped' ? ('faint' as const) : undefined;
    const label = { text: labels[status].padEnd(LABEL_WIDTH), tone: tones[status] };
    return [
      lineOf(label, { text: check.padEnd(nameWidth), tone: 'strong' }, { text: first, tone }),
      ...rest.map((text) => below(text, tone)),
      ...(hint ? wrapped(`hint: ${hint}`, room) : []).map((text) => below(text, tones[status])),
    ];
  });
  return [...lines, lineOf({ text: summary(results), tone: 'strong' })];
}

const lineOf = (...pieces: readonly Piece[]): Line => ({ pieces, narrowing: [] });

function summary(results: readonly CheckResult[]): string {
  const count = (wanted: Status): number => results.filter(({ status }) => status === wanted).length;
  const [failures, warnings] = [count('fail'), count('warn')];
  if (failures + warnings === 0) return 'all is well';
  return [failures && `${failures} failed`, warnings && plural(warnings, 'warning')]
    .filter(Boolean)
    .join(', ');
}

/** By words, so that a path or a command can be copied. */
const wrapped = (message: string, room: number): string[] => joined(message.split(/\s+/), ' ', room);

/** What was written to install completions, or removed. */
interface ShownChange {
  readonly shell: string;
  readonly change: string;
  readonly part: string;
  readonly path: string;
}

const changeField = (
  name: keyof ShownChange,
  help: string,
  more: Partial<Field<ShownChange>>,
): Field<ShownChange> => wordField(name, help, (change) => change[name], { uncut: true, ...more });

export const completionRecord = new RecordType<ShownChange>([
  changeField('shell', 'bash, zsh, fish or powershell', { importance: 40 }),
  changeField('change', 'new, changed, removed or unchanged', {
    ...{ importance: 80, schema: oneOf('new', 'changed', 'removed', 'unchanged') },
  }),
  changeField('part', 'script, or block: lines in a start-up file', {
    ...{ importance: 50, schema: oneOf('script', 'block') },
  }),
  changeField('path', 'the file', { importance: 90 }),
]);

export const changesView = (changes: readonly ShownChange[]): View => ({
  ...completionRecord.view(changes, String),
  quiet: changes.filter(({ change }) => change !== 'unchanged').map(({ path }) => path),
});

/** JSON has the URL as it is, so that a script can set it again; elsewhere its secrets are masked. */
export const webhookRecord = new RecordType<Webhook>([
  textField('url', "the account's webhook; null where none is set", ({ url }) => url, {
    kind: 'link',
    cell: ({ url }) => shownWebhook(url),
  }),
  answerField(({ json }) => json),
]);

export const webhookView = (webhook: Webhook): View => ({
  ...webhookRecord.view(webhook.url ? [webhook] : [], ({ url }) => shownWebhook(url)),
  json: webhookRecord.json(webhook),
  // The URL is all there is to see, so that it is never cut.
  asRecord: true,
});
