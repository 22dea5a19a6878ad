/** The document types that a transcript can be downloaded in. */

export interface Format {
  readonly ext: string;
  readonly content: 'text' | 'binary';
  readonly mime: string;
  readonly meaning: string;
}

export const formats: readonly Format[] = [
  { ext: 'txt', content: 'text', mime: 'text/plain', meaning: 'Plain text' },
  { ext: 'doc', content: 'binary', mime: 'application/msword', meaning: 'Word 97 to 2003' },
  { ext: 'rtf', content: 'text', mime: 'application/rtf', meaning: 'Rich text' },
  { ext: 'html', content: 'text', mime: 'text/html', meaning: 'Web page' },
  { ext: 'srt', content: 'text', mime: 'application/x-subrip', meaning: 'SubRip subtitles' },
  {
    ext: 'docx',
    content: 'binary',
    mime: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    meaning: 'Word',
  },
  { ext: 'tstxt', content: 'text', mime: 'text/plain', meaning: 'Plain text with timestamps' },
  { ext: 'vtt', content: 'text', mime: 'text/vtt', meaning: 'WebVTT subtitles' },
];

export const findFormat = (ext: string): Format | undefined => formats.find((each) => each.ext === ext);

/** The format that the end of a file name stands for. */
export const formatOfName = (name: string): string | undefined =>
  findFormat(/\.(\w+)$/.exec(name.toLowerCase())?.[1] ?? '')?.ext;

export const meaningOfFormat = (ext: string): string => findFormat(ext)?.meaning ?? '';
