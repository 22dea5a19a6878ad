/** The sessions that the README shows: what is typed, and which screens are kept. */
import { onTestFinished } from 'vitest';
import { freshFolder } from '../support/files.ts';
import { Recording } from './recording.ts';
import type { Picture } from './svg.ts';

interface Session extends Omit<Picture, 'frames' | 'columns'> {
  readonly name: string;
  record(terminal: Recording): Promise<void>;
}

/** Wide enough for the longest line, narrow enough for a page. */
const COLUMNS = 92;

export const sessions: readonly Session[] = [
  {
    name: 'order',
    title: 'Ordering a transcript',
    description: 'steno order places an order, shows its progress while it waits, and writes the transcript.',
    record: async (terminal) => {
      await terminal.type(
        'steno order https://example.com/talk.mp3 --sku TRANS14 --wait --download .',
        async () => {
          await terminal.sees(/Waiting · 1 pre-processing · 00:/);
          terminal.clock.set('09:41:03');
          await terminal.keep(/Waiting · 1 transcribing · 00:/, 3);
          terminal.clock.set('09:41:10');
        },
      );
      await terminal.type('head -n 4 1001.txt');
      await terminal.keep();
    },
  },
  {
    name: 'files',
    title: 'What was ordered',
    description: 'steno files lists the files of the ledger with their states.',
    record: async (terminal) => {
      for (const [time, name] of [
        ['09:10:00', 'keynote'],
        ['09:24:00', '%E4%BC%9A%E8%AD%B0'],
        ['09:40:57', 'panel'],
        ['09:41:00', 'hold'],
      ] as const) {
        terminal.clock.set(time);
        await terminal.prepare(`steno order https://example.com/${name}.mp3 --sku TRANS14`);
      }
      await terminal.type('steno files --refresh');
      await terminal.keep();
    },
  },
  {
    name: 'listen',
    title: 'Receiving events',
    description:
      'steno listen shows each event as it arrives, and downloads the transcript that it announces.',
    record: async (terminal) => {
      // The usual port may be taken.
      const more = '--port 0';
      await terminal.type(
        'steno listen --register --download .',
        async () => {
          await terminal.sees(/listening on/);
          await terminal.prepare('steno order https://example.com/talk.mp3 --sku TRANS14');
          terminal.clock.set('09:41:10');
          await terminal.sees(/1001\.txt/);
          terminal.press('\x03');
        },
        more,
      );
      await terminal.keep();
    },
  },
  {
    name: 'error',
    title: 'A mistake and its hint',
    description:
      'An unknown flag is refused before anything is sent, and the hint names the one that was meant.',
    record: async (terminal) => {
      await terminal.type('steno order https://example.com/talk.mp3 --skus TRANS14');
      await terminal.type('steno order example.com/talk.mp3 --sku TRANS14');
      await terminal.keep();
    },
  },
];

/** Records a session anew. */
export async function pictureOf(session: Session): Promise<Picture> {
  const { title, description } = session;
  const steady = [
    [/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/, '⠋'],
    [/127\.0\.0\.1:\d+/, '127.0.0.1:4100'],
    [/\/[\w-]{32}/, '/pX3vJq8ZrT1mWc5LsY0aKd7NhBu2GfEi'],
    [/after [\d.]+ m?s/, 'after 12 ms'],
    [/1 event in [\d.]+ m?s/, '1 event in 12 s'],
  ] as const;
  const terminal = new Recording({ folder: freshFolder(), columns: COLUMNS, time: '09:41:00', steady });
  onTestFinished(() => terminal.close());
  await session.record(terminal);
  return { title, description, columns: COLUMNS, frames: terminal.frames };
}
