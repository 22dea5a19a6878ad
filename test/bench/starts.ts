/** Commands that one waits for with a finger on the key, against Node doing nothing. */
import { makeLedger } from './ledgers.ts';
import { type Row, run, type Subject } from './measure.ts';
import { type Env, installed, type Place } from './place.ts';

const START = 'node -e 0';

export async function startRows(place: Place): Promise<Row[]> {
  const env = place.env(place.fresh('starts'));
  const withLedger = place.env(place.fresh('ledger'));
  const steno = (args: readonly string[], expect: RegExp, at: Env = env): Subject =>
    run({ args: () => [place.bin, ...args], env: at, expect });
  const peer = (program: 'curl' | 'gh', ...args: string[]): Subject | undefined => {
    const file = installed(program);
    return file === undefined ? undefined : run({ file, args: () => args, env });
  };
  const get = (path: string): Subject | undefined =>
    peer('curl', '-s', `${place.baseUrl()}${path}?api_key=${env.STENO_API_KEY}`);
  const base = run({ args: () => ['-e', '0'], env });
  const quick = { against: START, base, must: 1.15, aim: 1.02 };
  const light = { against: START, base, must: 1.6, aim: 1.3 };
  await makeLedger(withLedger, 100);
  return [
    {
      ...quick,
      key: 'version',
      what: '`steno --version`',
      subject: steno(['--version'], /^\d/),
      peers: { curl: peer('curl', '--version'), gh: peer('gh', '--version') },
    },
    {
      ...quick,
      key: 'help',
      what: '`steno --help`',
      subject: steno(['--help'], /Usage/i),
      peers: { curl: peer('curl', '--help'), gh: peer('gh', '--help') },
    },
    {
      ...light,
      key: 'command-help',
      what: '`steno order --help`',
      subject: steno(['order', '--help'], /--sku/),
      peers: { gh: peer('gh', 'issue', 'create', '--help') },
    },
    { ...light, key: 'skus', what: '`steno skus`', subject: steno(['skus'], /TRANS14/) },
    {
      ...light,
      must: 1.3,
      aim: 1.2,
      key: 'complete',
      what: 'completion of a word (an id of the ledger)',
      subject: steno(['__complete', 'audiofile', '1'], /^1/, withLedger),
    },
    {
      key: 'balance',
      what: '`steno balance` on loopback',
      against: START,
      must: 2.9,
      aim: 2.6,
      base,
      subject: steno(['balance'], /100\.00/),
      peers: { curl: get('/prepay_balance') },
    },
    {
      key: 'balance-first',
      what: '`steno balance`, first start on a fresh disk',
      against: START,
      must: 3.7,
      aim: 3.4,
      base,
      // Compiled code is kept below the home that the system knows, and no other.
      subject: steno(['balance'], /100\.00/, { ...env, HOME: place.fresh('home') }),
    },
    {
      key: 'file',
      what: '`steno file <id>` with the ledger',
      against: START,
      must: 3.1,
      aim: 2.6,
      base,
      subject: steno(['file', '100001'], /100001/, withLedger),
      peers: { curl: get('/audiofile/100001') },
    },
    {
      key: 'list',
      what: '`steno files`, the first 50 of 100',
      against: START,
      must: 2,
      aim: 1.8,
      base,
      subject: steno(['files', '--limit', '50'], /^\d/, withLedger),
    },
  ];
}
