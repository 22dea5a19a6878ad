import { formats, meaningOfFormat } from '../catalog/formats.ts';
import { command } from '../spec/command.ts';
import { count, execOptions, flag, list, nameTemplate, text } from '../spec/options.ts';

export const sync = command({
  name: 'sync',
  summary: 'Refresh every open file and download what is new',
  about:
    'Asks the service about every open file of the ledger and tells what changed. With --download it downloads each ' +
    'transcript that is new, with --exec it also runs a command for each. Safe to run from cron or CI as often as you ' +
    'like, also twice at once.',
  details: [
    'A transcript is downloaded to a folder once, even if you move it away; a download that failed is tried again the ' +
      'next time. --missing downloads again what is no longer there, as on the fresh disk of a CI job.',
    '--exec runs the command for each new transcript as listen --exec does for an event: JSON on stdin, ' +
      'STENO_EVENT_AUDIOFILE and so on in variables; STENO_EVENT_PATH is the full path of the file, STENO_EVENT_FORMAT its ' +
      'format. After a failure, each later sync --exec on this folder runs it again (STENO_EVENT_TRY counts), and first ' +
      'restores a transcript that is gone. Two at once run it once. Files that another command downloaded there do not ' +
      'count as new. Exit 1 if every command failed, 10 if some did.',
  ],
  options: {
    download: text('--download <dir>', 'download each new transcript to this folder', { values: 'folder' }),
    format: list('--format <ext…>', 'with --download, the document types', {
      needs: ['--download'],
      default: 'txt',
      values: formats.map((each) => each.ext),
      meaning: meaningOfFormat,
    }),
    missing: flag('--missing', 'with --download: also restore transcripts that are gone from the folder', {
      needs: ['--download'],
    }),
    since: text(
      '--since <time>',
      'with --missing: only files ordered or changed since then: 2026-11-01, or 7d ago',
      {
        needs: ['--missing'],
      },
    ),
    exec: text(
      '--exec <command>',
      'with --download: run this for each new transcript, as listen --exec does',
      {
        needs: ['--download'],
      },
    ),
    nameAs: nameTemplate('with --download, the name of each file', { needs: ['--download'] }),
    jobs: count('--jobs <n>', 'how many downloads, or commands of --exec, at once', {
      default: '8',
      max: 64,
    }),
    ...execOptions(),
  },
  examples: [
    ['steno sync', 'what changed'],
    ['steno sync --download transcripts --format txt,docx', 'what is new, in two formats'],
    ['steno sync --download . --quiet | xargs -r ls -l', 'the new files'],
    ['steno sync --download . --missing --since 7d --exec "sh upload.sh"', 'in CI'],
  ],
  load: async () => (await import('./sync.run.ts')).run,
});
