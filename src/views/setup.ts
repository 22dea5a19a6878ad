/** What belongs to the set-up: settings, the webhook, and what `steno doctor` found. */
import type { Webhook } from '../api/account.ts';
import type { CheckResult, Status } from '../flows/doctor/check.ts';
import type { RunningListener } from '../ledger/runs.ts';
import { type Json, toJson } from '../lib/json.ts';
import { shownWebhook } from '../lib/signatures.ts';
import { type Line, lineOf, plural, type Tone } from '../lib/text.ts';
import type { View } from '../lib/view.ts';
import * as a from './fields.ts';
import { RecordType } from './record.ts';
import { oneOf } from './schema.ts';

export type ShownSetting = Readonly<Record<'name' | 'value' | 'source', string>>;

export const settingRecord = new RecordType<ShownSetting>([
  a.word('setting', 'name of the setting', 'name', { kind: 'id' }),
  a.text('value', 'value of the setting, empty if not set; a key is masked', 'value', { importance: 90 }),
  a.word('source', 'where the value came from', 'source', { importance: 50 }),
]);

/** The document has a member for each setting. */
function settingsView(settings: readonly ShownSetting[], json: () => Json): View {
  const quiet = settings.flatMap(({ name, value }) => (value ? [`${name}=${value}`] : []));
  return settingRecord.view(settings, { quiet, json });
}

const member = ({ name }: ShownSetting): string => name.replaceAll('-', '_');

/** What `whoami` prints: plain values, and where each came from. */
export const whoamiView = (settings: readonly ShownSetting[]): View =>
  settingsView(settings, () =>
    toJson({
      ...Object.fromEntries(settings.map((each) => [member(each), each.value || null])),
      sources: Object.fromEntries(settings.map((each) => [member(each), each.source])),
    }),
  );

export const configView = (settings: readonly ShownSetting[]): View =>
  settingsView(settings, () =>
    toJson(
      Object.fromEntries(settings.map(({ name, value, source }) => [name, { value: value || null, source }])),
    ),
  );

export const doctorRecord = new RecordType<CheckResult>([
  a.word('check', 'name of the check', 'check', { kind: 'id' }),
  a.text('status', 'ok, warn, fail or skipped', 'status', { schema: oneOf('ok', 'warn', 'fail', 'skipped') }),
  a.word('message', 'what the check found', 'message'),
  a.text('hint', 'what to do', 'hint'),
]);

/** --quiet: what needs attention. */
export const doctorView = (results: readonly CheckResult[]): View =>
  doctorRecord.view(results, {
    quiet: results.flatMap(({ check, status }) => (status === 'fail' || status === 'warn' ? [check] : [])),
  });

const looks: Readonly<Record<Status, readonly [label: string, tone: Tone]>> = {
  ok: ['ok', 'good'],
  warn: ['warn', 'warn'],
  fail: ['FAIL', 'bad'],
  skipped: ['-', 'faint'],
};

/** For a person: nothing is cut, because it says what to do. */
export function doctorLines(results: readonly CheckResult[]): Line[] {
  const [labelWidth, nameWidth] = [4, Math.max(...results.map(({ check }) => check.length))];
  const indent = labelWidth + nameWidth + 4;
  const lines = results.flatMap(({ check, status, message, hint }): Line[] => {
    const [label, tone] = looks[status];
    const said = lineOf(
      { text: label.padEnd(labelWidth), tone },
      { text: check.padEnd(nameWidth), tone: 'strong' },
      { text: message, ...(status === 'skipped' && { tone }) },
    );
    const advice = { ...lineOf({ text: `hint: ${hint}`, tone }), indent, folds: true as const };
    return [{ ...said, folds: true }, ...(hint ? [advice] : [])];
  });
  return [...lines, lineOf({ text: summary(results), tone: 'strong' })];
}

function summary(results: readonly CheckResult[]): string {
  const count = (wanted: Status): number => results.filter(({ status }) => status === wanted).length;
  const [failures, warnings] = [count('fail'), count('warn')];
  const parts = [failures && `${failures} failed`, warnings && plural(warnings, 'warning')];
  return parts.filter(Boolean).join(', ') || 'everything is ok';
}

/** A listener that runs. */
export const listenerRecord = new RecordType<RunningListener>([
  a.word('host', 'name of its machine', 'host'),
  a.count('pid', 'process id', ({ pid }) => Number(pid)),
  a.time('started_at', 'when it started', 'started_at'),
  a.time('seen_at', 'when it last wrote to the ledger', 'seen_at'),
  a.text('events', 'events that it shows; null if all', ({ shows }) =>
    (JSON.parse(shows) as string[]).join(', '),
  ),
]);

/** JSON has the URL as it is, so that a script can set it again; elsewhere its secrets are masked. */
export const webhookRecord = new RecordType<Webhook>([
  a.text('url', "the account's webhook; null if none is set", 'url', {
    kind: 'link',
    cell: ({ url }) => shownWebhook(url),
  }),
  a.answer(({ json }) => json),
]);

/** The URL is all there is to see, so that it is never cut. */
export const webhookView = (webhook: Webhook): View =>
  webhookRecord.view(webhook.url ? [webhook] : [], {
    json: () => webhookRecord.json(webhook),
    asRecord: true,
  });
