/** What a person is told of a ledger that was copied into a shared one, and of one whose copy broke off. */
import { describe, expect, it } from 'vitest';
import { movedError, movedNotice } from '../../src/ledger/moved.ts';
import { timeAgo } from '../../src/lib/time.ts';

const whole = {
  to: 'postgres://steno@db.example/our%20ledger',
  identity: 'steno on db.example',
  account: 'team',
  at: '2026-03-04T05:06:07.000Z',
};
const broken = { ...whole, unfinished: true };
const gone = 'if it is lost for good: steno ledger copy --to local --without-shared';

describe('a ledger that has moved', () => {
  it('is not ordered with: the error says how to go on, and how to come back', () => {
    const error = movedError(whole);
    expect(error.message).toBe(
      `this ledger moved to ${whole.to} ${timeAgo(whole.at)}: it takes no more orders`,
    );
    expect(error.hint).toBe(
      `use the shared one: steno config set ledger '${whole.to}' && steno config set account team; ` +
        `or move back: STENO_LEDGER='${whole.to}' STENO_ACCOUNT=team steno ledger copy --to local; ${gone}`,
    );
    expect(error.exitCode).toBe(2);
  });

  it('is read with a notice that it may be behind', () => {
    expect(movedNotice(whole)).toEqual([`this ledger moved to ${whole.to}: it does not know later orders`]);
  });
});

describe('a ledger whose copy broke off', () => {
  const text = `the copy of this ledger to ${whole.to} was interrupted ${timeAgo(whole.at)}: neither ledger takes orders until it is finished`;
  const hint = `finish it with the same settings: steno ledger copy --to '${whole.to}'; ${gone}`;

  it('is not ordered with, nor left for the shared one, before the copy is finished', () => {
    const error = movedError(broken);
    expect([error.message, error.hint]).toEqual([text, hint]);
  });

  it('says so as well where it is only read', () => {
    expect(movedNotice(broken)).toEqual([text, hint]);
  });
});
