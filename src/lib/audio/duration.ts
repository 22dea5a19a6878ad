/**
 * How long an audio file plays, from its headers. A file of an unknown kind, or whose headers do not say, has no known
 * duration: what is shown as a cost must not rest on a guess.
 */
import type { FileWindow } from './file-window.ts';
import { flacSeconds } from './flac.ts';
import { framedSeconds } from './frames.ts';
import { audioStart } from './id3.ts';
import { mp4Seconds } from './mp4.ts';
import { oggSeconds } from './ogg.ts';
import { wavSeconds } from './wav.ts';

/** Longer than any recording: a header that says so is wrong. */
const MAX_SECONDS = 30 * 86_400;

/** The seconds that a file plays; undefined where it does not say. Fails only where it can't be read. */
export async function durationIn(file: FileWindow): Promise<number | undefined> {
  const seconds = await secondsOf(file);
  return seconds !== undefined && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

async function secondsOf(file: FileWindow): Promise<number | undefined> {
  const start = await audioStart(file);
  const head = (await file.bytes(start, 12)).toString('latin1');
  if (/^(?:RIFF|RF64|BW64)[\s\S]{4}WAVE/.test(head)) return wavSeconds(file, start);
  if (head.startsWith('fLaC')) return flacSeconds(file, start);
  if (head.startsWith('OggS')) return oggSeconds(file, start);
  if (/^[\s\S]{4}(?:ftyp|moov|mdat|free|skip|wide)/.test(head)) return mp4Seconds(file);
  return framedSeconds(file, start);
}
