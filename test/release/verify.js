// Builds the package twice, in two folders of different names and depths, and compares the bytes of the tarballs.
// Run it with `npm run verify`; it takes the last commit, not what is changed since.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = mkdtempSync(join(tmpdir(), 'steno-verify-'));
const quiet = ['--loglevel=error', '--no-audit', '--no-fund', '--no-update-notifier', '--prefer-offline'];

function tarballOf(folder) {
  mkdirSync(folder, { recursive: true });
  execFileSync('tar', ['-x', '-C', folder], { input: execFileSync('git', ['archive', 'HEAD'], unlimited) });
  const npm = (...args) =>
    execFileSync('npm', [...args, ...quiet], { cwd: folder, stdio: 'pipe' }).toString();
  npm('ci');
  const [{ filename }] = JSON.parse(npm('pack', '--json').replace(/^[^[]*/, ''));
  const bytes = readFileSync(join(folder, filename));
  return { filename, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}

const unlimited = { maxBuffer: Number.POSITIVE_INFINITY };

try {
  const first = tarballOf(join(root, 'one'));
  const second = tarballOf(join(root, 'another place', 'with', 'a longer path'));
  for (const { filename, bytes, sha256 } of [first, second])
    console.log(`${sha256}  ${filename}  ${bytes} bytes`);
  const same = first.sha256 === second.sha256;
  console.log(same ? 'the same bytes twice' : 'the two builds differ');
  process.exitCode = same ? 0 : 1;
} finally {
  rmSync(root, { recursive: true, force: true });
}
