/** The process that sends an attempt, in words. */
export interface Sender {
  readonly user: string;
  readonly host: string;
  readonly pid: number;
}

/** `user@host, pid n`; empty where it is not known. */
export const senderText = ({ user, host, pid }: Sender): string =>
  host ? `${user ? `${user}@` : ''}${host}, pid ${pid}` : '';
