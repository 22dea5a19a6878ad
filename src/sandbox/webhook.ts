import { isUrl } from '../lib/is-url.ts';
import type { Database } from '../lib/sqlite.ts';
import { Refusal } from './refusal.ts';
import type { ServiceContext } from './store.ts';

export function readWebhook(db: Database): string | null {
  return db.get<{ value: string }>("SELECT value FROM settings WHERE name = 'webhook'")?.value ?? null;
}

/** Registers a URL; an empty one removes the webhook. */
export function setWebhook({ db, now }: ServiceContext, url: string): void {
  if (url !== '' && !isWebUrl(url)) throw new Refusal(400, `'${url}' is not an HTTP or HTTPS URL.`);
  if (readWebhook(db) === null) discardDueEvents(db, now);
  if (url === '') db.run("DELETE FROM settings WHERE name = 'webhook'");
  else db.run("INSERT OR REPLACE INTO settings (name, value) VALUES ('webhook', ?)", url);
}

/** Events that became due while no URL was registered are never sent. */
export function discardDueEvents(db: Database, now: number): void {
  db.run('UPDATE events SET claimed = ? WHERE claimed IS NULL AND due <= ?', now, now);
}

export function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(text) && isUrl(text);
}
