/** A user who has a key and a service to talk to, as most tests want them. */
import { type Got, Service } from './server.ts';
import { KEY, User } from './steno.ts';

export interface Account {
  readonly service: Service;
  readonly user: User;
}

export async function account(env: Record<string, string | undefined> = {}): Promise<Account> {
  const service = await Service.start();
  return { service, user: new User({ STENO_API_KEY: KEY, STENO_BASE_URL: service.baseUrl, ...env }) };
}

/** A user without a key or settings, and a service that accepts any key. */
export async function newcomer(): Promise<Account> {
  const service = await Service.start();
  service.allow('GET /prepay_balance', { body: { balance: '1.00' } });
  return { service, user: new User() };
}

/** The one request that was made; it is an error if there was another or none. */
export function only(service: Service): Got {
  const [got, ...more] = service.got;
  if (!got || more.length)
    throw new Error(`wanted one request, got ${service.got.map((g) => g.path).join(' ') || 'none'}`);
  return got;
}

/** The service's answer about one file. */
export const fileAnswer = (id: number, statename = 'Delivered', title = ''): { body: object } => ({
  body: { audiofile: { id, statename, title } },
});

/** The error that --json prints on stderr. */
export function jsonError(stderr: string): Record<string, unknown> {
  const lines = stderr.trim().split('\n');
  const { error } = JSON.parse(lines.at(-1) ?? '') as { error: Record<string, unknown> };
  return error;
}
