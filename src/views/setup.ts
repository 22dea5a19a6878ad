/** What belongs to the set-up: settings, the webhook, and what `steno doctor` found. */
import type { Webhook } from '../api/account.ts';
import type { CheckResult } from '../flows/doctor/check.ts';
import type { RunningListener } from '../ledger/runs.ts';
import { toJson } from '../lib/json.ts';
import { shownWebhook } from '../lib/signatures.ts';
import type { View } from '../lib/view.ts';
import { answerField, countField, RecordType, textField, timeField, wordField } from './record.ts';
import { oneOf } from './schema.ts';

export type ShownSetting = Readonly<Record<'name' | 'value' | 'source', string>>;

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
  wordField('check', 'name of the check', 'check', { kind: 'id' }),
  textField('status', 'ok, warn, fail or skipped', 'status', {
    schema: oneOf('ok', 'warn', 'fail', 'skipped'),
  }),
  wordField('message', 'what the check found', 'message'),
  textField('hint', 'what to do', 'hint'),
]);

/** A listener that runs. */
export const listenerRecord = new RecordType<RunningListener>([
  wordField('host', 'name of its machine', 'host'),
  countField('pid', 'process id', ({ pid }) => Number(pid)),
  timeField('started_at', 'when it started', 'started_at'),
  timeField('seen_at', 'when it last wrote to the ledger', 'seen_at'),
  textField('events', 'events that it shows; null if all', ({ shows }) =>
    (JSON.parse(shows) as string[]).join(', '),
  ),
]);

/** --quiet: what needs attention. */
export function doctorView(results: readonly CheckResult[]): View {
  const quiet = results.filter(({ status }) => status === 'fail' || status === 'warn');
  return { ...doctorRecord.view(results), quiet: quiet.map(({ check }) => check) };
}

/** JSON has the URL as it is, so that a script can set it again; elsewhere its secrets are masked. */
export const webhookRecord = new RecordType<Webhook>([
  textField('url', "the account's webhook; null if none is set", 'url', {
    kind: 'link',
    cell: ({ url }) => shownWebhook(url),
  }),
  answerField(({ json }) => json),
]);

export const webhookView = (webhook: Webhook): View => ({
  ...webhookRecord.view(webhook.url ? [webhook] : []),
  json: webhookRecord.json(webhook),
  // The URL is all there is to see, so that it is never cut.
  asRecord: true,
});
