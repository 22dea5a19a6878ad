import { httpMethods } from '../lib/http-methods.ts';
import { command } from '../spec/command.ts';
import { flag } from '../spec/options.ts';

export const api = command({
  name: 'api',
  summary: 'Make a raw call, with the key added',
  about:
    'Makes a raw call below the base URL, with the key added: in the query of a GET, in the JSON body of a POST. It ' +
    'prints the answer as it came. A POST may cost money, and is sent once; only a GET is ever sent again.',
  details: [
    'A parameter that is repeated is sent as a list.',
    'An order, an upgrade or a refund is in the ledger before it is sent, counts in the budget, and exits 9 where the ' +
      'ledger has the same already, as with order, upgrade and refund.',
  ],
  args: [
    { name: '<METHOD>', help: 'of HTTP', values: httpMethods },
    { name: '<path>', help: 'below the base URL, like /prepay_balance' },
    { name: '[key=value…]', help: 'parameters' },
  ],
  options: {
    again: flag('--again', 'send an order, upgrade or refund though the ledger has the same already'),
    unpriced: flag('--unpriced', 'under a budget, allow an unknown cost'),
  },
  examples: [
    ['steno api GET /prepay_balance', 'the balance, as the service says it'],
    ['steno api POST /invoice/777', 'an invoice'],
    ['steno api POST /webhook webhook=https://example.com/events', 'with a parameter'],
  ],
  refuses: { '--csv': 'an answer of any shape has no rows' },
  load: async () => (await import('./api.run.ts')).run,
});
