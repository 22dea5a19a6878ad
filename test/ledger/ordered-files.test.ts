/** Which file of an accepted order belongs to which audio. */
import { describe, expect, it } from 'vitest';
import {
  isSameAudio,
  isSameUrl,
  matchFiles,
  missingFiles,
  missingText,
  type OrderedAudio,
} from '../../src/ledger/ordered-files.ts';

const url = (name: string): string => `https://e.example/${name}.mp3`;
const audio = (name: string, key?: string): OrderedAudio => ({ url: url(name), key });
const known = (...pairs: Array<[string, OrderedAudio]>): ReadonlyMap<string, OrderedAudio> => new Map(pairs);
const none = known();
const [a, b, c] = [audio('a'), audio('b'), audio('c')];
const found = (audios: readonly OrderedAudio[], ids: readonly string[], before = none) => {
  const { files, remark, problem } = matchFiles(audios, ids, before);
  const urlAt = (position = -1) => audios[position]?.url ?? '?';
  return { files: files.map(({ id, position }) => `${id} ${urlAt(position)}`), remark, problem };
};
const twelve = Array.from({ length: 12 }, (_, at) => String(at + 1));

describe('the files of an answer', () => {
  it('are those of the URLs, in their order', () => {
    expect(found([a, b], ['1', '2'])).toEqual({
      ...{ files: [`1 ${a.url}`, `2 ${b.url}`], remark: undefined, problem: undefined },
    });
  });

  it('can not be told where their number is another one', () => {
    expect(found([a, b, c], ['1', '2'])).toEqual({
      ...{ files: ['1 ?', '2 ?'], remark: undefined },
      problem: 'the answer names 2 audiofiles for 3 URLs (1, 2)',
    });
    expect(found([a, b], ['1'])).toMatchObject({
      ...{ files: ['1 ?'], problem: 'the answer names one audiofile for 2 URLs (1)' },
    });
    expect(found([a, b], [])).toMatchObject({
      files: [],
      problem: 'the answer names no audiofile for 2 URLs',
    });
  });

  it('can not be told where one is named twice', () => {
    expect(found([a, b], ['1', '1'])).toEqual({
      ...{ files: ['1 ?'], remark: undefined },
      problem: 'the answer names 2 audiofiles for 2 URLs, some of them twice (1)',
    });
  });

  it('are all of the only URL there is', () => {
    expect(found([a], ['1', '2'])).toEqual({
      ...{ files: [`1 ${a.url}`, `2 ${a.url}`], problem: undefined },
      remark: 'the answer names 2 audiofiles for one URL (1, 2)',
    });
    expect(found([a], ['1']).remark).toBeUndefined();
    expect(found([a], [])).toEqual({
      ...{ files: [], remark: undefined, problem: 'the answer names no audiofile for one URL' },
    });
  });

  it('are known again where the ledger has them, whatever their number', () => {
    expect(found([a, b, c], ['2', '9'], known(['2', b]))).toMatchObject({ files: [`2 ${b.url}`, '9 ?'] });
  });

  it('are left out where the ledger has them of another audio', () => {
    expect(found([a, b], ['1', '2'], known(['1', c]))).toEqual({
      ...{ files: [`2 ${b.url}`], remark: undefined },
      problem: `the ledger has audiofile 1 as the file of ${c.url}`,
    });
    expect(found([a, b, c], ['1', '2'], known(['1', audio('z')]))).toMatchObject({ files: ['2 ?'] });
    expect(found([a, b], ['1', '2'], known(['1', { url: '' }]))).toMatchObject({
      ...{ files: [`1 ${a.url}`, `2 ${b.url}`], problem: undefined },
    });
    expect(found([a, b], ['1', '2'], known(['1', a]))).toMatchObject({ problem: undefined });
  });

  it('are named up to ten', () => {
    expect(found([a, b], twelve).problem).toBe(
      'the answer names 12 audiofiles for 2 URLs (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)',
    );
    expect(found([a, b], twelve.slice(0, 10)).problem).toContain('9, 10)');
    const others = twelve.map((id): [string, OrderedAudio] => [id, c]);
    const { problem } = found(
      twelve.map((name) => audio(name)),
      twelve,
      known(...others),
    );
    expect(problem?.split('; ')).toHaveLength(10);
  });
});

/** The items of an order of these audios: the audio that each file is of, by its place; null: nobody knows. */
const items = (names: readonly string[], files: ReadonlyArray<number | null>) =>
  [...names, ...files.slice(names.length)].map((_, position) => {
    const name = names[position];
    const made = files[position];
    return {
      ...{
        purchase: 'p',
        tracked: 0,
        position,
        url: name ? url(name) : '',
        url_key: name ? `url ${url(name)}` : '',
      },
      ...{ file: made === undefined ? '' : `f${position}`, audio: made ?? null },
    };
  });

describe('files that are missing', () => {
  it('are none where each audio has its own', () => {
    expect(missingFiles(items(['a', 'b'], [0, 1]))).toBeUndefined();
    expect(missingFiles(items(['a', 'b'], [1, 0, 0]))).toBeUndefined();
    expect(missingFiles([])).toBeUndefined();
  });

  it('are those of the audios without one', () => {
    expect(missingFiles(items(['a', 'b', 'c'], [0]))).toEqual({ count: 2, urls: [b.url, c.url] });
    expect(missingFiles(items(['a'], []))).toEqual({ count: 1, urls: [a.url] });
  });

  it('are fewer by the files whose audio is not known', () => {
    expect(missingFiles(items(['a', 'b', 'c'], [null]))).toEqual({ count: 2, urls: [a.url, b.url, c.url] });
    expect(missingFiles(items(['a', 'b'], [null, null]))).toBeUndefined();
    expect(missingFiles(items(['a', 'b'], [0, null]))).toBeUndefined();
  });

  it('are told in words', () => {
    const many = twelve.map(url);
    expect(missingText({ count: 2, urls: [a.url, b.url] })).toBe(
      `the files of ${a.url}, ${b.url} are unknown`,
    );
    expect(missingText({ count: 1, urls: [a.url, b.url] })).toBe(
      `1 of the files of ${a.url}, ${b.url} is unknown`,
    );
    expect(missingText({ count: 2, urls: many.slice(0, 3) })).toMatch(/^2 of the files of .* are unknown$/);
    expect(missingText({ count: 12, urls: many })).toMatch(/\/10\.mp3, … are unknown$/);
    expect(missingText({ count: 10, urls: many.slice(0, 10) })).toMatch(/\/1\.mp3, .*\/10\.mp3 are unknown$/);
  });
});

describe('the same audio', () => {
  it('has the same key, or the same URL where one has none', () => {
    expect(isSameAudio(audio('x', 'caf\u00e9'), audio('y', 'cafe\u0301'))).toBe(true);
    expect(isSameAudio(audio('y', 'cafe\u0301'), audio('x', 'caf\u00e9'))).toBe(true);
    expect(isSameAudio(audio('x', 'one'), audio('x', 'two'))).toBe(false);
    expect(isSameAudio(audio('x', 'one'), audio('x'))).toBe(true);
    expect(isSameAudio(audio('x'), audio('x', 'one'))).toBe(true);
    expect(isSameAudio(audio('x', 'one'), audio('y'))).toBe(false);
  });

  it('has URLs that differ in their spelling, or texts that are no URLs and the same', () => {
    expect(isSameUrl(url('x'), url('x').replace('https', 'HTTPS'))).toBe(true);
    expect(isSameUrl('no URL', 'no URL')).toBe(true);
    expect(isSameUrl('no URL', url('x'))).toBe(false);
    expect(isSameUrl(url('x'), 'no URL')).toBe(false);
    expect(isSameUrl('no URL', 'another')).toBe(false);
    expect(isSameUrl(url('x'), url('y'))).toBe(false);
  });
});
