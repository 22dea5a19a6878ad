import { getInvoice } from '../api/account.ts';
import { checkId } from '../api/decode.ts';
import { doEach, raiseFailures, values } from '../flows/bulk.ts';
import { withInvoiceHints } from '../flows/files/ids.ts';
import { knownInvoices, noteInvoices } from '../flows/prices/invoices.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { invoiceListView, invoiceOutput, invoicePages, invoicesView } from '../views/money.ts';

export const invoice = command({
  name: 'invoice',
  summary: 'Show invoices with their items and totals',
  about:
    'Asks the service for invoices and shows their header, line items and totals. Without ids, lists the ' +
    'invoices that the ledger knows, newest first; the service is not asked. steno report fetches new ones.',
  args: [{ name: '[id…]', help: 'invoice ids', values: 'invoice' }],
  examples: [
    ['steno invoice', 'the invoices that the ledger knows'],
    ['steno invoice 777', 'header, line items, total'],
    ['steno invoice 777 778 --csv > items.csv', 'one row per item'],
    ['steno invoice 777 --quiet', 'only the total'],
  ],
  effect: 'read',
  exits: SEVERAL_EXITS,
  output: invoiceOutput,
  async run(context, { args }) {
    const { out, settings } = context;
    const { currency } = settings;
    if (args.length === 0) {
      const known = await knownInvoices(
        await context.ledgers.required('invoice without ids reads the ledger'),
      );
      await withPager(context, () => out.show(invoiceListView(known, currency, out.isBrief)));
      if (out.forPeople && known.length === 0)
        out.note('no invoices yet; steno files --refresh asks the service');
      return;
    }
    const ids = args.map(checkId);
    const transport = await context.connect();
    const outcomes = await whileWorking(out, 'Asking', (report) =>
      doEach(ids, CONCURRENCY, String, (id) => getInvoice(transport, id), report),
    );
    const found = values(outcomes);
    const ledger = await context.ledgers.ifAny();
    if (ledger) await context.ledgers.whileNoting(ledger, async (notes) => noteInvoices(notes, found));
    if (out.forPeople && out.isBrief) {
      await withPager(context, async () => {
        for (const page of found.flatMap((each) => invoicePages(each, currency))) {
          await out.show(page);
          out.stdout.write('\n');
        }
      });
    } else if (found.length || ids.length > 1) {
      await out.show(invoicesView(outcomes, currency));
    }
    raiseFailures(await withInvoiceHints(outcomes, ledger));
  },
});

const CONCURRENCY = 8;
