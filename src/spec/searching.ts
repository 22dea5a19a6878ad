/** What `search`, `quote` and `check` share: filters, where the index is, and reports for CI servers. */
import { accountName } from '../lib/names.ts';
import { searchIndexPath } from '../settings/paths.ts';
import { reportFormMeanings, reportForms } from '../views/reports.ts';
import type { Context } from './context.ts';
import { makeStateFolder } from './ledgers.ts';
import { list, text } from './options.ts';

export const filterOptions = () => ({
  file: list('--file <id…>', 'only transcripts of these files', { values: 'audiofile' }),
  order: text('--order <id>', 'only files of this order', { values: 'order' }),
  tag: text('--tag <text>', 'only files with this tag'),
  feed: text('--feed <title|url>', 'only episodes of this feed'),
  speaker: text('--speaker <name>', 'only what this speaker says; a part of the name is enough'),
  since: text('--since <time>', 'only transcripts downloaded since this time: 2026-11-01, yesterday or 30d'),
});

export const reportOption = (start = '', needs: readonly string[] = []) =>
  text('--report <form>', `${start}print a report for a CI server: github, sarif or junit`, {
    ...{ values: reportForms, meaning: (form) => reportFormMeanings[form] ?? '' },
    ...{ needs, excludes: ['--json', '--csv', '--markdown', '--columns', '--quiet'] },
  });

/** A shared ledger is always asked: nothing tells that it is unchanged. */
export async function searchPlaceOf({ ledgers, settings, globals, env, signal }: Context, command: string) {
  const place = { path: searchIndexPath(makeStateFolder(env)), signal };
  const openLedger = () => ledgers.required(`${command} reads the ledger`);
  if (ledgers.sharedUrl === undefined && globals.ledger)
    return {
      ...place,
      openLedger,
      ledgerPath: ledgers.localPath,
      profile: accountName(settings.profileName),
    };
  const { profile, db } = await openLedger();
  return { ...place, openLedger, ledgerPath: undefined, profile: `${profile} ${db.identity}` };
}
