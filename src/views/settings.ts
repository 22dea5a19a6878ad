import { toJson } from '../lib/json.ts';
import type { View } from '../lib/view.ts';

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
