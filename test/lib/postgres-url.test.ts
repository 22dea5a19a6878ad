import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { StenoError } from '../../src/lib/errors.ts';
import { readPostgresUrl, shownPostgresUrl } from '../../src/lib/postgres-url.ts';

describe('the URL of a shared ledger', () => {
  it('names user, host and database', () => {
    const address = readPostgresUrl('postgres://ann@db.example:6432/work', {});
    expect(address).toMatchObject({ user: 'ann', host: 'db.example', port: 6432, database: 'work' });
    expect(address).toMatchObject({ schema: 'steno', tls: 'verified', password: undefined });
  });

  it("takes what it leaves out from libpq's variables", () => {
    const env = { PGHOST: 'db.example', PGPORT: '6432', PGUSER: 'ann', PGPASSWORD: 'pw', PGDATABASE: 'work' };
    expect(readPostgresUrl('postgres://', env)).toMatchObject({
      ...{ host: 'db.example', port: 6432, user: 'ann', password: 'pw', database: 'work' },
    });
    expect(readPostgresUrl('postgresql://bob@other/', env)).toMatchObject({ host: 'other', user: 'bob' });
  });

  it('never takes a bare DATABASE_URL or another tool’s variables', () => {
    const address = readPostgresUrl('postgres://ann@h/', { DATABASE_URL: 'postgres://x:y@z/w' });
    expect(address).toMatchObject({ host: 'h', password: undefined, database: 'ann' });
  });

  it.each([
    ['postgres://a@localhost/', 'off'],
    ['postgres://a@[::1]/', 'off'],
    ['postgres://a@/?host=/run/postgresql', 'off'],
    ['postgres://a@localhost/?sslmode=require', 'verified'],
    ['postgres://a@db.example/', 'verified'],
    ['postgres://a@db.example/?sslmode=prefer', 'verified'],
    ['postgres://a@db.example/?sslmode=require', 'verified'],
    ['postgres://a@db.example/?sslmode=no-verify', 'unverified'],
    ['postgres://a@db.example/?sslmode=disable', 'off'],
  ])('verifies the certificate off this machine: %s', (url, tls) => {
    expect(readPostgresUrl(url, {}).tls).toBe(tls);
  });

  it.each([
    'mysql://a@h/d',
    'https://a@h/d',
    '/var/ledger.db',
    'postgres://a@h/d?sslmod=disable',
    'postgres://a@h/d?sslmode=maybe',
    'postgres://a@h/d?options=-csearch_path%3Dx',
    'postgres://a@h:99999/d',
    'postgres://a@h/d?port=0',
    'postgres://a@h/d/e',
    'postgres://a@one,two/d',
    'postgres://a:p%zz@h/d',
    'postgres://a@h/d#x',
    'postgres://a@h/d?schema=pg_catalog',
    'postgres://a@h/d?schema=x%22;drop',
    'postgres://h/d',
  ])('refuses %s', (url) => {
    expect(() => readPostgresUrl(url, {})).toThrow(StenoError);
  });

  it('gives back user, password and database of any characters', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((each) => !/[/\0]/.test(each));
    fc.assert(
      fc.property(text, text, text, (user, password, database) => {
        const parts = [user, password, database].map(encodeURIComponent);
        const url = `postgres://${parts[0]}:${parts[1]}@h/${parts[2]}`;
        // A dot is a path part of its own.
        fc.pre(database !== '.' && database !== '..');
        expect(readPostgresUrl(url, {})).toMatchObject({ user, password, database });
        const shown = new URL(shownPostgresUrl(url));
        expect([shown.username, shown.password]).toEqual([new URL(url).username, '']);
      }),
    );
  });

  it('never repeats the text of a URL that it refuses', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z0-9:@/%?=&#,]{0,30}$/), (rest) => {
        const url = `postgres://ann:secret-pw@${rest}`;
        try {
          readPostgresUrl(url, {});
        } catch (error) {
          expect(error).toBeInstanceOf(StenoError);
          expect(`${(error as StenoError).message} ${(error as StenoError).hint}`).not.toContain('secret-pw');
        }
      }),
    );
  });
});
