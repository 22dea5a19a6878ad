/** What the pages are told of the account: spending, budgets, and the state of the set-up. */
import { budgetReport } from '../flows/orders/cost.ts';
import { knownInvoices } from '../flows/prices/invoices.ts';
import type { Changes } from '../ledger/changes.ts';
import { OpenAttempts } from '../ledger/open-attempts.ts';
import { Runs } from '../ledger/runs.ts';
import { type Json, type PlainJson, parseJson, toJson } from '../lib/json.ts';
import { Kept } from '../lib/kept.ts';
import { amountText, DEFAULT_CURRENCY, fromMillionths } from '../lib/money.ts';
import { nowMs, parseSince, parseUntil } from '../lib/time.ts';
import { budgetsView, invoiceRecord } from '../views/money.ts';
import { attemptRecord, settleLines } from '../views/purchases.ts';
import { groupings } from '../views/report.ts';
import { listenerRecord } from '../views/setup.ts';
import { type Call, choiceOf, type Handlers, type PageSource } from './source.ts';

/** Of each part of the report, and of invoices, the latest. */
const MAX_ROWS = 200;
/** What is late changes by itself. */
const REPORT_MS = 60_000;
/** The service is asked anew after this time, however many pages ask. */
const HEALTH_MS = 15_000;

export function accountHandlers(source: PageSource, changes: Changes): Handlers {
  const reports = new Kept<string>({ max: 8, maxAgeMs: REPORT_MS });
  const checks = new Kept<Json>({ max: 1, maxAgeMs: HEALTH_MS });
  /**
   * What `steno report` prints: of 100,000 files it takes seconds, while the pages go on. It reads invoices that the
   * ledger does not have; where the service can't be asked, it does without.
   */
  const report = async (call: Call, ...more: string[]): Promise<string> => {
    const args = ['report', ...periodOf(call), ...more];
    const key = JSON.stringify([args, (await changes.marks()).spend]);
    return reports.get(key, () => source.run(args).catch(() => source.run([...args, '--offline'])));
  };
  return {
    'GET about': async () => about(source),
    'GET spend': async (call) => spend(source, await report(call, '--limit', String(MAX_ROWS), '--json')),
    'GET spend.csv': async (call) => {
      const by = choiceOf(call, 'by', groupings);
      const csv = await report(call, ...(by ? ['--by', by] : []), '--csv');
      const name = by ? `spend-by-${by}.csv` : 'spend.csv';
      return { name, type: 'text/csv; charset=utf-8', content: csv };
    },
    'GET attempts': async () => toJson(await attemptsOf(source)),
    'GET health': async () => {
      const examine = async (): Promise<Json> => parseJson(await source.run(['doctor', '--json']));
      return health(source, await checks.get('', examine));
    },
  };
}

const about = ({ settings, isSandbox, ledger, command }: PageSource): Json =>
  toJson({
    ...{ profile: settings.profileName, sandbox: isSandbox, command },
    ledger: ledger.db.isShared ? 'shared' : 'local',
    now: new Date(nowMs()).toISOString(),
  });

async function spend({ ledger, settings }: PageSource, report: string): Promise<Json> {
  const budgets = await budgetReport(ledger, settings);
  const invoices = (await knownInvoices(ledger)).slice(0, MAX_ROWS);
  const uncertain = await new OpenAttempts(ledger).costs();
  return toJson({
    report: parseJson(report) as PlainJson,
    budgets: budgetsView(budgets).json as PlainJson,
    invoices: invoices.map((each) => {
      const document = invoiceRecord.json({ ...each, currency: settings.currency });
      document.delete('answer');
      return document;
    }),
    uncertain: uncertain.map(({ currency, millionths, unknown }) => ({
      ...{ currency: currency || settings.currency || DEFAULT_CURRENCY, unknown },
      amount: amountText(fromMillionths(millionths)),
    })),
  });
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

async function attemptsOf({ ledger, command }: PageSource) {
  const attempts = await new OpenAttempts(ledger).list();
  return attempts.map((each) => attemptRecord.json(each).set('settle', settleLines(each, command)));
}

async function health(source: PageSource, checks: Json): Promise<Json> {
  const listeners = await new Runs(source.ledger).listeners();
  return toJson({
    checks: checks as PlainJson,
    listeners: listeners.map((each) => listenerRecord.json(each)),
    attempts: await attemptsOf(source),
  });
}
