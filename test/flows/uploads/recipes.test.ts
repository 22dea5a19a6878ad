/** Each upload command that we show, run as it is, with a stand-in for its program. */
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { uploadFile } from '../../../src/flows/uploads/upload.ts';
import { uploadRecipes } from '../../../src/settings/upload-recipes.ts';
import { freshFolder } from '../../support/files.ts';

/** What each program prints for a link; it copies the file to `stored`, and refuses what it does not know. */
const standIns: Readonly<Record<string, string>> = {
  rclone: `case "$1 $#" in
    'copyto 3') cp "$2" "$STORED"; printf %s "$3" > "$STORED.name" ;;
    'link 2') [ "$2" = "$(cat "$STORED.name")" ] && echo "https://link.example/\${2#remote:}" ;;
    *) exit 9 ;; esac`,
  aws: `case "$1 $2 $3 $#" in
    's3 cp --only-show-errors 5') cp "$4" "$STORED"; printf %s "$5" > "$STORED.name" ;;
    's3 presign --expires-in 5') [ "$5" = "$(cat "$STORED.name")" ] && echo "https://s3.example/\${5#s3://}?Expires=$4&Signature=x" ;;
    *) exit 9 ;; esac`,
  gsutil: `[ "$1 $2 $#" = '-q cp 4' ] && cp "$3" "$STORED"`,
  scp: `[ "$1 $#" = '-q 3' ] && case "$3" in host.example:/var/www/audio/*) cp "$2" "$STORED" ;; *) exit 9 ;; esac`,
};

const links: Readonly<Record<string, RegExp>> = {
  rclone: /^https:\/\/link\.example\/bucket\/[0-9a-f]{32}\.mp3$/,
  aws: /^https:\/\/s3\.example\/bucket\/[0-9a-f]{32}\.mp3\?Expires=604800&Signature=x$/,
  gsutil: /^https:\/\/storage\.googleapis\.com\/bucket\/[0-9a-f]{32}\.mp3$/,
  scp: /^https:\/\/host\.example\/audio\/[0-9a-f]{32}\.mp3$/,
};

async function run(
  program: string,
  command: string,
  standIn = standIns[program] ?? '',
): Promise<[string, Buffer]> {
  const folder = freshFolder();
  mkdirSync(join(folder, 'bin'));
  writeFileSync(join(folder, 'bin', program), `#!/bin/sh\n${standIn}\n`);
  chmodSync(join(folder, 'bin', program), 0o755);
  const path = join(folder, `-Town council; $(date) 'No. 5' "ä".mp3`);
  writeFileSync(path, 'the audio\u0000');
  const url = await uploadFile(path, {
    command,
    env: { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, STORED: join(folder, 'stored') },
    timeoutMs: 20_000,
    signal: new AbortController().signal,
    onMessage: () => {},
  });
  return [url, readFileSync(join(folder, 'stored'))];
}

describe.each(uploadRecipes.map((recipe) => [recipe.program, recipe.command] as const))(
  'with %s',
  (program, command) => {
    it('the file is uploaded and its URL printed, whatever its name', async () => {
      const [url, stored] = await run(program, command);
      expect(url).toMatch(links[program] ?? /^$/);
      expect(stored.toString()).toBe('the audio\u0000');
    });

    it('an upload that fails is an error', async () => {
      await expect(run(program, command, 'echo trouble >&2; exit 5')).rejects.toThrow(
        'the upload command failed',
      );
    });
  },
);
