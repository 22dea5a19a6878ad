/** Settles an attempt whose end somebody has found out. */

import { checkId } from '../../api/decode.ts';
import { type AudioFile, getFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import { Files } from '../../ledger/files.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { type Attempt, OpenAttempts } from '../../ledger/open-attempts.ts';
import {
  isSameAudio,
  isSameUrl,
  missingText,
  type OrderedAudio,
  type OrderedFile,
} from '../../ledger/ordered-files.ts';
import { StenoError, usage } from '../../lib/errors.ts';
import { senderText } from '../../lib/sender.ts';
import { keepAnswer } from '../answer.ts';
import { doEach, raiseFailures, values } from '../bulk.ts';
import { REFRESH_CONCURRENCY } from '../files/refresh.ts';

export interface Settled {
  readonly attempt: number;
  /** After `--reopen` it is what the service said of it. */
  readonly status: 'placed' | 'not placed' | 'unclear' | 'being sent';
  readonly order: string;
  readonly audiofiles: readonly string[];
  /** Where the files of some URLs were not named: what is to be said of them. */
  readonly missing?: string | undefined;
}

export async function findAttempt(ledger: Ledger, text: string): Promise<Attempt> {
  const attempt = /^\d{1,15}$/.test(text) ? await new OpenAttempts(ledger).get(Number(text)) : undefined;
  if (!attempt) throw usage(`there is no attempt ${text}`, 'list them: steno attempts');
  const { status, by } = attempt;
  if (status === 'being sent')
    throw usage(
      `attempt ${text} is being sent right now by ${senderText(by)}`,
      'wait until it has finished, or stop that process',
    );
  return attempt;
}

function requireOpen(attempt: Attempt): void {
  if (attempt.status !== 'unclear') throw settledError(attempt);
}

/** What the service named was placed. */
const acceptedError = ({ attempt, order, files }: Attempt): StenoError =>
  usage(
    `attempt ${attempt} was placed: the service named ${order ? `order ${order}` : `${files.length > 1 ? 'audiofiles' : 'audiofile'} ${files.join(', ')}`}`,
    `name its files: steno attempts settle ${attempt} --placed ${order || '<order>'} --file <id>`,
  );

function settledError({ attempt, status, order, isSettled }: Attempt): StenoError {
  const end = status === 'placed' ? `it was placed${order ? ` as order ${order}` : ''}` : 'it was not placed';
  const undo = isSettled ? `if that was a mistake: steno attempts settle ${attempt} --reopen; ` : '';
  return usage(`attempt ${attempt} is already settled: ${end}`, `${undo}list open attempts: steno attempts`);
}

/** Another process was faster. */
async function settledMeanwhile(ledger: Ledger, { attempt }: Attempt): Promise<StenoError> {
  return settledError(await findAttempt(ledger, String(attempt)));
}

export async function settleNotPlaced(ledger: Ledger, found: Attempt): Promise<Settled> {
  const { attempt } = found;
  requireOpen(found);
  if (found.isAccepted) throw acceptedError(found);
  if (!(await new OpenAttempts(ledger).settleNotPlaced(found))) throw await settledMeanwhile(ledger, found);
  return { attempt, status: 'not placed', order: '', audiofiles: [] };
}

/** An upgrade or a refund went through: its file shows it. */
export async function settleChange(
  ledger: Ledger,
  found: Attempt,
  order: string | undefined,
  ids: readonly string[],
): Promise<Settled> {
  const { attempt, kind, files } = found;
  if (order !== undefined || ids.length) {
    const what = `attempt ${attempt} is ${kind === 'refund' ? 'a refund' : `an ${kind}`}`;
    throw usage(
      order === undefined ? `--file is for orders, but ${what}` : `${what}, which has no order id`,
      `leave it out: steno attempts settle ${attempt} --placed`,
    );
  }
  requireOpen(found);
  if (!(await new OpenAttempts(ledger).settlePlaced(found, '', [])))
    throw await settledMeanwhile(ledger, found);
  return { attempt, status: 'placed', order: '', audiofiles: files };
}

export async function reopen(ledger: Ledger, found: Attempt): Promise<Settled> {
  const { attempt } = found;
  if (!(await new OpenAttempts(ledger).reopen(found)))
    throw usage(
      `nobody has settled attempt ${attempt}: ${found.status === 'unclear' ? 'its outcome is unknown' : 'the service itself reported its outcome'}`,
      'list attempts of unknown outcome: steno attempts',
    );
  const { status, order, files } = await findAttempt(ledger, String(attempt));
  return { attempt, status: status === 'refused' ? 'not placed' : status, order, audiofiles: files };
}

/** Keeps the order, and its files if they are named, as if the service's answer had come. */
export async function settlePlaced(
  ledger: Ledger,
  attempt: Attempt,
  order: string,
  ids: readonly string[],
  connect: () => Promise<Transport>,
): Promise<Settled> {
  requireOpen(attempt);
  checkId(order);
  if (attempt.order !== order) await checkOtherOrder(ledger, attempt, order);
  const files = ids.length ? await askAbout(ids.map(checkId), await connect()) : [];
  for (const file of files) checkOrder(file, order);
  const found = await assignFiles(ledger, { ...attempt, order }, files);
  if (!(await new OpenAttempts(ledger).settlePlaced(attempt, order, found)))
    throw await settledMeanwhile(ledger, attempt);
  for (const file of files) await keepAnswer(ledger, file.id, file);
  const missing = await new OpenAttempts(ledger).missingFiles(order);
  return {
    ...{ attempt: attempt.attempt, status: 'placed', order },
    audiofiles: files.map(({ id }) => id),
    missing: missing && missingText(missing),
  };
}

/**
 * An order that the service's answer did not name. The answer is believed, unless it named the order of another attempt:
 * then either may be true.
 */
async function checkOtherOrder(ledger: Ledger, attempt: Attempt, order: string): Promise<void> {
  const { attempt: id, order: answered } = attempt;
  const isSure = answered && (await new OpenAttempts(ledger).otherOfOrder(answered, attempt)) === undefined;
  if (isSure) throw usage(`attempt ${id} was accepted as order ${answered}, not ${order}`);
  const other = await new OpenAttempts(ledger).otherOfOrder(order, attempt);
  if (other !== undefined) throw usage(`order ${order} belongs to attempt ${other}, not to attempt ${id}`);
}

function checkOrder({ id, orders }: AudioFile, order: string): void {
  if (orders.length === 0 || orders.includes(order)) return;
  throw new StenoError('failed', `audiofile ${id} belongs to order ${orders.join(', ')}, not to ${order}`);
}

async function askAbout(ids: readonly string[], transport: Transport): Promise<AudioFile[]> {
  const outcomes = await doEach([...new Set(ids)], REFRESH_CONCURRENCY, String, async (id) => ({
    ...(await getFile(transport, id)),
    id,
  }));
  raiseFailures(outcomes);
  return values(outcomes);
}

/** Which URL of the attempt each file is of; one that is of another audio is an error. */
async function assignFiles(
  ledger: Ledger,
  attempt: Attempt,
  files: readonly AudioFile[],
): Promise<OrderedFile[]> {
  const audios = await new OpenAttempts(ledger).audios(attempt);
  const linked = files.map((file) => audioOfLink(ledger, attempt, audios, file));
  // Files without a link are taken in the order of the URLs that are left, if there are as many.
  const left = audios.filter((audio) => !linked.includes(audio));
  const inStep = linked.filter((audio) => !audio).length === left.length;
  let next = 0;
  const assigned = files.map(({ id }, at) => {
    let audio = linked[at] ?? (audios.length === 1 ? audios[0] : undefined);
    const known = audio !== undefined;
    if (!audio && inStep) audio = left[next++];
    return { id, position: audio && audios.indexOf(audio), known };
  });
  checkOneEach(audios, assigned);
  for (const each of assigned) await checkUnclaimed(ledger, attempt, audios, each);
  return assigned;
}

function checkOneEach(audios: readonly OrderedAudio[], assigned: readonly OrderedFile[]): void {
  const files = new Map<number, string>();
  for (const { id, position } of assigned) {
    if (position === undefined) continue;
    const first = files.get(position);
    if (first !== undefined)
      throw new StenoError(
        'failed',
        `audiofiles ${first} and ${id} both belong to ${audios[position]?.url}`,
        {
          hint: 'name the file of this order; add the other with: steno track <id>',
        },
      );
    files.set(position, id);
  }
}

function audioOfLink(
  ledger: Ledger,
  attempt: Attempt,
  audios: readonly OrderedAudio[],
  { id, originalLink }: AudioFile,
): OrderedAudio | undefined {
  if (!originalLink) return undefined;
  const link = new OpenAttempts(ledger).kept(originalLink);
  const audio = audios.find(({ url }) => isSameUrl(url, link));
  if (audio) return audio;
  throw new StenoError(
    'failed',
    `audiofile ${id} belongs to ${link}, which is not a URL of attempt ${attempt.attempt}`,
    {
      hint: `list its URLs: steno attempts; ${withoutFile(attempt)}`,
    },
  );
}

/** A file that the ledger has for another audio stays what it is. */
async function checkUnclaimed(
  ledger: Ledger,
  attempt: Attempt,
  audios: readonly OrderedAudio[],
  { id, position }: OrderedFile,
): Promise<void> {
  const row = await new Files(ledger).get(id);
  const audio = position === undefined ? undefined : audios[position];
  if (!row?.url || row.test || row.assumed || (audio && isSameAudio(audio, row))) return;
  throw new StenoError('failed', `the ledger has audiofile ${id} as the file of ${row.url}`, {
    hint: withoutFile(attempt),
  });
}

const withoutFile = ({ attempt, order }: Attempt): string =>
  `if its own file is unknown: steno attempts settle ${attempt} --placed ${order}`;
