import type { AudioFile } from '../api/files.ts';
import { toneOfState } from '../catalog/states.ts';
import { cutSignatures } from '../lib/audio-identity.ts';
import type { Line } from '../lib/line.ts';
import { localTime } from '../lib/local-time.ts';

/** A state that a file has come to, for a person who watches; `several` files are told by their ids. */
export function watchedLine(file: AudioFile, at: string, several: boolean): Line {
  const { day, time } = localTime(at);
  return {
    pieces: [
      { text: day, tone: 'faint' },
      { text: time, tone: 'faint' },
      { text: several ? file.id : '', tone: 'strong' },
      { text: file.state, tone: toneOfState(file.state) },
      { text: cutSignatures(file.title) },
    ],
    narrowing: [
      [4, 20],
      [0, 0],
      [4, 8],
      [4, 0],
    ],
  };
}
