/** A file of the ledger as it is listed. */
import type { AudioFile } from '../../api/files.ts';
import { findFileState } from '../../catalog/states.ts';
import type { FileRow } from '../../ledger/files.ts';
import { type AudioDetails, audioTitle, parseDetails } from '../../ledger/purchase.ts';
import { cutSignatures, withoutSignature } from '../../lib/audio-identity.ts';

export interface ListedFile extends FileRow {
  /** The same by the service, else by its feed or file; empty where that is not known. */
  readonly minutes: string;
  /** What its feed or file says; an episode has the title of its feed. */
  readonly audio: AudioDetails;
}

export function listed(row: FileRow): ListedFile {
  const audio = parseDetails(row.details);
  const minutes = row.duration || minutesOf(audio.seconds);
  return { ...row, audio, minutes, title: audioTitle(row.title, audio) };
}

const minutesOf = (seconds: number | undefined): string =>
  seconds === undefined ? '' : String(Math.round(seconds / 0.6) / 100);

/** A file of which the ledger knows nothing. */
export const unknownFile: ListedFile = {
  ...{
    seq: 0,
    id: '',
    purchase: '',
    order_id: '',
    url: '',
    test: 0,
    state: '',
    ended: '',
    title: '',
    invoices: '',
  },
  ...{
    ordered_at: '',
    changed_at: null,
    checked_at: null,
    heard_at: null,
    remark: '',
    hint: '',
    answer: null,
  },
  ...{ skus: null, names: null, notes: null, hold: null, user: null, host: null, job: null, actor: null },
  ...{ key: '', details: '', audio: {}, duration: '', minutes: '', total: '', upgraded_at: null },
};

/** What the ledger knows of a file, with what the service says of it now. */
export function withAnswer(row: ListedFile | undefined, file: AudioFile): ListedFile {
  const known = row ?? {
    ...unknownFile,
    order_id: file.orders[0] ?? '',
    names: cutSignatures(file.names),
    notes: cutSignatures(file.notes),
  };
  const state = findFileState(file.state);
  return {
    ...known,
    id: file.id,
    state: state?.name ?? file.state,
    // After an upgrade, the state of the delivery before it is not its end.
    ended: row && row.state === state?.name ? row.ended : (state?.end ?? ''),
    title: audioTitle(cutSignatures(file.title) || known.title, known.audio),
    url: known.url || withoutSignature(file.originalLink),
    invoices: file.invoices.join(',') || known.invoices,
    duration: file.duration,
    minutes: file.duration || known.minutes,
    total: file.total,
  };
}
