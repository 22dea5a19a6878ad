/** The topics of `steno help`, made from the tables that the program itself uses. */
import { formats } from '../catalog/formats.ts';
import { exitCodes, leftOutReasons } from '../lib/errors.ts';
import { environment } from '../settings/environment.ts';
import { configFolder, ledgerPath, searchIndexPath, spoolPath, stateFolder } from '../settings/paths.ts';
import { settingList } from '../settings/settings.ts';
import type { Group, Item } from '../spec/command.ts';
import { globalOptions } from '../spec/global-options.ts';
import { flag, type Option } from '../spec/options.ts';
import { agentGuide } from './help-agents.ts';
import { ledgerGuide, securityGuide, serviceGuide, sharedLedgerGuide, uploadGuide } from './help-guides.ts';
import { optionItem, type Page, type Section, section } from './help-page.ts';

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
  { name: 'options', summary: 'options that every command takes', sections: optionSections },
  {
    name: 'exit-codes',
    summary: 'what each exit code means, and what to do next',
    sections: exitCodeSections,
  },
  { name: 'environment', summary: 'environment variables and settings', sections: environmentSections },
  {
    name: 'output',
    summary: 'tables, columns, Markdown, CSV, progress and errors',
    sections: outputSections,
  },
  { name: 'json', summary: 'what --json prints, field by field', sections: jsonSections },
  { name: 'money', summary: 'what costs money, and how to limit it', sections: moneySections },
  { name: 'storage', summary: 'where settings, ledger and backups are stored', sections: storageSections },
  {
    name: 'uploads',
    summary: 'order recordings on your disk: upload commands to copy',
    sections: uploadGuide,
  },
  {
    name: 'ledger-care',
    summary: 'back up, move and repair the ledger',
    sections: ledgerGuide,
  },
  {
    name: 'shared-ledger',
    summary: 'one ledger for a team and CI: set-up, outages, failover',
    sections: sharedLedgerGuide,
  },
  {
    name: 'service',
    summary: 'run listen with systemd or in a container; its limits and failures',
    sections: serviceGuide,
  },
  {
    name: 'security',
    summary: 'the key, hidden secrets, unauthenticated clients and privacy',
    sections: securityGuide,
  },
  {
    name: 'agents',
    summary: 'for agents: what is safe, what costs money, when to stop and ask',
    sections: agentGuide,
  },
  { name: 'topics', summary: 'all help topics', sections: topicSections },
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
      ['steno help order', 'explains a command; so does steno order --help'],
      ['steno help events show', 'explains a subcommand'],
      ['man steno-order', 'shows the same page in man, if npm installed the man pages'],
    ]),
  ];
}

function optionSections(): Section[] {
  const options = [...Object.values<Option>(globalOptions), ...builtInOptions];
  return [
    section('Options, before or after the command', options.map(optionItem)),
    section(
      'Values',
      'A duration is 500ms, 30s, 5m, 2h, 3d or 1w; a bare number means seconds.',
      'A flag shown with … takes several values: separate them with commas, or repeat the flag.',
      'Quote a URL that contains &: with double quotes in cmd and PowerShell, with single quotes elsewhere. In a batch file, write %% for %.',
    ),
  ];
}

/** What to do after each exit code; for the README and the help. */
export const exitAdvice: Readonly<Record<keyof typeof exitCodes, string>> = {
  ok: '',
  failed: "read the error, which quotes the service's answer; --debug shows every call",
  usage: 'the hint says what to change; steno help <command> lists every flag',
  auth: 'steno whoami shows which key is in use and where it came from; STENO_API_KEY overrides a saved key',
  missing: 'check the id and --profile: ids of files, orders and invoices differ',
  held: 'pay the past-due balance; the order then continues by itself: steno wait --order <id>',
  timeout: 'allow more time; the service keeps working, so steno wait or steno sync can continue later',
  network: 'steno doctor checks network, proxy and base URL; order says whether the order was placed',
  unfinished: 'steno file <id> shows why; a file in state Error may qualify for steno refund <id>',
  duplicate:
    'steno files and steno attempts show the earlier order; --skip-ordered skips it, --again buys it again',
  partial:
    'run the same command again with --skip-ordered or --skip-existing to do the rest (upgrade and refund: give only the ids that failed)',
  uncertain: 'look at your account and record the outcome with steno attempts settle; only then try again',
  interrupted: 'the hint shows the command that continues; for order it includes --skip-ordered',
};

function exitCodeSections(): Section[] {
  const items = Object.entries(exitCodes).map(([name, { code, when }]): Item => {
    const advice = exitAdvice[name as keyof typeof exitCodes];
    return [`${code} ${name}`, advice ? `${when}. Next: ${advice}` : when];
  });
  return [
    section('Exit codes', items),
    section(
      'After several failures',
      '11 takes precedence. A bulk command exits with 10 if some of its items succeeded.',
    ),
  ];
}

function environmentSections(): Section[] {
  // A variable that does more than its flag has its own text.
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
    section(
      'Precedence',
      'Flag, environment, the selected profile, built-in default: the first one set wins. For allow and budget, the limits of the environment and of the profile both apply. Changing the setting allow requires the effect money; to undo a stricter one, edit the file that steno config path prints.',
    ),
  ];
}

function outputSections(): Section[] {
  return [
    section('Streams', [
      ['stdout', 'only data: rows, JSON, a transcript'],
      ['stderr', 'progress, warnings, hints and errors'],
    ]),
    section('Formats', [
      ['on a terminal', 'a table with colours; a narrow terminal shows fewer columns instead of wrapping'],
      [
        'in a pipe or file',
        'the columns of the table as tab-separated rows without a header line, never truncated; a tab or line break in a value becomes a space',
      ],
      ['--csv', 'RFC 4180 rows with a header line'],
      ['--markdown', 'the table as GitHub Markdown, for a pull request or a job summary'],
      ['--json', 'one JSON document; see: steno help json'],
      ['--quiet', 'only what a script needs next: ids, file names, the bare balance'],
    ]),
    section(
      'Columns',
      '--columns audiofile,title,total chooses the columns and their order, in a table, in rows, in CSV and in Markdown; --columns all shows every column. steno help <command> lists the columns of a command.',
      [
        ['steno files --columns audiofile,title,total', 'three columns of your files'],
        ['steno report --markdown >> "$GITHUB_STEP_SUMMARY"', 'the report on the summary page of a CI job'],
      ],
    ),
    section('Progress, on stderr, after the first second', [
      ['on a terminal', 'one line that updates, also with --json, --csv and --quiet'],
      ['--no-progress', 'or TERM=dumb: a plain line every ten seconds, none with --quiet'],
      ['in CI', 'if CI is set: a plain line every ten seconds, none with --quiet or --json'],
      ['in other pipes', 'nothing'],
    ]),
    section(
      'Errors',
      'An error is one line, steno: what happened, followed by hint: what to do, where a hint helps. With --json it is an object: {"error": {"code": "…", "message": "…", "status": 401, "hint": "…"}}. Warnings come first, one {"warning":{…}} per line. Only --debug prints a stack trace.',
    ),
    section(
      'CSV in a spreadsheet',
      'If a spreadsheet would run a cell as a formula (it starts with =, @, +, - or a tab, and is not a number), the cell gets a leading apostrophe. --json prints the exact value.',
    ),
  ];
}

function jsonSections(): Section[] {
  return [
    section(
      'Shape',
      'The shape depends on the command line alone, never on the data. order, files, transcript, sync, log, events and attempts print an array. file, wait, track, upgrade, refund and invoice print an object for one id, and for several ids an array in the order of the ids. listen, events --follow and file --watch print one object per line.',
      "Every command uses the same names. answer contains the service's answer untouched, including unknown fields; steno api prints that answer alone. Ids and amounts keep all their digits.",
      `An item that failed has error and its url or audiofile. An item that order leaves out has left_out (${leftOutReasons.join(', ')}): it is the existing file, or just the url. order --dry-run lists such items under left_out.`,
    ),
    section('Names, in JSON, CSV and rows alike', [
      ['audiofile', 'id of a file, always a string'],
      ['order', 'id of its order'],
      ['state', 'progress of the file; see: steno states'],
      ['url, title, minutes', 'of the audio; an episode has the title from its feed'],
      ['key, tags', 'what you set with --key and --tag'],
      ['feed, guid, link, published_at', 'of an episode'],
      ['source', 'path of a local recording'],
      ['by', 'who ordered it: user, host, CI job and actor'],
      ['total, currency', 'an amount, exact to the last digit'],
      ['skus, hold, test', 'of the order'],
      ['ordered_at, changed_at', 'times such as 2026-11-01T10:00:00Z; all names ending in _at are times'],
      ['downloads', 'transcripts on disk: audiofile, format, path, bytes, downloaded_at'],
      ['answer', "the service's answer, untouched"],
    ]),
    section('Examples', [
      ['steno files --json | jq -r ".[].audiofile"', 'the ids'],
      ['steno balance --json | jq .balance', 'the amount'],
      ['steno file 12345 --json | jq -r .state', 'the state of a file'],
    ]),
    section(
      'From Python',
      [
        'import json, subprocess',
        'line = "steno files --state Delivered --json"',
        'output = subprocess.check_output(line.split())',
        'for file in json.loads(output):',
        '    print(file["audiofile"], file["title"])',
      ].join('\n'),
    ),
  ];
}

function moneySections(): Section[] {
  return [
    section(
      'What costs money',
      'order and upgrade, and the same calls made with api. refund returns money. Everything else is free.',
    ),
    section('Why nothing is paid for twice', [
      ['sent once', 'steno never repeats an order, an upgrade or a refund on its own'],
      ['saved first', 'each is in the ledger before it is sent, also if you make the call with api'],
      [
        'duplicates',
        'if the audio was already ordered, order exits with 9: --skip-ordered skips it, --again buys it again',
      ],
      [
        'uncertain',
        'exit 11: the order may have gone through; check your account, then run steno attempts settle',
      ],
    ]),
    section('To try without cost', [
      ['--sandbox', 'use the built-in test service, which has its own balance'],
      ['--test', 'make order, upgrade, refund or transcript a test, which is not charged'],
      ['--dry-run', 'show what order would send, its cost, and whether a limit would stop it'],
    ]),
    section('To limit the cost', [
      ['order --max-cost 20', 'order nothing if the total is higher or unknown'],
      [
        'budget set 200/month',
        'limit everyone who uses this ledger: orders, upgrades and the same calls made with api',
      ],
      ['config set budget 50/day', 'set a budget of your own, as STENO_BUDGET does; both budgets apply'],
      ['order --up-to-budget', 'order rows from the top of a list while they fit the budget'],
      ['order --unpriced', 'allow orders of unknown cost while some budget is left'],
      ['config set price.TRANS14 1.10', 'set the price per minute until an invoice shows it'],
      ['balance --min 50', 'exit with 1 if the balance is lower'],
    ]),
    section(
      'What a budget counts',
      'Everything bought in its period (UTC), less refunds: the billed amount, or the upper end of the estimate until the bill arrives. ' +
        'An uncertain purchase counts as bought. While the cost of a purchase is unknown, nothing more is ordered without ' +
        '--unpriced: set its price, or run steno files --refresh to get its length.',
    ),
    section('To see the cost', [
      ['budget', 'billed, estimated and remaining amount of each budget'],
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

function storageSections(): Section[] {
  const nameOf = (path: string): string => path.replace(/^.*[\\/]/, '');
  return [
    section(
      'Folders',
      [
        ['Linux', foldersOf('linux')],
        ['macOS', foldersOf('darwin')],
        ['Windows', foldersOf('win32')],
      ],
      'STENO_CONFIG_DIR and STENO_STATE_DIR choose other folders. Only you can read them.',
    ),
    section('Files', [
      ['config.json', 'in the settings folder: profiles and keys; steno config path prints its path'],
      [nameOf(ledgerPath('state')), 'in the state folder: orders, files, events, downloads; never a key'],
      ['backups', 'in the state folder: the last three daily copies of the ledger'],
      [nameOf(spoolPath('state')), 'in the state folder: events that are not in the ledger yet'],
      [
        nameOf(searchIndexPath('state')),
        'in the state folder: sentences of transcripts; steno search --forget deletes it',
      ],
      ['sandbox.db', 'in the state folder: data of --sandbox; steno sandbox reset deletes it'],
      ['ui-<pid>.json', 'in the state folder: the token of a steno ui that is running; deleted when it ends'],
      [
        'transcripts',
        `in the current folder, or where --output or --download says; ${formats[0]?.ext} unless --format says otherwise`,
      ],
    ]),
    section(
      'Move and remove',
      'To move to another machine, run steno ledger export on the old one, then steno ledger import and steno login on the new one.',
      'To remove everything, run steno completion uninstall and npm uninstall -g steno-cli. Then delete these folders and the one for compiled code (~/.cache/steno, ~/Library/Caches/steno or %LOCALAPPDATA%\\steno\\Cache).',
    ),
  ];
}
