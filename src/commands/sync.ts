import { checkFormats } from '../catalog/check.ts';
import { raiseTallies, type Tally } from '../flows/bulk.ts';
import { type Change, type SyncCallbacks, syncFiles } from '../flows/files/sync.ts';
import { checkFolder, checkTemplate } from '../flows/transcripts/name.ts';
import type { Saved } from '../flows/transcripts/save.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { errorMessage, usage } from '../lib/errors.ts';
import { goOnHint, untilInterrupted } from '../lib/interruption.ts';
import { shellWord } from '../lib/text.ts';
import { nowMs, parseSince } from '../lib/time.ts';
import type { ExecOptions } from '../listen/exec.ts';
import { handOver } from '../listen/hand-over.ts';
import { movedNote, moveLeftInto } from '../listen/waiting-events.ts';
import { command, SEVERAL_EXITS } from '../spec/command.ts';
import type { Context } from '../spec/context.ts';
import { count, downloadOptions, execOptions, flag, type OptionValues, text } from '../spec/options.ts';
import type { Output } from '../ui/output.ts';
import { whileWorking } from '../ui/progress.ts';
import { printed } from '../views/record.ts';
import {
  notSyncedView,
  type SyncRow,
  savedLine,
  savedList,
  skippedWarnings,
  syncedView,
  syncRecord,
  syncTables,
} from '../views/transcripts.ts';

const { format, nameAs } = downloadOptions();

const options = {
  download: text('--download <dir>', 'download each new transcript to this folder', {
    values: 'folder',
    effect: 'local',
  }),
  format,
  missing: flag('--missing', 'with --download, also restore transcripts that are gone from the folder', {
    needs: ['--download'],
  }),
  since: text(
    '--since <time>',
    'with --missing, only files ordered or changed since this time: 2026-11-01, yesterday or 7d',
    {
      needs: ['--missing'],
    },
  ),
  exec: text(
    '--exec <command>',
    'with --download, run this command for each new transcript, as listen --exec does',
    {
      effect: 'exec',
      needs: ['--download'],
    },
  ),
  nameAs,
  jobs: count('--jobs <n>', 'number of downloads or --exec commands at once', {
    default: '8',
    max: 64,
  }),
  ...execOptions(),
};

type SyncOptions = OptionValues<typeof options>;

export const sync = command({
  name: 'sync',
  summary: 'Refresh open files and download new transcripts',
  about:
    'Asks the service about every open file in the ledger and reports changes. With --download, downloads each ' +
    'new transcript; with --exec, also runs a command for each. Safe to run from cron or CI as often as you like, ' +
    'even twice at once.',
  details: [
    'Each transcript is downloaded to a folder once, even if you move it away; a failed download is retried next ' +
      'time. --missing downloads a transcript again if it is no longer there, for example on the fresh disk of a CI ' +
      'job.',
    '--exec runs the command as listen --exec does: JSON on stdin, and variables such as STENO_EVENT_AUDIOFILE. ' +
      'STENO_EVENT_PATH is the full path of the transcript, STENO_EVENT_FORMAT its format, ' +
      'STENO_EVENT_SOURCE_PATH the local recording that it was made from. If the command fails, ' +
      'each later sync --exec on this folder runs it again (STENO_EVENT_TRY counts the tries), after restoring the ' +
      'transcript if it is gone. Even if two syncs run at once, the command runs once. Transcripts that another ' +
      'command downloaded to the folder do not count as new. Exits with 1 if every command failed, with 10 if some ' +
      'did.',
  ],
  options,
  examples: [
    ['steno sync', 'show what changed'],
    ['steno sync --download transcripts --format txt,docx', 'download new transcripts in two formats'],
    ['steno sync --download . --quiet | xargs -r ls -l', 'list the new files'],
    ['steno sync --download . --missing --since 7d --exec "sh upload.sh"', 'in CI'],
  ],
  effect: 'read',
  exits: SEVERAL_EXITS,
  output: () => printed(savedList('audiofile'), syncRecord.columnHelp),
  async run(context, { options, line }) {
    const { out, signal } = context;
    const formats = checkFormats(options.format, options.nameAs);
    const { download: folder, nameAs: template, jobs, since } = options;
    if (folder !== undefined) checkFolder(folder, (text) => out.note(text));
    checkTemplate(options.nameAs, formats);
    const missingSince = since === undefined ? '' : parseSince(since, nowMs());
    const exec = await execOf(context, options);
    const ledger = await context.ledgers.required('sync works from the ledger');
    await moveLeftEvents(context, ledger);
    await context.ledgers.warnOfLittleRoom();
    const transport = await context.connect({ connections: options.jobs });
    const target = {
      ...{ folder, formats, template, jobs, forCommand: exec !== undefined },
      missingSince: options.missing ? missingSince : undefined,
    };
    const news = new News(out, exec !== undefined);
    try {
      const summary = () => ({ done: news.toString(), hint: goOnHint('resume with', line) });
      const { onChecked, onChange, onSaved, onHandedOver } = news;
      const [asked, ...ofTranscripts] = await untilInterrupted(signal, summary, () =>
        whileWorking(out, 'Checking', async (report): Promise<[Tally, ...Tally[]]> => {
          const { refreshed, downloaded } = await context.ledgers.whileNoting(ledger, (notes) =>
            syncFiles(transport, ledger, notes, target, { onChecked, onChange, onSaved, report }),
          );
          if (!exec || folder === undefined) return [refreshed, ...downloaded];
          const handed = await handOver({ ledger, folder, exec, signal, report, onHandedOver });
          // A transcript counts once, with its command. Where no command worked, nothing has.
          const none = handed.length > 0 && handed.every(({ failed, total }) => failed.length === total);
          return [
            none ? refreshed.onlyFailed : refreshed,
            ...downloaded.map((each) => each.onlyFailed),
            ...handed,
          ];
        }),
      );
      news.onFailures(asked, ofTranscripts);
      await news.show();
      out.note(news.toString('open'));
      raiseTallies([asked, ...ofTranscripts]);
    } catch (error) {
      // What is done is told, also where the rest was broken off.
      if (signal.aborted || !news.isEmpty) await news.show();
      throw error;
    }
  },
});

/** The command of --exec, and what it may take. */
async function execOf(context: Context, options: SyncOptions): Promise<ExecOptions | undefined> {
  const { exec: command, execWithKey, execTimeout: timeoutMs, jobs } = options;
  if (command === undefined) return undefined;
  if (!command.trim()) throw usage('--exec requires a command');
  const key = execWithKey ? (await context.requireKey()).value : undefined;
  return {
    command,
    env: context.env,
    key,
    timeoutMs,
    jobs,
    onOutput: (lines) => context.out.stderr.passOn(lines),
  };
}

/** What a listener that broke off has received is of use only once it is in the ledger. */
async function moveLeftEvents(context: Context, ledger: Ledger): Promise<void> {
  const { out, signal } = context;
  const warn = (text: string): void => void out.warn(text);
  try {
    const waiting = await context.ledgers.waiting();
    const moved = await moveLeftInto(ledger, { waiting, signal, onWarning: warn });
    if (moved > 0) out.note(movedNote(moved));
  } catch (error) {
    warn(`can't move events of earlier listeners into the ledger: ${errorMessage(error)}`);
  }
}

/** Replaces the very file: without `-o` another would be written. */
function replacingLine(saved?: Saved, ...more: readonly Saved[]): string {
  if (!saved || more.length) return 'steno transcript <id> --format <ext> -o <path> --force';
  const { id, ext, path } = saved;
  return `steno transcript ${shellWord(id)} --format ${ext} -o ${shellWord(path)} --force`;
}

/** More would fill the screen of a user whose disk is full. */
const MAX_DONE_LINES = 1000;

/** Prints what is new as it comes; for people it is gathered, and shown at the end. */
class News implements Omit<SyncCallbacks, 'report'> {
  readonly #rows: SyncRow[] = [];
  readonly #keptDrafts: Saved[] = [];
  /** Files under the name of a transcript that we did not write. */
  readonly #foreign: Saved[] = [];
  readonly #out: Output;
  #isShown = false;
  checked = 0;
  changed = 0;
  downloaded = 0;
  /** Transcripts that a command got, and those that another `sync` sees to; absent where there is no command. */
  readonly #handed: { ours: number; others: number } | undefined;

  constructor(out: Output, runsCommand: boolean) {
    this.#out = out;
    this.#handed = runsCommand ? { ours: 0, others: 0 } : undefined;
  }

  get isEmpty(): boolean {
    return this.changed + this.downloaded === 0;
  }

  toString(checked = 'checked'): string {
    const { ours = 0, others = 0 } = this.#handed ?? {};
    return [
      `${this.checked} ${checked}, ${this.changed} changed, ${this.downloaded} downloaded`,
      ...(this.#handed ? [`${ours} handed over`] : []),
      ...(others ? [`${others} left for another sync`] : []),
    ].join(', ');
  }

  readonly onChecked = (): void => {
    this.checked += 1;
  };

  readonly onChange = (change: Change): void => {
    this.changed += 1;
    this.#add({ change });
  };

  readonly onHandedOver = (byUs: boolean): void => {
    if (this.#handed) this.#handed[byUs ? 'ours' : 'others'] += 1;
  };

  readonly onSaved = (saved: Saved): void => {
    if (saved.isDraft) this.#keptDrafts.push(saved);
    else if (saved.unidentified) this.#foreign.push(saved);
    if (saved.skipped) return;
    this.downloaded += 1;
    if (this.downloaded <= MAX_DONE_LINES) this.#out.addDone(...savedLine([saved]));
    if (this.downloaded === MAX_DONE_LINES + 1)
      this.#out.addDone('more transcripts were saved after these; see: steno files');
    this.#add({ saved });
  };

  #add(row: SyncRow): void {
    if (this.#out.isBrief) this.#rows.push(row);
    else this.#out.add(syncedView(row));
  }

  /** In JSON each is an element; in rows they are told on stderr. */
  readonly onFailures = (asked: Tally, ofTranscripts: readonly Tally[]): void => {
    if (!this.#out.mode.json) return;
    for (const failure of asked.failed) this.#out.add(notSyncedView(failure, false));
    for (const { failed } of ofTranscripts)
      for (const failure of failed) this.#out.add(notSyncedView(failure, true));
  };

  async show(): Promise<void> {
    if (this.#isShown) return;
    this.#isShown = true;
    if (this.#out.isBrief) await this.#out.showPages(syncTables(this.#rows));
    else this.#out.end(syncedView());
    for (const saved of this.#keptDrafts)
      await this.#out.warn(
        `${saved.path} is a draft from before the delivery, and was changed; left unchanged`,
        `replace it with: ${replacingLine(saved)}`,
      );
    const hint = `steno did not write it: move it away, or replace it with: ${replacingLine(...this.#foreign)}`;
    for (const each of skippedWarnings(this.#foreign, hint)) await this.#out.warn(...each);
  }
}
