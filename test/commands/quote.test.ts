/** `quote`: what it prints, its exit codes, and the reports for CI servers. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { schemaOf } from '../../src/commands/schema.ts';
import { Downloads } from '../../src/ledger/downloads.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { outputs } from '../support/commands.ts';
import { ledgerOf } from '../support/ledger.ts';
import { User } from '../support/steno.ts';
import { zipOf } from '../support/zip.ts';

const validate = new Ajv2020({ allowUnionTypes: true }).compile(schemaOf('quote', outputs) ?? {});

const vtt = (...cues: string[]): string =>
  `WEBVTT\n\n${cues.map((text, at) => `00:0${at}:00.000 --> 00:0${at}:01.500\n${text}\n`).join('\n')}`;

class Writer extends User {
  constructor() {
    super({ STENO_LEDGER: undefined });
  }

  /** Transcripts as if they had been downloaded. */
  async has(transcripts: Readonly<Record<string, string>>): Promise<this> {
    const ledger = await openLedger(ledgerOf(this), 'default', String);
    for (const [name, content] of Object.entries(transcripts)) {
      const [, id = '', ext = ''] = /([^/]+)\.(\w+)$/.exec(name) ?? [];
      this.write(name, content);
      const written = { bytes: content.length, sha256: '', isDraft: false };
      await new Downloads(ledger).add(id, ext, join(this.home, name), written);
    }
    await ledger.close();
    return this;
  }

  write(name: string, content: string | Buffer): void {
    mkdirSync(this.home, { recursive: true });
    writeFileSync(join(this.home, name), content);
  }

  async quote(...args: string[]) {
    const { code, stdout } = await this.run(['quote', '--json', ...args]);
    const found = JSON.parse(stdout);
    expect([validate(found), validate.errors]).toEqual([true, null]);
    return { code, found };
  }
}

const talk = vtt(
  '<v Ada Park>We had more thyme',
  '<v Ada Park>than we, um, could carry.',
  '<v Bob Ross>And we walked home [crosstalk] in the rain.',
);

describe('quote', () => {
  it('says who said it, where and when', async () => {
    const writer = await new Writer().has({ '1.vtt': talk, '2.txt': 'Eve: We had more thyme than that.' });
    const { code, found } = await writer.quote(
      'we had more thyme than we could',
      '--link',
      'https://e.example/{id}?t={seconds}',
    );
    expect([code, found.length]).toEqual([0, 1]);
    expect(found[0]).toMatchObject({ status: 'exact', left_out: ['um'], differences: [], nearest: null });
    expect(found[0].passages).toEqual([
      {
        ...{ audiofile: '1', title: null, path: join(writer.home, '1.vtt'), line: 4, start: 0, end: 61.5 },
        ...{
          speaker: 'Ada Park',
          text: 'We had more thyme than we, um, could',
          differences: [],
          link: 'https://e.example/1?t=0',
        },
      },
    ]);
    expect((await writer.quote('had more thyme than')).found[0].passages).toHaveLength(2);
    const altered = await writer.quote('we had more time than we could carry');
    expect([altered.code, altered.found[0].status, altered.found[0].differences]).toEqual([
      ...[1, 'altered'],
      [{ said: 'thyme', quoted: 'time' }],
    ]);
    expect((await writer.quote('than we could carry', '--strict')).found[0]).toMatchObject({
      ...{ status: 'altered', differences: [{ said: 'um', quoted: '' }] },
    });
    expect((await writer.quote('we walked home in the rain', '--speaker', 'ada')).found[0]).toMatchObject({
      status: 'other_speaker',
    });
    expect((await writer.quote('we had more thyme … could carry')).code).toBe(0);
    expect((await writer.quote('could carry … we had more thyme')).found[0]).toMatchObject({
      ...{ status: 'spliced', in_order: false, one_speaker: true },
    });
    const rows = await writer.run(['quote', 'we walked home in the snow']);
    expect(rows).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^altered\t.*\train → snow|^altered\t/),
    });
    expect(rows.stderr).toMatch(/was said in other words: rain → snow/);
    const read = await writer.run(['quote', 'we had more thyme', '--csv'], { env: { STENO_ALLOW: 'read' } });
    expect(read).toMatchObject({ code: 0, stderr: '' });
  });

  it('says of each place in which words it differs', async () => {
    const writer = await new Writer().has({
      '1.txt': 'Ada: Is the clover still growing?\nBob: Yes. Is the fennel still growing?',
    });
    const { found } = await writer.quote('is the thyme still growing');
    const [{ passages }] = found;
    expect(passages).toHaveLength(2);
    for (const { text, differences } of passages)
      expect([differences.length, text]).toEqual([1, expect.stringContaining(differences[0].said)]);
    const { stdout } = await writer.run(['quote', 'is the thyme still growing']);
    for (const word of ['clover', 'fennel'])
      expect(stdout).toMatch(new RegExp(`Is the ${word} still growing\t${word} → thyme`));
  });

  it('verifies documents, with reports for CI servers', async () => {
    const writer = await new Writer().has({ '1.vtt': talk });
    writer.write(
      'a.md',
      '# Thyme\n\n“We had more thyme than we could carry,” said Ada Park.\n\nAda Park said: “And we walked home in the rain.” Short “we had” counts not.\n\n> We walked home in the snow.\n',
    );
    const { code, found } = await writer.quote('--verify', 'a.md');
    expect(code).toBe(1);
    expect(
      found.map((each: Record<string, unknown>) => [each.status, each.line, each.column, each.named]),
    ).toEqual([
      ['exact', 3, 2, []],
      ['other_speaker', 5, 17, ['Ada Park']],
      ['altered', 7, 3, []],
    ]);
    const github = await writer.run(['quote', '--verify', 'a.md', '--report', 'github']);
    expect(github).toMatchObject({ code: 1 });
    expect(github.stdout).toMatch(
      /^::error file=a\.md,line=5,col=17,title=other_speaker::“And we walked home in the rain\.” was said by another speaker .*\n::error file=a\.md,line=7,col=3,title=altered::.* was said in other words: rain → snow .*\n$/,
    );
    const sarif = await writer.run(['quote', '--verify', 'a.md', '--report', 'sarif']);
    expect(JSON.parse(sarif.stdout).runs[0].results).toHaveLength(2);
    writer.write('true.txt', 'He said "we walked home in the rain" twice.');
    const junit = await writer.run(['quote', '--verify', 'true.txt', '--report', 'junit']);
    expect([junit.code, junit.stdout]).toEqual([0, expect.stringContaining('failures="0"')]);
    const paragraph = '<w:p><w:t>“We walked home in the rain”</w:t></w:p>';
    writer.write(
      'b.docx',
      zipOf({ 'word/document.xml': `<w:document><w:body>${paragraph}</w:body></w:document>` }),
    );
    expect((await writer.quote('--verify', 'b.docx')).found).toMatchObject([
      { status: 'exact', document: 'b.docx' },
    ]);
    expect((await writer.quote('--verify', 'a.md', '--min-words', '2')).found).toHaveLength(4);
  });

  it('exits with 2 without transcripts, and for a document that can not be read', async () => {
    const empty = await new Writer().has({});
    expect(await empty.run(['quote', 'we had more thyme'])).toMatchObject({
      ...{ code: 2, stdout: '' },
      stderr: expect.stringMatching(/no transcripts on this disk[\s\S]*hint: download some/),
    });
    const writer = await new Writer().has({ '1.vtt': talk });
    writer.write('x.md', Buffer.from([0xff, 0xfe, 0x00]));
    writer.write('y.md', 'He said “we had more thyme”.');
    const named = await writer.run(['quote', 'y.md']);
    expect([named.code, named.stderr]).toEqual([2, expect.stringContaining('steno quote --verify y.md')]);
    for (const args of [
      ['--verify', 'none.md'],
      ['--verify', 'x.md'],
      ['--verify'],
      [],
      ['…'],
      ['we had', '--file', '9'],
      ['we', '--report', 'github'],
      ['--verify', 'x.md', '--report', 'pdf'],
    ])
      expect([args, (await writer.run(['quote', ...args])).code]).toEqual([args, 2]);
  });
});
