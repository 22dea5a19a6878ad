/** A disk that hangs under the transcripts stops neither the answers nor the end. */
import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { processTree, signalAll } from '../../src/lib/child-processes.ts';
import { account, fileAnswer } from '../support/account.ts';
import { complete, isGone, send } from '../support/listener.ts';
import { hasStrace } from '../support/strace.ts';
import { until } from '../support/until.ts';

const IDS = [1, 2, 3, 4, 5, 6, 7, 8];

describe.runIf(hasStrace)('listen --download to a disk that hangs', () => {
  it.each([
    ['synced', 'fsync'],
    ['named', '/^link(at)?$'],
    ['looked at', '/^(l|new)?f?statx?(at)?$'],
  ])('while a file is %s answers on, and ends at a signal', async (_, call) => {
    const { service, user } = await account();
    const folders = IDS.map((id) => join(user.home, 'd', String(id)));
    for (const [at, id] of IDS.entries()) {
      service.allow(`GET /audiofile/${id}`, fileAnswer(id));
      service.allow(`POST /audiofile/${id}/transcript.txt`, { body: 'Hello.' });
      mkdirSync(folders[at] ?? '', { recursive: true });
    }
    await user.run(['track', ...IDS.map(String)]);
    // Only for the transcripts and their folders, where each such call takes two minutes.
    const hang = ['-f', '-o', '/dev/null', '-e', `trace=${call}`, '-e', `inject=${call}:delay_enter=120s`];
    const line = ['listen', '--port', '0', '--download', 'd', '--name-as', '{id}/t.{ext}'];
    const paths = IDS.flatMap((id, at) => ['-P', folders[at] ?? '', '-P', `d/${id}/t.txt`]);
    const child = spawn('strace', [...hang, ...paths, ...user.program, ...line], {
      cwd: user.home,
      env: user.env,
    });
    let said = '';
    child.stderr.on('data', (chunk) => {
      said += chunk;
    });
    try {
      await until(() => /^listening on \S+$/m.test(said), 'a listener');
      const url = /^listening on (\S+)$/m.exec(said)?.[1] ?? '';
      for (const id of IDS) expect((await send(url, complete(String(id)))).status).toBe(200);
      await sleep(2000);
      for (const id of IDS) expect((await send(url, complete(String(id)))).status).toBe(200);
      const [, listener = 0] = processTree(child.pid ?? 0);
      process.kill(listener, 'SIGTERM');
      await until(() => isGone(listener), 'an end', 20_000);
    } finally {
      signalAll(processTree(child.pid ?? 0), 'SIGKILL');
    }
  });
});
