import { formats, meaningOfFormat } from '../catalog/formats.ts';
import { command } from '../cli/command-spec.ts';
import { count, execOptions, flag, list, nameTemplate, text } from '../cli/options.ts';

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
    'The command of --exec gets each new transcript as it gets an event of listen: JSON on stdin, STENO_EVENT_AUDIOFILE ' +
      'and so on in variables; STENO_EVENT_PATH is the full path of the file, STENO_EVENT_FORMAT its format. It runs at ' +
      'least once: until it exits 0, each sync with --exec on this folder runs it again (STENO_EVENT_TRY counts), and ' +
      'downloads the transcript again if it is gone. Two at once run it once. What another command has downloaded to ' +
      'the folder is not new. If all commands failed the exit code is 1, if some did 10.',
  ],
  options: {
    download: text('--download <dir>', 'download each new transcript to this folder', { values: 'folder' }),
    format: list('--format <ext…>', 'with --download, the document types', {
      needs: ['--download'],
      default: 'txt',
      values: formats.map((each) => each.ext),
      meaning: meaningOfFormat,
    }),
    missing: flag('--missing', 'with --download: also what was downloaded before and is not there', {
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
