/** Words that people try for a command, a subcommand or a flag, and what it is called here. */

/** By what the command is called here. */
const commandWords: Readonly<Record<string, string>> = {
  order:
    'upload submit create new add transcribe send buy place purchase request post run start job make convert',
  files: 'list orders jobs history index all dir',
  file: 'status show info state details detail inspect view describe stat progress check',
  wait: 'poll watch await block follow',
  transcript: 'download get fetch pull save transcripts result results text read cat output',
  sync: 'refresh',
  refund: 'cancel delete remove rm abort stop undo kill revoke',
  balance: 'credit credits funds money prepay wallet',
  invoice: 'bill bills billing invoices payment payments receipt',
  budget: 'limit limits quota allowance',
  report: 'spend spending stats statistics summary usage costs',
  log: 'logs history audit journal purchases',
  listen: 'serve receive receiver server daemon tail',
  events: 'notifications deliveries',
  webhook: 'hook hooks webhooks callback',
  login: 'init auth signin sign-in log-in setup configure authenticate connect authorize register key',
  logout: 'signout sign-out log-out',
  whoami: 'me account user who profile profiles',
  config: 'settings setting set unset env options preferences',
  ledger: 'db database backup',
  skus: 'products product prices price pricing services plans catalog catalogue cost',
  formats: 'format types extensions',
  sandbox: 'demo mock try test play playground simulate',
  api: 'call curl raw http',
  ignore: 'exclude skip blacklist blocklist mute',
  attempts: 'retry unclear uncertain pending attempt',
  doctor: 'diagnose health verify debug',
  schema: 'schemas spec',
  completion: 'completions autocomplete complete',
};

/** What a word means, by the words that people write for it; undefined for one that is not known. */
function meaningOf(word: string, written: Readonly<Record<string, string>>): string | undefined {
  const wanted = word.toLowerCase();
  return Object.keys(written).find((name) => written[name]?.split(' ').includes(wanted));
}

export const commandFor = (word: string): string | undefined => meaningOf(word, commandWords);

/** By the command, then by what its subcommand is called here. */
const subcommandWords: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  config: {
    list: 'ls show view all',
    unset: 'delete remove rm',
    set: 'add edit',
    path: 'where file location',
  },
  webhook: {
    get: 'show view url',
    set: 'register add create update',
    test: 'send ping trigger',
  },
  events: {
    show: 'view get info',
    replay: 'resend send retry redeliver forward',
  },
  attempts: { settle: 'resolve close confirm done' },
  ledger: {
    export: 'backup dump save',
    import: 'restore load',
    prune: 'clean purge delete',
    status: 'info show',
    copy: 'move',
    migrate: 'upgrade update',
  },
  sandbox: {
    reset: 'clear clean delete',
    release: 'unhold resume',
    advance: 'next step forward',
  },
};

export const subcommandFor = (command: string, word: string): string | undefined =>
  meaningOf(word, subcommandWords[command] ?? {});

/** Each row: what people write, then what it may be called here; the first that the command has counts. */
const flagWords: ReadonlyArray<readonly [words: string, meant: string]> = [
  ['--out --dir --folder --dest --directory --save -o --output', '--output --download --html'],
  ['--download --save-to', '--output'],
  ['--file --input --manifest --list --ids --urls -i --csv-file', '--from'],
  ['--token --key --apikey --password --secret', '--api-key'],
  ['--host --server --endpoint --url --base --api-url', '--base-url'],
  ['--ext --type --extension --formats', '--format'],
  ['--product --service --skus --plan', '--sku'],
  ['--comment --comments --note --instructions --message -m', '--notes'],
  ['--speaker --speakers --names', '--name'],
  ['--overwrite -f --replace', '--force --again --yes'],
  ['--force', '--again --yes'],
  ['--confirm --no-confirm --assume-yes --no-input', '--yes'],
  ['--silent -q -s', '--quiet'],
  ['--verbose -v --trace --log', '--verbose --debug'],
  ['--simulate --dry --preview -n --whatif --noop', '--dry-run'],
  ['--parallel --concurrency --threads -j --workers', '--jobs'],
  ['--max --top --last -n --number', '--limit --latest --count'],
  ['--tail -f --follow --watch --wait', '--follow --watch --wait'],
  ['--after --start', '--since'],
  ['--budget --max-price --limit-cost --cost', '--max-cost'],
  ['--template --name-format --filename', '--name-as'],
  ['--every --poll --poll-interval', '--interval'],
  ['--test --demo --mock', '--test --sandbox'],
  ['--rss --podcast', '--feed'],
  ['--ignore-existing --no-clobber', '--skip-existing'],
];

/** What a flag means, of those that there are; undefined where none is known. */
export function flagFor(word: string, known: ReadonlySet<string>): string | undefined {
  for (const [words, meant] of flagWords) {
    if (!words.split(' ').includes(word.toLowerCase())) continue;
    const found = meant.split(' ').find((each) => known.has(each) && each !== word);
    if (found) return found;
  }
  return undefined;
}
