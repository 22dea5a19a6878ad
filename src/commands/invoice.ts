import { command } from '../cli/command-spec.ts';

export const invoice = command({
  name: 'invoice',
  summary: 'Show invoices with their items and totals',
  args: [{ name: '<id…>', help: 'invoice ids', values: 'invoice' }],
  examples: [
    ['steno invoice 777', 'header, line items, total'],
    ['steno invoice 777 778 --csv > items.csv', 'a row an item'],
    ['steno invoice 777 --quiet', 'the bare total'],
  ],
  async run(context, { args }) {
    const { checkId } = await import('../api/ids.ts');
    const ids = args.map((id) => checkId(id));
    const [{ getInvoice }, { doEach, raiseFailures, values }, views, { documents }, { whileSpinning }] =
      await Promise.all([
        import('../api/invoices.ts'),
        import('../flows/bulk.ts'),
        import('../views/invoice.ts'),
        import('../views/documents.ts'),
        import('../ui/spinner.ts'),
      ]);
    const { out } = context;
    const transport = await context.transport();
    const outcomes = await whileSpinning(out, 'Asking', () =>
      doEach(ids, 8, String, (id) => getInvoice(transport, id)),
    );
    const found = values(outcomes);
    const { json, csv, quiet } = out.mode;
    if (out.onTerminal && !json && !csv && !quiet) {
      for (const page of found.flatMap(views.invoicePages)) {
        await out.show(page);
        out.write('\n');
      }
    } else if (found.length || ids.length > 1) {
      const raw = documents(outcomes, (each) => each.json);
      await out.show(views.invoicesView(found, raw));
    }
    raiseFailures(outcomes);
  },
});
