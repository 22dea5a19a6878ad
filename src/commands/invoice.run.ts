import { getInvoice } from '../api/account.ts';
import { checkId } from '../api/decode.ts';
import type { Input } from '../cli/command-spec.ts';
import type { Context } from '../cli/context.ts';
import { doEach, raiseFailures, values } from '../flows/bulk.ts';
import { noteInvoices } from '../flows/prices/invoices.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { invoicePages, invoicesView } from '../views/money.ts';

const CONCURRENCY = 8;

export async function run(context: Context, { args }: Input): Promise<void> {
  const ids = args.map(checkId);
  const { out } = context;
  const transport = await context.connect();
  const outcomes = await whileWorking(out, 'Asking', (report) =>
    doEach(ids, CONCURRENCY, String, (id) => getInvoice(transport, id), report),
  );
  const found = values(outcomes);
  const ledger = await context.ledgerIfAny();
  if (ledger) await context.whileNoting(ledger, async (notes) => noteInvoices(notes, found));
  const { currency } = context.settings;
  if (out.forPeople) {
    await withPager(context, async () => {
      for (const page of found.flatMap((each) => invoicePages(each, currency))) {
        await out.show(page);
        out.stdout.write('\n');
      }
    });
  } else if (found.length || ids.length > 1) {
    await out.show(invoicesView(outcomes, currency));
  }
  raiseFailures(outcomes);
}
