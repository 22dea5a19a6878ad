import { expect, it } from 'vitest';
import { ProcessGroup } from '../../src/lib/child-processes.ts';

const group = (command: string): ProcessGroup =>
  new ProcessGroup({ command, env: { PATH: process.env.PATH }, hasInput: false });

it('commands that are told to end at every chunk they print tell how they ended', async () => {
  const ends = Array.from({ length: 60 }, () => {
    const endless = group('yes');
    endless.stdout.on('data', () => endless.end());
    return endless.ended;
  });
  for (const end of await Promise.all(ends)) expect(end).toEqual({ code: 143, killedBy: null });
});

it('a command that is told to end while it ends by itself has one exit code', async () => {
  const ends = Array.from({ length: 60 }, (_, delay) => {
    const short = group('exit 7');
    setTimeout(() => short.end(), delay);
    return short.ended;
  });
  for (const { code } of await Promise.all(ends)) expect([7, 143]).toContain(code);
});
