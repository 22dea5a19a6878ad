/** What to do about an error, from what is known of the settings behind a call. */

/** Where the calls go, and where the key came from. */
export interface CallOrigin {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** As `whoami` names it: `flag`, `environment STENO_API_KEY`, `profile work`, `command of profile work`. */
  readonly keySource?: string | undefined;
  /** The host, and the proxy on the way to it. */
  readonly peer: string;
}

export function keyHint(source: string | undefined): string {
  const see = 'check it with: steno whoami';
  if (source === undefined || source === 'sandbox') return `${see}; keep another with: steno login`;
  if (source === 'flag')
    return `the key came from --api-key: correct it there, or keep one with: steno login`;
  if (source.startsWith('environment '))
    return `the key came from ${source.slice('environment '.length)}, which goes before a key that steno login keeps: correct or unset it; ${see}`;
  const [, profile = ''] = /profile (.+)$/.exec(source) ?? [];
  const flag = profile === '' || profile === 'default' ? '' : ` --profile ${profile}`;
  return source.startsWith('command ')
    ? `the key came from the key command of profile ${profile}: steno config get api-key-command${flag}, or keep a key with: steno login${flag}`
    : `the key came from ${source}: keep another with: steno login${flag}`;
}

/** For an answer that is not the service's: its address most likely lacks the version. */
export const baseUrlHint = ({ baseUrl }: Pick<CallOrigin, 'baseUrl'>): string =>
  /\/API\d+$/i.test(baseUrl)
    ? `check the base URL ${baseUrl}: steno whoami`
    : `the base URL ${baseUrl} does not end in /API4; if that is missing: steno config set base-url ${baseUrl}/API4`;

/** What a call asks about, by its path; undefined where that is an operation of the service itself. */
export function subjectOf(path: string): string | undefined {
  const [, kind = '', id = '', rest = ''] =
    /^\/(audiofile|transcript|invoice)\/([^/]+)(.*)$/.exec(path) ?? [];
  if (kind === '') return undefined;
  const shown = decodeId(kind === 'transcript' ? id.replace(/\.\w+$/, '') : id);
  const ext =
    /transcript\.(\w+)$/.exec(rest)?.[1] ?? (kind === 'transcript' ? id.split('.').pop() : undefined);
  if (kind === 'invoice') return `invoice ${shown}`;
  return ext === undefined ? `audiofile ${shown}` : `a transcript of audiofile ${shown} as ${ext}`;
}

function decodeId(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** What some servers answer to a plain http request on their TLS port. */
export const wantsTls = (status: number, text: string): boolean =>
  status === 400 &&
  /plain HTTP request was sent to HTTPS port|speaking plain HTTP to an SSL-enabled/i.test(text);
