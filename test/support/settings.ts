/** Settings of a user, written as `steno config set` writes them: a process for each would take most of a test's time. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { User } from './steno.ts';

export function setAll(user: User, settings: Readonly<Record<string, string | undefined>>): void {
  const folder = user.env.STENO_CONFIG_DIR ?? '';
  const path = join(folder, 'config.json');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const kept = existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).profiles.default : {};
  writeFileSync(path, JSON.stringify({ profiles: { default: { ...kept, ...settings } } }), { mode: 0o600 });
}
