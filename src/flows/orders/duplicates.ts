/** What is said of an audio that is on order, is being ordered, or may have been. */

import type { Holder } from '../../ledger/claims.ts';
import type { Audio } from '../../ledger/purchase.ts';
import { type Duplicate, type Failure, StenoError, usage } from '../../lib/errors.ts';
import { differenceOf, isUploadUrl, isUrlName, sameBy, spellingOf } from '../../lib/names.ts';
import { oneLine, shellWord } from '../../lib/text.ts';
import { timeAgo } from '../../lib/time.ts';
import { isUrl } from '../../lib/url.ts';
import { describeAudio, describeUrls, type PlannedOrder, shownUrl } from './planned-order.ts';

export interface HeldAudio {
  readonly audio: Audio;
  readonly name: string;
  readonly holder: Holder;
  readonly holders: readonly Holder[];
  /** The guid under which the very same URL was ordered, where the feed has another now. */
  readonly otherGuid?: string | undefined;
  /** What is wanted now, where other SKUs are on order. */
  readonly otherSkus?: readonly string[] | undefined;
}

/** Why an episode is left out whose audio was ordered under another guid, or a recording whose URL was. */
export function doubtfulText(held: HeldAudio): { text: string; hint: string | undefined } {
  const { audio, holder, otherGuid } = held;
  if (otherGuid === undefined) {
    const { message, hint } = linkError(held);
    return { text: `left out: ${describeAudio(audio)}: ${message}`, hint };
  }
  const { title, guid = '' } = audio.details ?? {};
  const name = `the episode '${oneLine(title || guid, 80)}'`;
  const order = holder.order ? ` as order ${holder.order}` : '';
  return {
    text: `left out: ${name}: ${shownUrl(audio)} was ordered${order} ${timeAgo(holder.at)} under the guid '${oneLine(otherGuid, 80)}'; its guid in the feed is now '${oneLine(guid, 80)}'`,
    hint: `if it is a different episode, add --again, or order it alone: steno order ${shellWord(shownUrl(audio))} --sku <SKU> --key <text>`,
  };
}

/** What else the command orders; a raw call has no flags that leave audios out. */
type Among = 'alone' | 'others' | 'raw call';

export function duplicateError(held: readonly HeldAudio[], among: Among): StenoError {
  const [first, ...more] = held;
  if (!first) throw new Error('an error for no audio');
  const others = more.length ? ` (and ${more.length} more)` : '';
  return new StenoError('duplicate', statement(first, describeAudio(first.audio), others), {
    hint: hintFor(first, among),
    duplicate: duplicateOf(
      first.holder,
      more.map(({ holder }) => holder),
    ),
  });
}

export interface HeldFailure extends Failure {
  readonly planned?: PlannedOrder | undefined;
}

/** Another process was faster, and ordered another recording at the URL that an upload gave to this one. */
export const sharedUrlError = ({ audio, holder }: HeldAudio): StenoError =>
  usage(
    `its URL is that of another recording, ordered by ${holder.by}: ${shownUrl(audio)}`,
    'change the upload command to give each recording a unique name',
  );

export const rowError = (held: HeldAudio): StenoError =>
  isUploadUrl(held.audio.names, held.name) ? linkError(held) : heldError(held, 'it');

/** A link to the URL that an upload gave to this recording is on order: nobody knows whether that was its content. */
function linkError(held: HeldAudio): StenoError {
  const url = shownUrl(held.audio);
  const other = `if it is another recording, add --again, or: steno order ${shellWord(url)} --key <text>`;
  return heldError(held, `its URL ${url}`, held.holder.status === 'placed' ? other : undefined);
}

/** A file of its order has ended without a transcript, and the service does not say which audio that was. */
export const unpairedError = (held: HeldAudio): StenoError => {
  const { order, file } = held.holder;
  return new StenoError(
    'duplicate',
    `${describeAudio(held.audio)} may have ended without a transcript: the service does not say which file of order ${order} it is`,
    {
      hint: `find out in your account, then order it alone with --again; see: steno files --order ${order}`,
      duplicate: { ...duplicateOf(held.holder), audiofiles: file ? [file] : [] },
    },
  );
};

export const otherSkusError = (held: HeldAudio): StenoError =>
  heldError(
    held,
    describeAudio(held.audio),
    `order the same SKUs, or upgrade it: ${upgradeLine(held.holder)}`,
    'other_skus',
  );

const heldError = (
  held: HeldAudio,
  subject: string,
  hint = hintFor(held, 'others'),
  reason: Duplicate['reason'] = reasons[held.holder.status],
): StenoError =>
  new StenoError('duplicate', statement(held, subject), {
    hint,
    duplicate: { ...duplicateOf(held.holder), reason },
  });

const upgradeLine = ({ file }: Pick<Holder, 'file'>): string =>
  `steno upgrade ${shellWord(file || '<id>')} --sku <SKU>`;

/** ` with TRANS14, not with TRANS2`; nothing where what is on order is what is wanted. */
const otherSkusText = ({ skus }: Pick<Holder, 'skus'>, wanted: readonly string[] | undefined): string =>
  wanted ? ` with ${skus.join(', ')}, not ${wanted.join(', ')}` : '';

export const otherSkusNote = (
  rows: ReadonlyArray<{
    readonly holder?: Pick<Holder, 'file' | 'skus'> | undefined;
    readonly planned: PlannedOrder;
  }>,
): { names: string[]; hint: string } => ({
  names: rows.map(({ holder, planned }) =>
    holder ? `${describeUrls(planned)}${otherSkusText(holder, planned.skus)}` : describeUrls(planned),
  ),
  hint: rows[0]?.holder ? upgradeLine(rows[0].holder) : '',
});

const reasons = { placed: 'ordered', unclear: 'unclear', 'being sent': 'in_progress' } as const;

/** For programs; with the files of the others where those are held for the same reason. */
const duplicateOf = (first: Holder, others: readonly Holder[] = []): Duplicate => ({
  reason: reasons[first.status],
  order: first.order,
  audiofiles: [
    ...new Set(
      [first, ...others]
        .filter(({ status, file }) => status === first.status && file)
        .map(({ file }) => file),
    ),
  ],
  attempt: first.attempt,
});

function statement(held: HeldAudio, subject: string, others = ''): string {
  const { attempt, status, order, at, by, other, answered, tracked } = held.holder;
  const who = other ? ` by ${other}` : '';
  const same = sameness(held);
  if (status === 'placed')
    return `${subject} was ordered${tracked ? ' elsewhere' : ''}${order ? ` as order ${order}` : ''}${tracked ? ' and added with track' : ''} ${timeAgo(at)}${who}${otherSkusText(held.holder, held.otherSkus)}${same}${others}`;
  if (status === 'being sent') return `${subject} is being ordered right now by ${by}${same}${others}`;
  if (order)
    return `${subject} is in order ${order}, accepted ${timeAgo(at)}${who}, but its files are unknown (attempt ${attempt})${same}${others}`;
  const what = answered ? 'had no clear answer' : 'was started but has no outcome';
  return `an order of ${subject} from ${timeAgo(at)}${who} (attempt ${attempt}) ${what}${same}${others}: it may have gone through`;
}

/** Among others, no hint orders all of them again: --again would. */
function placedHint({ holder, otherSkus }: HeldAudio, among: Among): string {
  const again = among === 'others' ? '' : '--again to order it once more';
  const skip = `--skip-ordered to leave it out${among === 'others' ? ' and order the rest' : ''}`;
  const ways = [again, among === 'raw call' ? '' : skip].filter(Boolean).join(', or ');
  const change = otherSkus ? `; to change its SKUs: ${upgradeLine(holder)}` : '';
  return `add ${ways}${change}; see what became of it: steno files${holder.order ? ` --order ${holder.order}` : ''}`;
}

function hintFor(held: HeldAudio, among: Among): string {
  const { attempt, status, order } = held.holder;
  if (status === 'placed') return placedHint(held, among);
  if (status === 'being sent')
    return `run this again once that has finished${among === 'raw call' ? '' : '; --skip-ordered waits for it and orders only what is left'}`;
  const settle = `steno attempts settle ${attempt}`;
  if (order)
    return `name its files: ${settle} --placed ${order} --file <id>; or add them: steno track <id>; see: steno attempts`;
  const again = among === 'others' ? '--skip-ordered --retry-unclear' : '--again';
  return `check the balance (steno balance) and your account. If it went through: ${settle} --placed <order>; if not: ${settle} --not-placed, or order it with ${again}. List all such orders: steno attempts`;
}

/** The error for an upgrade or a refund that is being sent, or may have gone through. */
export function heldChange({ name, holder }: HeldAudio): StenoError {
  const { attempt, status, at, by, answered, file } = holder;
  const [kind, sku] = name.split(' ');
  const what = `${kind} of audiofile ${file}${kind === 'upgrade' ? ` with ${sku}` : ''}`;
  const settle = `steno attempts settle ${attempt}`;
  const end = answered ? 'had no clear answer' : 'was started but has no outcome';
  const [message, hint] =
    status === 'being sent'
      ? [
          `the ${what} is being sent right now by ${by}`,
          'run this again once that has finished, if you still want it; see: steno attempts',
        ]
      : [
          `${kind === 'upgrade' ? 'an' : 'a'} ${what} from ${timeAgo(at)} by ${by} (attempt ${attempt}) ${end}: it may have gone through`,
          `check the file and the balance: steno file ${file}, steno balance. If it went through: ${settle} --placed; if not: ${settle} --not-placed, or run this with --again`,
        ];
  return new StenoError('duplicate', message, { hint, duplicate: duplicateOf(holder) });
}

/** Why it is the same audio, where the URLs differ. */
function sameness({ audio, name, holder }: HeldAudio): string {
  return holder.spelling === spellingOf(audio.url) ? '' : reason(name, audio.url, holder.url);
}

/** Why two audios that share a name are the same, where their URLs differ. */
export const samenessOf = (name: string, one: Audio, other: Audio): string =>
  one.url === other.url ? '' : reason(name, one.url, other.url);

function reason(name: string, one: string, other: string): string {
  if (!isUrlName(name)) return ` (${sameBy(name)})`;
  if (!isUrl(other)) return '';
  const difference = differenceOf(one, other);
  // The ledger keeps no signature, so that two texts may be equal where the URLs were not.
  return ` (differs only in ${difference === 'nothing' || difference === 'signature' ? 'its signature' : difference})`;
}
