/** What fits at the cursor, decided once for all shells, and how each of them is told. */
import { describe, expect, test } from 'vitest';
import { commandTree } from '../../src/cli/command-tree.ts';
import type { Offer, Shell } from '../../src/completion/model.ts';
import { answer } from '../../src/completion/shells.ts';
import { groups } from '../support/commands.ts';
import { sampleTree } from './sample-tree.ts';

const tree = commandTree(groups);

/** What the ledger and the settings were asked for. */
let asked: string[] = [];

async function lookUp(kind: string, typed: string, profile = ''): Promise<Offer[]> {
  asked.push(`${profile}: ${kind} ${typed}`);
  return [
    ['123', 'A talk: [1] (Delivered)'],
    ['145', ''],
  ];
}

async function ask(shell: Shell, input: readonly string[], root = tree): Promise<string[]> {
  asked = [];
  return answer(shell, input, { root, lookUp });
}

/** The values that begin with what is typed; of a path only whose it is. */
async function offered(line: string, root = tree): Promise<readonly string[] | string> {
  const [kind = '', head = '', typed = '', ...rows] = await ask('fish', line.split(' '), root);
  if (kind !== 'words') return kind;
  const values = rows.map((row) => row.split('\t')[0] ?? '');
  return values.filter((value) => value.startsWith(head + typed)).map((value) => value.replace(/^--.*=/, ''));
}

describe('what fits', () => {
  const lines: ReadonlyArray<readonly [string, string, readonly string[] | string]> = [
    ['a command', 'steno webh', ['webhook']],
    ['nested commands', 'steno webhook ', ['get', 'set', 'test']],
    ['a flag', 'steno order --sku', ['--sku']],
    ['a global flag after the command', 'steno order --prof', ['--profile']],
    ['a global flag before the command', 'steno --prof', ['--profile']],
    ['after a global flag with a value', 'steno --profile x order --sku', ['--sku']],
    ['after a value that is named like a command', 'steno --profile order file --wat', ['--watch']],
    ['after a text that is named like a command', 'steno order --notes webhook --dry', ['--dry-run']],
    ['after stdin', 'steno ledger import - --as', ['--as']],
    ['no flag twice', 'steno order --dry-run --dry', []],
    ['no flag twice by its other name', 'steno transcript 1 -o x --outp', []],
    ['a flag that may be repeated', 'steno order --name A --nam', ['--name', '--name-as']],
    ['a SKU', 'steno order --sku TRANS1', ['TRANS14']],
    ['a SKU after =', 'steno order --sku=TST', ['TSTMP1']],
    ['a SKU after a comma', 'steno order --sku TRANS14,TST', ['TRANS14,TSTMP1']],
    ['a SKU after = and a comma', 'steno order --sku=TRANS14,TST', ['TRANS14,TSTMP1']],
    ['no format twice', 'steno transcript 1 --format doc,do', ['doc,docx']],
    ['no format twice in two flags', 'steno transcript 1 --format doc --format do', ['docx']],
    ['no format twice after =', 'steno transcript 1 --format=txt,doc --format=do', ['docx']],
    ['no second transcription after a comma', 'steno order --sku TRANS14,T', ['TRANS14,TSTMP1']],
    ['no second transcription after =', 'steno order --sku=TSTMP1,EMSR02,TR', []],
    ['no second transcription in another flag', 'steno order --sku TRANS2 --sku T', ['TSTMP1']],
    ['no second transcription in another flag after =', 'steno order --sku=TSTMP1,TRANS6 --sku=TR', []],
    ['a transcription after an add-on', 'steno order --sku TSTMP1 --sku TRANS1', ['TRANS14']],
    ['a transcription after a note that names one', 'steno order --notes TRANS2 --sku TRANS1', ['TRANS14']],
    ['no second change of speed', 'steno upgrade 1 --sku UPGRD1,UPG', []],
    ['other upgrades after a change of speed', 'steno upgrade 1 --sku UPGRD1,T', ['UPGRD1,TSTMP1']],
    ['a format', 'steno transcript 1 --format doc', ['doc', 'docx']],
    ['an event', 'steno webhook test ORDER', ['ORDER_ON_HOLD']],
    ['nothing beyond the last argument', 'steno webhook test ORDER_ON_HOLD ORD', []],
    ['a setting, after a global flag', 'steno config --json set ti', ['timeout']],
    ['a shell', 'steno completion z', ['zsh']],
    ['a topic of help', 'steno help exit', ['exit-codes']],
    ['a schema', 'steno schema warn', ['warning']],
    ['a schema of a subcommand', 'steno schema events sh', ['show']],
    ['a command to explain', 'steno help webh', ['webhook', 'webhooks']],
    ['a subcommand to explain', 'steno help events re', ['replay']],
    ['nothing after a word that every object has', 'steno config set constructor ', []],
    ['no flag after --', 'steno order -- --sku', 'file'],
    ['no flag of another command', 'steno file --sku', []],
    ['nothing for a flag without a value', 'steno order --dry-run=', []],
    ['nothing for a key', 'steno --api-key ', []],
    ['nothing for a key to keep', 'steno config set api-key ', []],
    ['nothing for a note', 'steno order --notes my', []],
    ['nothing for a time', 'steno files --since ', []],
    ['values of a setting', 'steno config set timeout ', ['30s', '1m', '2m', '5m']],
    ['values of a setting after a flag', 'steno config set --json currency --quiet E', ['EUR']],
    ['a state', 'steno ls --state Ref', ['Refunded']],
    ['audio on disk', 'steno order my', 'file'],
    ['an export to import', 'steno ledger import my', 'file'],
    ['a feed on disk', 'steno order --feed my', 'file'],
    ['a page to write', 'steno report --html my', 'file'],
    ['a place for transcripts', 'steno transcript 1 -o my', 'file'],
    ['a folder for transcripts', 'steno sync --download my', 'folder'],
    ['files', 'steno order --notes-file my', 'file'],
    ['files after =', 'steno order --notes-file=my', 'file'],
  ];

  test.each(lines)('%s', async (_, line, expected) => {
    expect(await offered(line)).toEqual(expected);
    expect(asked).toEqual([]);
  });

  test.each([
    ['an alias', 'steno l', ['list', 'ls']],
    ['the flags of an alias', 'steno ls --into', ['--into']],
    ['a short flag', 'steno list -i my', 'folder'],
  ])('%s', async (_, line, expected) => {
    expect(await offered(line, sampleTree)).toEqual(expected);
  });

  test.each([
    ['profiles', 'steno --profile ', ': profile '],
    ['profiles after the command', 'steno file 1 --profile=', ': profile '],
    ['addresses', 'steno --base-url ', ': base-url '],
    ['files', 'steno file 9 1', ': audiofile 1'],
    ['invoices', 'steno invoice 7 ', ': invoice '],
    ['orders', 'steno wait --order ', ': order '],
    ['attempts', 'steno attempts settle ', ': attempt '],
    ['an event to show', 'steno events show ', ': event '],
    ['events to replay', 'steno events replay 1 ', ': event '],
    ['held orders of the sandbox', 'steno sandbox release ', ': sandbox-held-order '],
    ['ledgers to keep', 'steno config set ledger ', ': ledger '],
    ['accounts to keep', 'steno config --profile x set account ', 'x: account '],
    ['where to copy the ledger', 'steno ledger copy --to ', ': copy-target '],
    ['ids of a profile', 'steno --profile work file 1', 'work: audiofile 1'],
    ['ids of a profile after =', 'steno file --profile=work 1', 'work: audiofile 1'],
    ['ids of the sandbox', 'steno file --sandbox 1', 'sandbox: audiofile 1'],
    [
      'ids of the sandbox, also beside a profile',
      'steno --sandbox --profile x file 1',
      'sandbox: audiofile 1',
    ],
  ])('%s that are looked up', async (_, line, expected) => {
    expect(await offered(line)).toEqual(['123', '145']);
    expect(asked).toEqual([expected]);
  });

  test('flags where no argument is taken', async () => {
    expect(await offered('steno webhook get ')).toEqual(await offered('steno webhook get -'));
    expect(await offered('steno webhook get ')).toContain('--json');
  });

  test('ids after a comma, none twice', async () => {
    expect(await offered('steno list --order=123,1', sampleTree)).toEqual(['123,145']);
    expect(asked).toEqual([': order 1']);
  });
});

describe('bash is told', () => {
  const breaks = ' \t\n"\'><=;|&(:';
  const replies = async (line: string, more: readonly string[] = [breaks], root = tree) =>
    (await ask('bash', [line, ...more], root)).slice(3);

  test.each([
    ['what follows the last word break', 'steno order --sku=TST', ['TSTMP1']],
    ['what follows an open quote', "steno order --sku 'TST", ['TSTMP1']],
    ['what follows an open quote after =', 'steno order --sku="TRANS14,TST', ['TRANS14,TSTMP1']],
    ['all of a word with a closed quote', "steno order --sku 'TRANS14',TST", ['TRANS14,TSTMP1']],
    ['all of a word with a quote closed after =', 'steno order --sku="TRANS14",TST', ['TRANS14,TSTMP1']],
    ['words after quoted blanks', 'steno order --name "A \\" B" --notes \'\' --dry', ['--dry-run']],
    ['words after a URL', 'steno order https://a.b/c?d=e --dry', ['--dry-run']],
    ['nothing else than what is typed', 'steno order --sku trans', []],
  ])('%s', async (_, line, expected) => {
    expect(await replies(line)).toEqual(expected);
  });

  test('the whole word where = breaks none', async () => {
    expect(await replies('steno order --sku=TST', [' \t\n'])).toEqual(['--sku=TSTMP1']);
  });

  test('a blank as the place of the word requires', async () => {
    const state = (typed: string) => replies(`steno list --state ${typed}`, [breaks], sampleTree);
    expect(await state('On')).toEqual(['On\\ Hold']);
    expect(await state("'On")).toEqual(['On Hold']);
    expect(await state('On\\ Hold,Del')).toEqual(['On\\ Hold,Delivered']);
  });

  test('descriptions only where it lists several, cut to the width', async () => {
    expect(await replies('steno webhook ', [breaks, '63', '24'])).toEqual([
      'get  (Show the URL tha',
      'set  (Set the URL that',
      'test  (Request a test ',
    ]);
    expect(await replies('steno webhook g', [breaks, '63', '24'])).toEqual(['get']);
    expect(await replies('steno webhook ', [breaks, '9', '24'])).toEqual(['get', 'set', 'test']);
  });
});

describe('the other shells are told', () => {
  test('all values, which zsh and fish match as their users like', async () => {
    expect(await ask('zsh', ['steno', 'webhook', 'T'])).toEqual([
      'words',
      '',
      'T',
      'get:Show the URL that events are sent to',
      'set:Set the URL that events are sent to',
      'test:Request a test event',
    ]);
    expect((await ask('fish', ['steno', 'webhook', 'T'])).slice(4)).toEqual([
      'set\tSet the URL that events are sent to',
      'test\tRequest a test event',
    ]);
  });

  test('colons and backslashes so that zsh keeps them', async () => {
    const rows = await ask('zsh', ['steno', 'list', '--odd', ''], sampleTree);
    expect(rows[3]).toBe(`$(x) 'y' "z" [a]\\:b\\\\c:it's [odd]\\: $HOME \`x\` \\\\ "q"`);
  });

  test('what PowerShell takes for equal', async () => {
    expect(await ask('powershell', ['steno', 'order', '--sku=trans14,t'])).toEqual([
      'words',
      '--sku=trans14,',
      't',
      'TRANS14\tBudget transcription, target of 14 days',
      'TRANS2\t1-day expert transcription',
      'TRANS6\t6-day transcription',
      'TRANS7\t6-day transcription (the same as TRANS6)',
      'TSTMP1\tTimestamps',
    ]);
  });
});
