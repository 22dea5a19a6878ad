/** An order from the command line to its transcripts: planned, judged by ledger and budget, sent, waited for. */
import { type AudioFile, orderedFile } from '../../api/files.ts';
import type { Transport } from '../../api/http/transport.ts';
import type { Order } from '../../api/orders.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { LedgerNotes } from '../../ledger/notes.ts';
import { Uploads } from '../../ledger/uploads.ts';
import type { Env } from '../../lib/env.ts';
import { errorMessage, type Failure, StenoError } from '../../lib/errors.ts';
import type { Money } from '../../lib/money.ts';
import { processAge } from '../../lib/processes.ts';
import type { Report } from '../../lib/progress.ts';
import { monotonicMs } from '../../lib/time.ts';
import type { Settings } from '../../settings/settings.ts';
import { values } from '../bulk.ts';
import { refreshFiles } from '../files/refresh.ts';
import { type DownloadTarget, type WaitOptions, type WaitResult, waitAndDownload } from '../files/wait.ts';
import { UPLOAD_TIMEOUT_MS } from '../uploads/upload.ts';
import { OrderCosts } from './cost.ts';
import { wholeFeedError } from './feed-rows.ts';
import { Guard } from './guard.ts';
import { hasLocalFiles, type Recording, uploadOrder } from './local-audio.ts';
import { existingOrders, ownFiles, type PlacedOrder, placeOne, tagExisting } from './place.ts';
import { type OrderInput, type OrderPlan, type OrderSources, planOrders } from './plan.ts';
import { countAudios, describeUrls, type PlannedAudio, type PlannedOrder } from './planned-order.ts';
import { leftOutRemarks, overBudgetRemarks, placedRemarks, planRemarks, type Remark } from './remarks.ts';
import { OrderRun } from './run.ts';
import { type SentOrders, sendOrders } from './sending.ts';

export interface OrderWishes extends OrderInput {
  readonly maxCost: Money | undefined;
  readonly unpriced: boolean;
  readonly orExisting: boolean;
  readonly retryUnclear: boolean;
  readonly retryEnded: boolean;
  readonly dryRun: boolean;
  readonly wait: boolean;
  readonly download: string | undefined;
  readonly nameAs: string | undefined;
  readonly interval: number | undefined;
  readonly failOnHold: boolean;
}

export interface OrderMeans extends Pick<OrderSources, 'stdin' | 'reading' | 'signal'> {
  readonly settings: Settings;
  readonly env: Env;
  /** The flag --timeout: of each request, or of the whole command if it waits. */
  readonly timeout: number | undefined;
  readonly sandbox: { setLengths(audios: readonly PlannedAudio[]): void } | undefined;
  hasKey(): Promise<boolean>;
  connect(bounds: 'command' | 'request'): Promise<Transport>;
  /** `checked` fails where nothing may be ordered with the ledger. */
  openLedger(isShown: boolean): Promise<{ ledger: Ledger | undefined; checked: Promise<void> }>;
  noting<T>(ledger: Ledger | undefined, work: (notes: LedgerNotes | undefined) => Promise<T>): Promise<T>;
  /** Throws where running the upload command is not allowed. */
  allowUpload(): void;
  during<T>(what: string, work: (report: Report) => Promise<T>): Promise<T>;
  tell(remark: Remark): Promise<void>;
  /** What an upload command says to people. */
  passOn(lines: string): void;
  onLedgerError(error: unknown): Promise<void>;
}

export interface OrderJob {
  readonly wishes: OrderWishes;
  readonly means: OrderMeans;
  readonly plan: OrderPlan;
  readonly run: OrderRun;
  readonly costs: OrderCosts;
  readonly ledger: Ledger | undefined;
  /** The plan is shown, and nothing is sent. */
  readonly isShown: boolean;
  readonly waits: boolean;
  /** The orders come from a list: what can't be ordered holds up nothing else. */
  readonly isList: boolean;
  readonly hasFiles: boolean;
}

export async function prepareOrder(
  args: readonly string[],
  wishes: OrderWishes,
  means: OrderMeans,
): Promise<OrderJob> {
  const { settings, timeout, tell } = means;
  const uploadCommand = settings.get('upload-command').value;
  const reading = wishes.feed === undefined ? 'Reading' : 'Fetching the feed';
  const plan = await means.during(reading, (report) =>
    planOrders(args, wishes, { ...means, uploadCommand, report }),
  );
  const hasFiles = hasLocalFiles(args, plan.orders);
  if (hasFiles && !wishes.dryRun) means.allowUpload();
  for (const remark of planRemarks(plan)) await tell(remark);
  const isShown = wishes.dryRun || plan.isWholeFeed;
  const isList = wishes.from !== undefined || wishes.feed !== undefined || hasFiles;
  const { ledger, checked } = await means.openLedger(isShown);
  const guard = new Guard(ledger, {
    ...wishes,
    skipOrdered: wishes.skipOrdered || (plan.isWholeFeed && !wishes.again),
    manifest: isList,
    begunAgoMs: processAge(),
    refresh: isShown || !ledger ? undefined : (ids) => refresh(ledger, ids, means),
  });
  const costs = new OrderCosts(ledger, settings, { ...wishes, isShown });
  const learn = async (): Promise<void> => {
    costs.requireBudget();
    await learnPrices(costs, means);
  };
  const deciding = OrderRun.of(plan.orders, { ledger, guard, costs, timeout }, learn);
  deciding.catch(() => {});
  await checked;
  const run = await deciding;
  for (const remark of leftOutRemarks(run.leftOut, countAudios(plan.orders))) await tell(remark);
  const waits = wishes.wait || wishes.download !== undefined;
  await raiseProblem(run, isShown, wishes, tell);
  return { wishes, means, plan, run, costs, ledger, isShown, waits, isList, hasFiles };
}

/** What another process is sending may be left for this one; the ledger holds it to the budget then. */
async function raiseProblem(
  run: OrderRun,
  isShown: boolean,
  { upToBudget }: OrderWishes,
  tell: OrderMeans['tell'],
): Promise<void> {
  const { problem, deferred } = run;
  if (!problem && (isShown || deferred.length === 0))
    for (const remark of overBudgetRemarks(run, wantedIn(run))) await tell(remark);
  if (problem && !isShown && !(upToBudget && deferred.length)) throw problem;
}

/** What the service does not know any more has ended. */
async function refresh(ledger: Ledger, ids: readonly string[], { connect }: OrderMeans): Promise<void> {
  const outcomes = await refreshFiles(await connect('request'), ledger, ids);
  for (const { error } of outcomes) if (error && error.kind !== 'missing') throw error;
}

const wantedIn = ({ ready, deferred, overBudget }: OrderRun): number =>
  countAudios([...ready, ...deferred, ...overBudget]);

/** What is not learned is not known: that is said, and stops nothing that does not ask for the cost. */
async function learnPrices(costs: OrderCosts, { hasKey, connect, during, tell }: OrderMeans): Promise<void> {
  const open = async () => ((await hasKey()) ? connect('request') : undefined);
  try {
    const [first, ...more] = await during('Learning prices from invoices', (report) =>
      costs.learn(open, report),
    );
    if (!first) return;
    const text = `invoice ${first.what} could not be read: ${first.error.message}`;
    await tell({ text: more.length ? `${text} (and ${more.length} more)` : text, isWarning: true });
  } catch (error) {
    if (error instanceof StenoError && error.kind === 'interrupted') throw error;
    await tell({ text: `could not learn prices from invoices: ${errorMessage(error)}`, isWarning: true });
  }
}

/** Why a plan that is shown could not be ordered: a whole feed is an error, what costs too much only a remark. */
export function planProblem({ plan, run }: OrderJob): Remark[] {
  if (plan.isWholeFeed) throw wholeFeedError(countAudios(plan.orders));
  return run.problem ? [{ text: run.problem.message, hint: run.problem.hint, isWarning: true }] : [];
}

export interface OrderResult {
  readonly sent: SentOrders;
  readonly placed: readonly PlacedOrder[];
  /** Absent where nothing was waited for, or the waiting broke off. `held`: files whose order is on hold. */
  readonly waited?: WaitResult & { readonly held: readonly AudioFile[] };
  /** What broke off the waiting; the orders are placed all the same. */
  readonly waitError?: StenoError;
  readonly holdIsFailure: boolean;
}

const orderResult = (sent: SentOrders, holdIsFailure: boolean): OrderResult => ({
  ...{ sent, placed: values<PlacedOrder>(sent.outcomes), holdIsFailure },
});

export const nothingSent = ({ run: { failures } }: OrderJob): OrderResult =>
  orderResult({ outcomes: [], held: failures, notSent: [], unsent: 0, interrupted: false }, false);

/** Sends what is ready, and waits for it where that was asked for; `onPlaced` is told what was placed before that. */
export async function sendOrder(
  job: OrderJob,
  formats: readonly string[],
  onPlaced: (orders: readonly Order[]) => void,
): Promise<OrderResult> {
  const { wishes, means, run, ledger, waits } = job;
  if (run.unsent === 0 && run.existing.length === 0) return nothingSent(job);
  const { signal, timeout } = means;
  const transport = await means.connect(waits ? 'command' : 'request');
  const startedAt = monotonicMs();
  const pauseLimitMs = (): number =>
    (timeout ?? Number.POSITIVE_INFINITY) - (waits ? monotonicMs() - startedAt : 0);
  for (const { audios } of [...run.ready, ...run.deferred]) means.sandbox?.setLengths(audios);
  const [leftOut, wanted, isTold] = [run.leftOut.length, wantedIn(run), run.deferred.length === 0];
  const result = await means.noting(ledger, async (notes) => {
    const sent = await means.during('Ordering', (report) =>
      placeOrders(job, transport, { pauseLimitMs, report }),
    );
    const ordered = orderResult(sent, wishes.failOnHold || waits);
    if (!waits || ordered.placed.length === 0 || signal.aborted) return ordered;
    onPlaced(ordered.placed.map(({ order }) => order));
    const target = { download: wishes.download, formats, template: wishes.nameAs };
    const poll = { interval: wishes.interval, timeout, signal };
    return means.during('Waiting', (report) =>
      waitForOrders(ordered, target, { transport, ledger, notes, poll, report }),
    );
  });
  for (const remark of leftOutRemarks(run.leftOut.slice(leftOut))) await means.tell(remark);
  if (!isTold) for (const remark of overBudgetRemarks(run, wanted)) await means.tell(remark);
  for (const remark of placedRemarks(result.placed)) await means.tell(remark);
  return result;
}

/** What was ordered before, and counts as ordered now, comes first. */
async function placeOrders(
  { run, ledger, costs, means, hasFiles, isList }: OrderJob,
  transport: Transport,
  pace: { readonly pauseLimitMs: () => number; readonly report: Report },
): Promise<SentOrders> {
  const upload = hasFiles ? uploader(means, ledger, run, pace.report) : undefined;
  const { onLedgerError, signal } = means;
  let isWaitTold = false;
  const onWaitForOthers = (text: string): void => {
    if (!isWaitTold) void means.tell({ text, isProgress: true });
    isWaitTold = true;
  };
  const fresh = await sendOrders(
    run,
    async (wanted, onSending) => {
      const planned = upload ? await upload(wanted).finally(onSending) : wanted;
      if (planned.audios.length === 0) return undefined;
      const placed = await placeOne(planned, { transport, ledger, costs, onLedgerError });
      // Not as it was wanted: what was uploaded has its URL, and what could not be is told.
      if (!placed) return void (await run.putBack(planned));
      // After a test the same files are mostly ordered in earnest.
      if (planned !== wanted && ledger && !planned.test)
        await new Uploads(ledger).forget(planned.audios.map(({ url }) => url)).catch(onLedgerError);
      return placed;
    },
    { ...pace, signal, halves: isList, onWaitForOthers },
  );
  await tagExisting(ledger, run.existing);
  const existing = existingOrders(run.existing).map((value): SentOrders['outcomes'][number] => ({
    ...{ what: describeUrls(value.planned), value, planned: value.planned },
  }));
  return { ...fresh, outcomes: [...existing, ...fresh.outcomes] };
}

/** Gives the files of an order their URLs; what can't be uploaded is left out, and told. */
function uploader(means: OrderMeans, ledger: Ledger | undefined, run: OrderRun, report: Report) {
  const { env, signal, settings, timeout, passOn, sandbox } = means;
  const uploading = {
    ...{ env, signal, ledger, report, onMessage: passOn },
    used: new Map<string, Recording>(),
    urls: new Map<PlannedAudio, string | undefined>(),
    command: settings.get('upload-command').value,
    timeoutMs: timeout ?? UPLOAD_TIMEOUT_MS,
  };
  const onFailure = (failure: Failure): void => void run.failures.push(failure);
  return async (order: PlannedOrder): Promise<PlannedOrder> => {
    const uploaded = await uploadOrder(order, uploading, onFailure);
    sandbox?.setLengths(uploaded.audios);
    return uploaded;
  };
}

/** Waits for what is under way; the files of a held order are not waited for. */
async function waitForOrders(
  result: OrderResult,
  target: DownloadTarget,
  waiting: WaitOptions,
): Promise<OrderResult> {
  const { placed } = result;
  const ids = [...new Set(placed.flatMap((each) => (each.order.hold ? [] : ownFiles(each))))];
  const held = placed.flatMap((each) =>
    (each.order.hold ? ownFiles(each) : []).map((file) => orderedFile(file, each.order.id, 'On Hold')),
  );
  try {
    return { ...result, waited: { ...(await waitAndDownload(ids, waiting, target)), held } };
  } catch (error) {
    const waitError =
      error instanceof StenoError ? error : new StenoError('failed', errorMessage(error), { cause: error });
    return { ...result, waitError };
  }
}
