/** What the pages are told of the account: spending, budgets, and the state of the set-up. */
import { budgetReport } from '../flows/orders/cost.ts';
import { knownInvoices } from '../flows/prices/invoices.ts';
import type { Changes } from '../ledger/changes.ts';
import { OpenAttempts } from '../ledger/open-attempts.ts';
import { Runs } from '../ledger/runs.ts';
import { type Json, type PlainJson, parseJson, toJson } from '../lib/json.ts';
import { Kept } from '../lib/kept.ts';
import { amountText, DEFAULT_CURRENCY, fromMillionths } from '../lib/money.ts';
import { nowMs } from '../lib/time.ts';
import { budgetsView, invoiceRecord } from '../views/money.ts';
import { attemptRecord, settleLines } from '../views/purchases.ts';
import { groupings } from '../views/report.ts';
import { listenerRecord } from '../views/setup.ts';
import { choiceOf, type Handlers, type PageSource } from './source.ts';

/** Of each part of the report, and of invoices, the latest. */
const MAX_ROWS = 200;
/** What is late changes by itself. */
const REPORT_MS = 60_000;
/** The service is asked anew after this time, however many pages ask. */
const HEALTH_MS = 15_000;

export function accountHandlers(source: PageSource, changes: Changes): Handlers {
  const reports = new Kept<string>({ max: 8, maxAgeMs: REPORT_MS });
  const checks = new Kept<string>({ max: 1, maxAgeMs: HEALTH_MS });
  /** It reads invoices that the ledger does not have; where the service can't be asked, it does without. */
  const report = async (...args: string[]): Promise<string> => {
    const run = (...more: string[]) => source.run(['report', ...args, ...more], source.signal);
    const key = JSON.stringify([args, (await changes.marks()).spend]);
    return reports.get(key, () => run().catch(() => run('--offline')));
  };
  return {
    about: async () => about(source),
    spend: async () => spend(source, await report('--limit', String(MAX_ROWS), '--json')),
    'spend.csv': async (call) => {
      const by = choiceOf(call, 'by', groupings) ?? 'month';
      const content = await report('--by', by, '--csv');
      return { name: `steno-spend-by-${by}.csv`, type: 'text/csv; charset=utf-8', content };
    },
    attempts: async () => toJson(await attemptsOf(source)),
    health: async () => {
      const examined = await checks.get('', () => source.run(['doctor', '--json'], source.signal));
      const listeners = await new Runs(source.ledger).listeners();
      return toJson({
        checks: parseJson(examined) as PlainJson,
        listeners: listeners.map((each) => listenerRecord.json(each)),
        attempts: await attemptsOf(source),
      });
    },
  };
}

const about = ({ settings, isSandbox, command, ledger }: PageSource): Json =>
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

async function attemptsOf({ ledger, command }: PageSource) {
  const attempts = await new OpenAttempts(ledger).list();
  return attempts.map((each) => attemptRecord.json(each).set('settle', settleLines(each, command)));
}
