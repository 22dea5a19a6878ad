/** Who sends or sent an attempt, in words. */
import { hostname } from 'node:os';
import { ciActor, ciJobUrl } from './ci-job.ts';
import { userName } from './processes.ts';

export interface OrderedBy {
  readonly user: string;
  readonly host: string;
  /** The page of the CI job; empty outside of CI. */
  readonly job: string;
}

export interface Sender extends OrderedBy {
  readonly pid: number;
}

/** `user@host, pid n`, and the CI job; empty where it is not known. */
export const senderText = ({ user, host, pid, job }: Sender): string =>
  [userAndHost({ user, host }), host ? `pid ${pid}` : '', job].filter(Boolean).join(', ');

/** `user@host` or the CI job, where it is not this user on this machine. */
export function otherSender({ user, host, job }: OrderedBy): string {
  if (job) return job;
  here ??= { user: userName(), host: hostname() };
  return user === here.user && host === here.host ? '' : userAndHost({ user, host });
}

/** Who runs this process: the person who started the CI job, or the user of this machine. */
export function thisSender(env = process.env): string {
  const [actor, job] = [ciActor(env), ciJobUrl(env)];
  const person = actor || userAndHost({ user: userName(), host: hostname() });
  return [person, job].filter(Boolean).join(', ');
}

/** Asked of the system once: a list may have many rows. */
let here: { readonly user: string; readonly host: string } | undefined;

export const userAndHost = ({ user, host }: Pick<OrderedBy, 'user' | 'host'>): string =>
  host && user ? `${user}@${host}` : host;
