/** The topics of `steno help`: each is made from the tables that the program itself uses. */
import { formats } from '../catalog/formats.ts';
import { exitCodes, leftOutReasons } from '../lib/errors.ts';
import { environment } from '../settings/environment.ts';
import { configFolder, ledgerPath, spoolPath, stateFolder } from '../settings/paths.ts';
import { settingList } from '../settings/settings.ts';
import type { Group, Item } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import { flag, type Option } from '../spec/options.ts';
import { ledgerGuide, securityGuide, serviceGuide, sharedLedgerGuide } from './help-guides.ts';
import { commandSections, optionItem, type Page, type Section, section } from './help-page.ts';

interface Topic {
  readonly name: string;
  readonly summary: string;
  readonly sections: (groups: readonly Group[]) => Section[];
}

/** Flags that every command has besides the global options. */
export const builtInOptions: readonly Option[] = [
  flag('-h, --help', 'explain this command'),
  flag('-v, --version', 'print the version'),
];

const topics: readonly Topic[] = [
  { name: 'commands', summary: 'every command in a line', sections: commandSections },
  { name: 'options', summary: 'options that every command takes', sections: optionSections },
  { name: 'exit-codes', summary: 'what each exit code means', sections: exitCodeSections },
  { name: 'environment', summary: 'environment variables and settings', sections: environmentSections },
  { name: 'output', summary: 'tables, rows for scripts, errors and hints', sections: outputSections },
  { name: 'json', summary: 'what --json prints, and its names', sections: jsonSections },
  { name: 'money', summary: 'what costs money, and how it is paid once', sections: moneySections },
  { name: 'files', summary: 'where things live (settings, ledger, backups)', sections: placeSections },
  {
    name: 'ledger-care',
    summary: 'back up, move and rescue the ledger',
    sections: ledgerGuide,
  },
  {
    name: 'shared-ledger',
    summary: 'one ledger for a team and CI: rights, outages, failover',
    sections: sharedLedgerGuide,
  },
  {
    name: 'service',
    summary: 'listen with systemd or in a container; its limits and failures',
    sections: serviceGuide,
  },
  {
    name: 'security',
    summary: 'the key, the mask, unknown clients and privacy',
    sections: securityGuide,
  },
  { name: 'topics', summary: 'every topic of help', sections: topicSections },
];

export const topicNames = topics.map(({ name }) => name);

export const summaryOfTopic = (name: string): string =>
  topics.find((each) => each.name === name)?.summary ?? '';

export function topicPage(name: string, groups: readonly Group[]): Page | undefined {
  const topic = topics.find((each) => each.name === name);
  if (!topic) return undefined;
  const { summary, sections } = topic;
  const about = [`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`];
  return {
    name,
    summary,
    usage: [],
    about,
    lists: [],
    options: [],
    examples: [],
    sections: sections(groups),
  };
}

function topicSections(): Section[] {
  return [
    section(
      'Topics (steno help <topic>)',
      topics.map(({ name, summary }): Item => [name, summary]),
    ),
    section('Pages of commands', [
      ['steno help order', 'the page of a command, as steno order --help'],
      ['steno help events show', 'that of a subcommand'],
      ['man steno-order', 'the same as a man page, where npm has installed them'],
    ]),
  ];
}

function optionSections(): Section[] {
  const options = [...Object.values<Option>(globalOptions), ...builtInOptions];
  return [
    section('Options, before or after the command', options.map(optionItem)),
    section(
      'Values',
      'A duration is 500ms, 30s, 5m, 2h, 3d or 1w; a bare number is seconds.',
      'A flag shown with … takes several values, with commas or by repeating it.',
    ),
  ];
}

/** What to do after each exit code; for the README and the help. */
export const exitAdvice: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: '',
  failed: "read the line on stderr, which has the service's own words; --debug shows the calls",
  usage: 'the hint says what to change; steno help <command> lists every flag',
  auth: 'steno whoami shows which key is in use and where it came from; STENO_API_KEY overrides a saved key',
  missing: "check --profile, and whether the id is an order's or an invoice's",
  held: 'pay the past-due balance; the order goes on by itself, then steno wait --order <id>',
  timeout: 'give it longer; the files go on meanwhile, so steno wait or steno sync can go on later',
  network: 'steno doctor checks network, proxy and base URL; order says whether it was placed',
  unfinished: 'steno file <id> tells why; the state Error may allow steno refund <id>',
  duplicate:
    'steno files and steno attempts show the earlier one; --skip-ordered leaves it out, --again buys it',
  partial:
    'run the same line again with --skip-ordered or --skip-existing: it does only the rest (upgrade and refund: only the ids that failed)',
  uncertain: 'look at your account, then steno attempts settle; only then run it again',
  interrupted: 'the hint names the line to go on with; for order it has --skip-ordered',
};

function exitCodeSections(): Section[] {
  const items = Object.entries(exitCodes).map(([name, { code, when }]): Item => {
    const advice = exitAdvice[name as keyof typeof exitCodes];
    return [`${code} ${name}`, advice ? `${when}: ${advice}` : when];
  });
  return [
    section('Exit codes', items),
    section('Which one', 'Of several failures 11 goes first; a bulk command that did a part exits with 10.'),
  ];
}

function environmentSections(): Section[] {
  // A variable that is more than its flag has words of its own.
  const explained = new Set(environment.map(([names]) => names));
  const asFlag = Object.values<Option>(globalOptions).flatMap(({ env, help }): Item[] =>
    env && !explained.has(env) ? [[env, help]] : [],
  );
  const known = asFlag.map(([name]) => name);
  const asSetting = settingList.flatMap(({ env, help }): Item[] =>
    env && !known.includes(env) ? [[env, help]] : [],
  );
  return [
    section('Variables', [...asFlag, ...asSetting, ...environment]),
    section(
      'Settings (steno config set <setting> <value>)',
      settingList.map(({ name, help }): Item => [name, help]),
    ),
    section('Which one holds', 'The first of: flag, environment, the selected profile, built-in default.'),
  ];
}

function outputSections(): Section[] {
  return [
    section('Streams', [
      ['stdout', 'data alone: rows, JSON, a transcript'],
      ['stderr', 'progress, warnings, hints and errors'],
    ]),
    section('Forms', [
      ['on a terminal', 'a table with colours; it leaves out columns rather than wrap'],
      [
        'elsewhere',
        'tab-separated rows without a header line, nothing cut; each help page names the columns. A tab or a line break in a value becomes a space',
      ],
      ['--json', 'one JSON document; see: steno help json'],
      ['--csv', 'RFC 4180 rows with a header line'],
      ['--quiet', 'what a script needs next: ids, file names, the bare balance'],
    ]),
    section('Progress of work that takes longer than a second, on stderr', [
      ['on a terminal', 'a line that moves, also with --json, --csv and --quiet'],
      ['--no-progress', 'or TERM=dumb: a plain line every ten seconds, none with --quiet'],
      ['in CI', 'where CI is set: a plain line every ten seconds, none with --quiet or --json'],
      ['in other pipes', 'nothing'],
    ]),
    section(
      'Errors',
      'One line, steno: what happened; then, where it helps, hint: what to do. With --json it is an object: {"error": {"code": "…", "message": "…", "status": 401, "hint": "…"}}. A warning is {"warning":{…}}, on a line before it. A stack trace comes with --debug alone.',
    ),
    section(
      'CSV in a spreadsheet',
      'A cell that would run as a formula (it begins with =, @, +, - or a tab, and is no number) gets an apostrophe before it. --json has the exact value.',
    ),
  ];
}

function jsonSections(): Section[] {
  return [
    section(
      'Shape',
      'It follows from the command line alone, never from the data. order, files, transcript, sync, log, events and attempts print an array; file, wait, track, upgrade, refund and invoice print one object for one id, and an array in the order asked for several. listen, events --follow and file --watch print one object a line.',
      'The names are the same in every command; the answer of the service stands untouched under answer, unknown fields included. steno api prints that answer alone. Ids and amounts keep all their digits.',
      `A failed item has error, with its url or audiofile. An item that order leaves out has left_out (${leftOutReasons.join(', ')}); it is the document of the existing file, or its url alone. order --dry-run has these under left_out.`,
    ),
    section('Names, in JSON, CSV and rows alike', [
      ['audiofile', 'id of a file, always a string'],
      ['order', 'id of its order'],
      ['state', 'where it is: see steno states'],
      ['url, title, minutes', 'of the audio; an episode has the title of its feed'],
      ['key, tags', 'what you gave with --key, and tags'],
      ['feed, guid, link, published_at', 'of an episode'],
      ['source', 'path of a recording'],
      ['by', 'who ordered it: user, host, CI job and its actor'],
      ['total, currency', 'an amount, exact to the digit'],
      ['skus, hold, test', 'of the order'],
      ['ordered_at, changed_at', 'times, as 2026-11-01T10:00:00Z; so all that end in _at'],
      ['downloads', 'transcripts on disk: audiofile, format, path, bytes, downloaded_at'],
      ['answer', 'what the service sent, untouched'],
    ]),
    section('Examples of use', [
      ['steno files --json | jq -r ".[].audiofile"', 'the ids'],
      ['steno balance --json | jq .balance', 'the amount'],
      ['steno file 12345 --json | jq -r .state', 'where a file is'],
    ]),
  ];
}

function moneySections(): Section[] {
  return [
    section(
      'What costs money',
      'order and upgrade, and the same calls by api; refund gives some back. All else is free of charge.',
    ),
    section('How it is paid once', [
      ['sent at most once', 'an order, an upgrade and a refund are never repeated by themselves'],
      ['on disk first', 'each is in the ledger before it is sent; so are the same calls by api'],
      ['one audio once', 'what is on order stops with exit 9: --skip-ordered leaves it out, --again buys it'],
      ['no clear answer', 'exit 11; it may have gone through: see steno attempts, then settle it'],
    ]),
    section('To try without cost', [
      ['--sandbox', 'the service inside steno, with a balance of its own'],
      ['--test', 'of order, upgrade, refund and transcript: a test that is not charged'],
      ['--dry-run', 'of order: what would be ordered, what it would cost, and whether a limit would stop it'],
    ]),
    section('To limit it', [
      ['order --max-cost 20', 'order nothing if it would cost more, or if that is not known'],
      [
        'budget set 200/month',
        'for everyone who uses this ledger: orders, upgrades and the same calls by api',
      ],
      ['config set budget 50/day', 'a budget of your own, or STENO_BUDGET; if two are set, both must hold'],
      ['order --up-to-budget', 'order the rows of a list that fit the budget, from the top'],
      ['order --unpriced', 'allow orders of unknown cost while something is left of the budget'],
      ['config set price.TRANS14 1.10', 'price of a minute, until invoices tell it'],
      ['balance --min 50', 'exit 1 if there is less'],
    ]),
    section(
      'What a budget counts',
      'Everything bought in its period (UTC): the billed amount, or the upper end of the estimate until the bill comes, ' +
        'less refunds. A purchase without a clear answer counts as bought. While the cost of a purchase is unknown, ' +
        'nothing more is ordered without --unpriced: set its price, or run steno files --refresh to get its length.',
    ),
    section('To see it', [
      ['budget', 'what is billed, estimated and left of each budget'],
      ['report', 'spend by month, SKU and order'],
      ['invoice <id>', 'items and total of an invoice'],
    ]),
  ];
}

/** The folders of a platform, as its users write them. */
function foldersOf(platform: NodeJS.Platform): string {
  const folders = { APPDATA: '%APPDATA%', LOCALAPPDATA: '%LOCALAPPDATA%' };
  const home = (): string => '~';
  const shown = (path: string): string =>
    platform === 'win32' ? path.replaceAll('/', '\\') : path.replaceAll('\\', '/');
  const [settings, state] = [configFolder, stateFolder].map((find) => shown(find(folders, platform, home)));
  return `settings in ${settings}, state in ${state}`;
}

function placeSections(): Section[] {
  const inState = (path: string): string => path.replace(/^.*[\\/]/, '');
  return [
    section(
      'Where things live',
      [
        ['Linux', foldersOf('linux')],
        ['macOS', foldersOf('darwin')],
        ['Windows', foldersOf('win32')],
      ],
      'STENO_CONFIG_DIR and STENO_STATE_DIR name other folders. Only you can read them.',
      [
        ['config.json', 'in the settings folder: profiles and keys; shown by steno config path'],
        [
          inState(ledgerPath('state')),
          'in the state folder: orders, files, events, downloads; it holds no key',
        ],
        ['backups', 'the last three daily copies of the ledger'],
        [inState(spoolPath('state')), 'events on their way into the ledger'],
        ['sandbox', 'the data of --sandbox; emptied by steno sandbox reset'],
        [
          'transcripts',
          `in this folder, or where --output or --download says, as ${formats[0]?.ext} unless --format`,
        ],
      ],
      'To move to another machine: steno ledger export there, steno ledger import here; then steno login.',
      'To remove everything: steno completion uninstall, npm uninstall -g steno-cli, then delete these folders and the one for compiled code (~/.cache/steno, ~/Library/Caches/steno or %LOCALAPPDATA%\\steno\\Cache).',
    ),
  ];
}
