/** What the pages are told of the account: spending, budgets, and the state of the set-up. */
import { decodeKeptInvoice } from '../api/account.ts';
import { formats } from '../catalog/formats.ts';
import { budgetReport } from '../flows/orders/cost.ts';
import type { Changes } from '../ledger/changes.ts';
import { fileGroupings } from '../ledger/file-windows.ts';
import { Invoices } from '../ledger/invoices.ts';
import { OpenAttempts } from '../ledger/open-attempts.ts';
import { Runs } from '../ledger/runs.ts';
import { type Json, type PlainJson, parseJson, toJson } from '../lib/json.ts';
import { monotonicMs, nowMs, parseSince, parseUntil } from '../lib/time.ts';
import { budgetsView, invoiceRecord } from '../views/money.ts';
import { attemptRecord, settleLine } from '../views/purchases.ts';
import { groupings } from '../views/report.ts';
import { doctorView, listenerRecord } from '../views/setup.ts';
import { type Call, CsvAnswer, choiceOf, type Handlers, type PageSource } from './source.ts';

/** Of each part of the report, and of invoices, the latest. */
const MAX_ROWS = 200;
/** What is late changes by itself. */
const REPORT_MS = 60_000;
const MAX_REPORTS = 8;
/** The service is asked anew after this time, however many pages ask. */
const HEALTH_MS = 15_000;

export function accountHandlers(source: PageSource, changes: Changes): Handlers {
  const health = new Health(source);
  const reports = new Reports(source, changes);
  return {
    'GET about': async () => about(source),
    'GET spend': (call) => spend(source, reports, call),
    'GET spend.csv': (call) => spendCsv(reports, call),
    'GET health': () => health.get(),
  };
}

const about = ({ version, settings, isSandbox, ledger, command }: PageSource): Json =>
  toJson({
    ...{ version, profile: settings.profileName, sandbox: isSandbox },
    ledger: ledger.db.isShared ? 'shared' : 'local',
    currency: settings.currency || null,
    command,
    formats: formats.map(({ ext }) => ext),
    groupings: [...fileGroupings],
  });

async function spend(source: PageSource, reports: Reports, call: Call): Promise<Json> {
  const { ledger, settings } = source;
  choiceOf(call, 'by', groupings);
  const report = await reports.get([...periodOf(call), '--limit', String(MAX_ROWS), '--json']);
  const budgets = await budgetReport(ledger, settings);
  const kept = await new Invoices(ledger).all();
  const invoices = kept.flatMap((each) => decodeKeptInvoice(each) ?? []).slice(-MAX_ROWS);
  return toJson({
    report: parseJson(report) as PlainJson,
    budgets: budgetsView(budgets).json as PlainJson,
    invoices: invoices.reverse().map((each) => invoiceRecord.json({ ...each, currency: settings.currency })),
  });
}

async function spendCsv(reports: Reports, call: Call): Promise<CsvAnswer> {
  const by = choiceOf(call, 'by', groupings);
  const text = await reports.get([...periodOf(call), ...(by ? ['--by', by] : []), '--csv']);
  return new CsvAnswer(by ? `spend-by-${by}.csv` : 'spend.csv', text);
}

function periodOf({ query }: Call): string[] {
  const now = nowMs();
  const since = query.get('since');
  const until = query.get('until');
  return [
    ...(since ? ['--since', parseSince(since, now, 'since')] : []),
    ...(until ? ['--until', parseUntil(until, now)] : []),
  ];
}

/** What `steno report` prints, run as a process: of 100,000 files it takes seconds, while the pages go on. */
class Reports {
  readonly #source: PageSource;
  readonly #changes: Changes;
  readonly #kept = new Map<string, { readonly atMs: number; readonly text: Promise<string> }>();
  #last: Promise<unknown> = Promise.resolve();

  constructor(source: PageSource, changes: Changes) {
    this.#source = source;
    this.#changes = changes;
  }

  /** One at a time; kept for as long as it is true. */
  async get(args: readonly string[]): Promise<string> {
    const key = JSON.stringify([args, (await this.#changes.marks()).spend]);
    const known = this.#kept.get(key);
    if (known && monotonicMs() - known.atMs < REPORT_MS) return known.text;
    const text = this.#last.then(() => this.#source.run(['report', '--offline', ...args]));
    this.#last = text.catch(() => this.#kept.delete(key));
    this.#kept.delete(key);
    this.#kept.set(key, { atMs: monotonicMs(), text });
    const [oldest = ''] = this.#kept.keys();
    if (this.#kept.size > MAX_REPORTS) this.#kept.delete(oldest);
    return text;
  }
}

class Health {
  readonly #source: PageSource;
  #checks: { readonly atMs: number; readonly json: Promise<Json> } | undefined;

  constructor(source: PageSource) {
    this.#source = source;
  }

  async get(): Promise<Json> {
    const { ledger, command } = this.#source;
    const checks = this.#examine();
    const listeners = await new Runs(ledger).listeners();
    const attempts = await new OpenAttempts(ledger).list();
    return toJson({
      checks: (await checks) as PlainJson,
      listeners: listeners.map((each) => listenerRecord.json(each)),
      attempts: attempts.map((each) => attemptRecord.json(each).set('settle', settleLine(each, command))),
    });
  }

  #examine(): Promise<Json> {
    if (!this.#checks || monotonicMs() - this.#checks.atMs > HEALTH_MS) {
      const json = this.#source.examine().then((results) => doctorView(results).json);
      json.catch(() => {
        this.#checks = undefined;
      });
      this.#checks = { atMs: monotonicMs(), json };
    }
    return this.#checks.json;
  }
}
