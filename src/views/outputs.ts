/**
 * What each command prints: the schema of its --json, and the columns of its CSV and of its rows. Loaded by
 * `steno schema`, `steno commands` and help pages alone.
 */

import { formatRecord, skuRecord, stateRecord } from './catalog.ts';
import { commandsSchema } from './command-index.ts';
import { eventRecord, eventSchema, replayedRecord, shownEventSchema } from './events.ts';
import { changeRecord, fileRecord } from './files.ts';
import { accountRecord, importedRecord, prunedRecord, statusSchema } from './ledger.ts';
import { balanceRecord, budgetRecord, budgetsSchema, invoiceColumns, invoiceRecord } from './money.ts';
import { ignoredRecord, orderRecord, plannedRecord, planSchema } from './orders.ts';
import { attemptRecord, logRecord, settledRecord } from './purchases.ts';
import { errorMembers, errorSchema, optionalErrorMembers, type RecordColumn } from './record.ts';
import { reportColumns, reportSchema } from './report.ts';
import { anything, arrayOf, described, maybeText, object, type Schema, text } from './schema.ts';
import { completionRecord, doctorRecord, webhookRecord } from './setup.ts';
import { savedRecord, syncRecord } from './transcripts.ts';

export interface CommandOutput {
  /** What --json prints. */
  readonly schema: Schema;
  /** It prints one such document a line, as they come. */
  readonly lines?: boolean;
  /** Of CSV and of rows. */
  readonly columns: readonly RecordColumn[];
}

const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: [...schemas] });

const failed = (...names: readonly string[]): Schema => {
  const subject = Object.fromEntries(names.map((name) => [name, text]));
  return described('in the place of one that failed', object({ ...subject, error: errorSchema }));
};

const file = described('a file', fileRecord.schema);
const oneFile = described('for a single id', file);
const severalFiles = described('for several ids, or where the line does not say which', arrayOf(file));

const saved = described('a transcript', savedRecord.schema);

const oneOrSeveral = (one: Schema, name: string): Schema =>
  anyOf(
    described('for a single id', one),
    described('for several ids, in the order asked', arrayOf(anyOf(one, failed(name)))),
  );

const orderSchema = anyOf(
  described(
    'one element a file. `answer` is that to the order; with --wait and --download, that about the file',
    arrayOf(file),
  ),
  described('with --dry-run', planSchema),
);

const setting = object({ value: maybeText, source: text });
const settings: Schema = { type: 'object', additionalProperties: setting };
const shownSettings = { profile: text, base_url: maybeText, api_key: described('masked', maybeText) };
const whoamiMembers = {
  ...shownSettings,
  ledger: described('the address of a shared one, or the path of the file', text),
  account: described('whose orders these are, in a shared ledger', text),
  budget: described('of the settings; steno budget tells that of the ledger', maybeText),
};
const whoamiSchema = object({
  ...whoamiMembers,
  sources: described(
    'where each of them came from',
    object(Object.fromEntries(Object.keys(whoamiMembers).map((name) => [name, text]))),
  ),
});
const settingColumns = columns({
  setting: 'its name',
  value: 'empty where it is not set; a key is masked',
  source: 'where it came from',
});
const changedSetting = object({
  profile: text,
  setting: text,
  value: described('null after unset; a key is masked', maybeText),
});
const writtenFile = object({ path: described('of the file', text) });
const movedFiles = arrayOf(object({ audiofile: text, state: text }));
const movedColumns = columns({ audiofile: "the file's id", state: 'the state now' });
const changeOutput = of(oneOrSeveral(changeRecord.schema, 'audiofile'), changeRecord.columnHelp);
const webhookOutput = of(webhookRecord.schema, webhookRecord.columnHelp);
const completionOutput = of(arrayOf(completionRecord.schema), completionRecord.columnHelp);
const importOutput = of(arrayOf(importedRecord.schema), importedRecord.columnHelp);

function columns(all: Readonly<Record<string, string>>): RecordColumn[] {
  return Object.entries(all).map(([name, help]) => ({ name, help }));
}

function of(schema: Schema, shown: readonly RecordColumn[] = []): CommandOutput {
  return { schema, columns: shown };
}

/** By the path of the command: `events show`. */
export const outputs: Readonly<Record<string, CommandOutput>> = {
  order: of(orderSchema, orderRecord.columnHelp),
  'order --dry-run': of(planSchema, plannedRecord.columnHelp),
  attempts: of(arrayOf(attemptRecord.schema), attemptRecord.columnHelp),
  'attempts settle': of(settledRecord.schema, settledRecord.columnHelp),
  ignore: of(arrayOf(ignoredRecord.schema), ignoredRecord.columnHelp),
  files: of(arrayOf(file), fileRecord.columnHelp),
  file: of(anyOf(oneFile, severalFiles), fileRecord.columnHelp),
  track: of(anyOf(oneFile, severalFiles), fileRecord.columnHelp),
  wait: of(anyOf(oneFile, severalFiles), fileRecord.columnHelp),
  transcript: of(arrayOf(anyOf(saved, failed('audiofile', 'format'))), savedRecord.columnHelp),
  sync: of(arrayOf(anyOf(saved, failed('audiofile', 'format'), failed('audiofile'))), syncRecord.columnHelp),
  upgrade: changeOutput,
  refund: changeOutput,
  balance: of(balanceRecord.schema, balanceRecord.columnHelp),
  invoice: of(oneOrSeveral(invoiceRecord.schema, 'invoice'), invoiceColumns),
  report: of(anyOf(reportSchema, described('with --html', writtenFile)), reportColumns),
  budget: of(budgetsSchema, budgetRecord.columnHelp),
  'budget set': of(object({ budget: text })),
  'budget unset': of(object({ budget: maybeText })),
  log: of(arrayOf(logRecord.schema), logRecord.columnHelp),
  listen: { ...of(eventSchema, eventRecord.columnHelp.slice(0, -1)), lines: true },
  events: of(
    anyOf(arrayOf(eventSchema), described('with --follow, one a line', eventSchema)),
    eventRecord.columnHelp,
  ),
  'events show': of(
    shownEventSchema,
    columns({ name: 'as in its JSON: n, received_at, fields.order', value: 'as text' }),
  ),
  'events replay': of(arrayOf(replayedRecord.schema), replayedRecord.columnHelp),
  'webhook get': webhookOutput,
  'webhook set': webhookOutput,
  'webhook test': webhookOutput,
  login: of(object({ profile: text, path: described('of the config file', text) })),
  logout: of(object({ profile: text })),
  whoami: of(whoamiSchema, settingColumns),
  'config list': of(settings, settingColumns),
  'config get': of(
    object({ setting: text, value: text, source: text }),
    columns({ value: 'of the setting' }),
  ),
  'config set': of(changedSetting),
  'config unset': of(changedSetting),
  'config path': of(object({ path: text }), columns({ path: 'of the config file' })),
  doctor: of(arrayOf(doctorRecord.schema), doctorRecord.columnHelp),
  'ledger status': of(statusSchema, columns({ name: 'of the fact', value: 'as text' })),
  'ledger migrate': of(object({ migrations: arrayOf(text) }), columns({ migrations: 'that were made' })),
  'ledger copy': importOutput,
  'ledger import': importOutput,
  'ledger export': of(described('with -o; without it, the lines of the export', writtenFile)),
  'ledger prune': of(prunedRecord.schema, prunedRecord.columnHelp),
  'ledger account': of(accountRecord.schema, accountRecord.columnHelp),
  skus: of(arrayOf(skuRecord.schema), skuRecord.columnHelp),
  states: of(arrayOf(stateRecord.schema), stateRecord.columnHelp),
  formats: of(arrayOf(formatRecord.schema), formatRecord.columnHelp),
  sandbox: of(
    object({ base_url: text, api_key: text }),
    columns({ base_url: 'its address', api_key: 'its made-up key, which is no secret' }),
  ),
  'sandbox reset': of(object({ profile: text })),
  'sandbox release': of(movedFiles, movedColumns),
  'sandbox advance': of(movedFiles, movedColumns),
  api: of(described("the service's answer, as it came", anything)),
  'completion install': completionOutput,
  'completion uninstall': completionOutput,
  commands: of(
    commandsSchema,
    columns({ command: 'its name', effect: 'what running it may do', summary: 'what it is for' }),
  ),
  schema: of(anyOf({ type: 'object' }, arrayOf(object({ schema: text })))),
};

const event = described('a delivery that could not be kept: all of it', { type: 'object' });

/** What stderr has under --json, a line each. */
export const messages: Readonly<Record<string, Schema>> = {
  error: object({
    error: object(
      {
        ...errorMembers,
        failures: described(
          'of a command for many: each that failed',
          arrayOf(object({ what: text, ...errorMembers }, optionalErrorMembers)),
        ),
      },
      [...optionalErrorMembers, 'failures'],
    ),
  }),
  warning: object({ warning: object({ message: text, hint: text, event }, ['hint', 'event']) }),
};

export const schemaNames: readonly string[] = [...Object.keys(outputs), ...Object.keys(messages)];

/** The schema of a command, of `error` or of `warning`. */
export function schemaOf(name: string): Schema | undefined {
  const output = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
  const schema = output?.schema ?? (Object.hasOwn(messages, name) ? messages[name] : undefined);
  if (!schema) return undefined;
  const title = output
    ? `steno ${name} --json${output.lines ? ', each line' : ''}`
    : `a line of stderr with --json`;
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schema };
}
