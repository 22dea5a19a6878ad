import { command } from '../spec/command.ts';

export const invoice = command({
  name: 'invoice',
  summary: 'Show invoices with their items and totals',
  about:
    'Shows invoices as the service has them: header, line items and totals. steno files --json names those of your files.',
  args: [{ name: '<id…>', help: 'invoice ids', values: 'invoice' }],
  examples: [
    ['steno invoice 777', 'header, line items, total'],
    ['steno invoice 777 778 --csv > items.csv', 'a row an item'],
    ['steno invoice 777 --quiet', 'the bare total'],
  ],
  load: async () => (await import('./invoice.run.ts')).run,
});
