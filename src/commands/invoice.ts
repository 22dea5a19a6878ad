import { getInvoice } from '../api/account.ts';
import { checkId } from '../api/decode.ts';
import { doEach, raiseFailures, values } from '../flows/bulk.ts';
import { withInvoiceHints } from '../flows/files/ids.ts';
import { noteInvoices } from '../flows/prices/invoices.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import { withPager } from '../ui/pager.ts';
import { whileWorking } from '../ui/progress.ts';
import { invoiceColumns, invoicePages, invoiceRecord, invoicesView } from '../views/money.ts';
import { printed } from '../views/record.ts';

export const invoice = command({
  name: 'invoice',
  summary: 'Show invoices with their items and totals',
  about:
    'Asks the service for invoices and shows their header, line items and totals. To find the invoices of your ' +
    'files, run steno files --json.',
  args: [{ name: '<id…>', help: 'invoice ids', values: 'invoice' }],
  examples: [
    ['steno invoice 777', 'header, line items, total'],
    ['steno invoice 777 778 --csv > items.csv', 'one row per item'],
    ['steno invoice 777 --quiet', 'only the total'],
  ],
  effect: 'read',
  exits: SEVERAL_EXITS,
  output: () => printed(invoiceRecord.printedOneOrSeveral('invoice').schema, invoiceColumns),
  async run(context, { args }) {
    const ids = args.map(checkId);
    const { out } = context;
    const transport = await context.connect();
    const outcomes = await whileWorking(out, 'Asking', (report) =>
      doEach(ids, CONCURRENCY, String, (id) => getInvoice(transport, id), report),
    );
    const found = values(outcomes);
    const ledger = await context.ledgers.ifAny();
    if (ledger) await context.ledgers.whileNoting(ledger, async (notes) => noteInvoices(notes, found));
    const { currency } = context.settings;
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
