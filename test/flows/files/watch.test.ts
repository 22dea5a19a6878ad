import { describe, expect, it } from 'vitest';
import { account, fileAnswer } from '../../support/account.ts';
import { parseCsv } from '../../support/csv.ts';
import { finished } from '../../support/steno.ts';

describe.concurrent('file --watch', () => {
  it('prints an object a line whenever the state changes, and ends when the file ends', async () => {
    const { service, user } = await account();
    service.on(
      'GET /audiofile/1',
      fileAnswer(1, 'Transcribing'),
      fileAnswer(1, 'Transcribing'),
      fileAnswer(1, 'Something New'),
      fileAnswer(1, 'Delivered'),
    );
    const { code, stdout } = await user.run(['file', '1', '--watch', '--interval', '20ms', '--json']);
    expect(code).toBe(0);
    const states = stdout
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { state: string }).state);
    expect(states).toEqual(['Transcribing', 'Something New', 'Delivered']);
    expect(service.got).toHaveLength(4);
  });

  it('watches several until the last one ends, with one header in CSV', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', fileAnswer(1, 'Refunded'));
    service.on('GET /audiofile/2', fileAnswer(2, 'On Hold'), fileAnswer(2, 'Order Cancelled'));
    const { code, stdout } = await user.run([
      'file',
      '1',
      '2',
      '1',
      '--watch',
      '--interval',
      '20ms',
      '--csv',
    ]);
    expect(code).toBe(0);
    expect(parseCsv(stdout).map((row) => row.slice(0, 2))).toEqual([
      ['audiofile', 'state'],
      ['1', 'Refunded'],
      ['2', 'On Hold'],
      ['2', 'Order Cancelled'],
    ]);
    expect(service.calls('GET /audiofile/1')).toHaveLength(1);
  });

  it('goes on when the service fails for a while', async () => {
    const { service, user } = await account();
    const broken = { status: 500 };
    service.on(
      'GET /audiofile/1',
      fileAnswer(1, 'Transcribing'),
      ...[broken, broken, broken, broken, broken],
      fileAnswer(1, 'Delivered'),
    );
    const { code, stdout, stderr } = await user.run([
      'file',
      '1',
      '--watch',
      '--interval',
      '20ms',
      '--quiet',
    ]);
    expect([code, stdout, stderr]).toEqual([0, 'Transcribing\nDelivered\n', '']);
  });

  it('ends at the first failure of a file that it knows nothing of, after the others were shown', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/1', { status: 404 }).on('GET /audiofile/2', fileAnswer(2, 'Transcribing'));
    const { code, stdout } = await user.run(['file', '2', '1', '--watch', '--interval', '1h', '--quiet']);
    expect([code, stdout]).toEqual([4, 'Transcribing\n']);
  });

  it('ends at once on Ctrl-C', async () => {
    const { service, user } = await account();
    service.on('*', fileAnswer(1, 'Transcribing'));
    const child = user.start(['file', '1', '--watch', '--interval', '1h']);
    const end = finished(child);
    await new Promise<void>((done) => void child.stdout.once('data', () => done()));
    child.kill('SIGINT');
    const { code, stdout } = await end;
    expect([code, stdout.split('\t')[1]]).toEqual([130, 'Transcribing']);
  });

  it('ends when its time is over', async () => {
    const { service, user } = await account();
    service.on('GET /audiofile/5', fileAnswer(5, 'On Hold'));
    const { code, stderr } = await user.run([
      'file',
      '5',
      '--watch',
      '--timeout',
      '700ms',
      '--interval',
      '100ms',
    ]);
    expect([code, stderr]).toEqual([6, expect.stringMatching(/still 'On Hold'|in time/)]);
  });
});
