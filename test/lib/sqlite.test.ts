import fs, { existsSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { type Database, type Migration, openDatabase } from '../../src/lib/sqlite.ts';
import { freshFolder, modeOf } from '../support/files.ts';
import { isInUse } from '../support/locks.ts';

const one: Migration = {
  name: '001',
  sql: 'CREATE TABLE a (id TEXT PRIMARY KEY); CREATE TABLE b (a TEXT REFERENCES a (id))',
};
const two: Migration = { name: '002', sql: "INSERT INTO a VALUES ('x')" };

async function opened(path: string, ...migrations: Migration[]): Promise<Database> {
  const db = await openDatabase(path, migrations);
  onTestFinished(() => {
    try {
      db.close();
    } catch {}
  });
  return db;
}

describe('a database', () => {
  it('gets the migrations it lacks, each once and in order', async () => {
    const path = join(freshFolder(), 'x.db');
    (await opened(path, one)).close();
    (await opened(path, one, two)).close();
    const db = await opened(path, one, two);
    expect(db.all('SELECT id FROM a')).toEqual([expect.objectContaining({ id: 'x' })]);
    expect(
      db.all<{ name: string }>('SELECT name FROM migrations ORDER BY name').map(({ name }) => name),
    ).toEqual(['001', '002']);
  });

  describe('on a disk without hard links', () => {
    beforeEach(() => {
      const { linkSync } = fs;
      fs.linkSync = () => {
        throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
      };
      syncBuiltinESMExports();
      onTestFinished(() => {
        fs.linkSync = linkSync;
        syncBuiltinESMExports();
      });
    });

    const ownFiles = (folder: string): string[] =>
      readdirSync(folder).filter((name) => !/-(wal|shm)$/.test(name));

    it('gets its name at once, with all its tables, and leaves nothing beside it', async () => {
      const folder = freshFolder();
      const path = join(folder, 'x.db');
      const { renameSync } = fs;
      const steps: unknown[] = [];
      fs.renameSync = (from, to) => {
        steps.push([existsSync(path), statSync(from).size > 0, to]);
        renameSync(from, to);
      };
      syncBuiltinESMExports();
      onTestFinished(() => {
        fs.renameSync = renameSync;
        syncBuiltinESMExports();
      });
      const db = await opened(path, one, two);
      expect(steps).toEqual([[false, true, path]]);
      expect(db.all('SELECT id FROM a')).toEqual([expect.objectContaining({ id: 'x' })]);
      expect([ownFiles(folder), modeOf(path)]).toEqual([['x.db'], '600']);
    });

    it('never replaces one that another process has made meanwhile', async () => {
      const folder = freshFolder();
      const path = join(folder, 'x.db');
      const { linkSync } = fs;
      // At this moment another process is faster.
      let made = 0;
      fs.linkSync = (from, to) => {
        writeFileSync(path, readFileSync(from));
        made = statSync(path).ino;
        linkSync(from, to);
      };
      syncBuiltinESMExports();
      await opened(path, one);
      expect(statSync(path).ino).toBe(made);
      expect(ownFiles(folder)).toEqual(['x.db']);
    });
  });

  it('gets none of them if one fails', async () => {
    const path = join(freshFolder(), 'x.db');
    await expect(openDatabase(path, [one, { name: '002', sql: 'NONSENSE' }])).rejects.toMatchObject({
      kind: 'failed',
    });
    const db = await opened(path, one, two);
    expect(db.get('SELECT id FROM a')).toBeDefined();
  });

  it('of a newer program is refused and left as it was', async () => {
    const path = join(freshFolder(), 'x.db');
    (await opened(path, one, two)).close();
    const before = readFileSync(path);
    await expect(openDatabase(path, [one])).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining("'002'"),
      hint: expect.stringContaining('update'),
    });
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it.skipIf(process.platform === 'win32')('is private, with its folder and the files beside it', async () => {
    const folder = join(freshFolder(), 'state', 'steno');
    const path = join(folder, 'x.db');
    const db = await opened(path, one);
    db.run("INSERT INTO a VALUES ('y')");
    expect(modeOf(folder)).toBe('700');
    const files = readdirSync(folder);
    expect(files.length).toBeGreaterThan(1);
    for (const file of files) expect(modeOf(join(folder, file))).toBe('600');
  });

  it('keeps its lock while it is opened a second time and closed again', async () => {
    const path = join(freshFolder(), 'x.db');
    await opened(path, one);
    expect(isInUse(path)).toBe(true);
    const second = await opened(path, one);
    expect(isInUse(path)).toBe(true);
    second.close();
    expect(isInUse(path)).toBe(true);
  });

  it('that is damaged is reported with its path and never overwritten', async () => {
    const path = join(freshFolder(), 'x.db');
    const junk = 'this was never a database. '.repeat(200);
    writeFileSync(path, junk);
    await expect(openDatabase(path, [one])).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringContaining(path),
      hint: expect.any(String),
    });
    expect(readFileSync(path, 'utf8')).toBe(junk);
  });

  it('that was cut short is reported with its path', async () => {
    const path = join(freshFolder(), 'x.db');
    const db = await opened(path, one);
    for (let n = 0; n < 500; n += 1) db.run('INSERT INTO a VALUES (?)', `${n}`.padEnd(100, '.'));
    db.close();
    truncateSync(path, 8192);
    const look = async (): Promise<unknown> => (await opened(path, one)).all('SELECT * FROM a');
    await expect(look()).rejects.toMatchObject({ kind: 'failed', message: expect.stringContaining(path) });
  });

  it('that is a folder is reported with its path', async () => {
    const folder = freshFolder();
    await expect(openDatabase(folder, [one])).rejects.toMatchObject({
      message: expect.stringContaining(folder),
    });
  });

  it('undoes a transaction that fails, and keeps one that does not', async () => {
    const db = await opened(':memory:', one);
    expect(() =>
      db.transaction(() => {
        db.run("INSERT INTO a VALUES ('gone')");
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(db.transaction(() => db.run("INSERT INTO a VALUES ('kept')"))).toBe(1);
    expect(db.all<{ id: string }>('SELECT id FROM a').map(({ id }) => id)).toEqual(['kept']);
  });

  it('keeps foreign keys, write-ahead logging and a busy timeout', async () => {
    const db = await opened(join(freshFolder(), 'x.db'), one);
    expect(() => db.run("INSERT INTO b VALUES ('nobody')")).toThrow(/FOREIGN KEY/);
    expect(db.get('PRAGMA journal_mode')).toMatchObject({ journal_mode: 'wal' });
    expect(db.get<{ timeout: number }>('PRAGMA busy_timeout')?.timeout).toBeGreaterThanOrEqual(5000);
  });

  it('in memory leaves no file', async () => {
    const db = await opened(':memory:', one, two);
    expect(db.get('SELECT id FROM a')).toBeDefined();
    expect(existsSync(':memory:')).toBe(false);
  });
});
