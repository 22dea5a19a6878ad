/** Names for files that come from a service's data: safe on every system, whatever the data holds. */
import { usage } from '../../lib/errors.ts';

export interface NameParts {
  readonly id: string;
  readonly title: string;
  readonly order: string;
  readonly ext: string;
}

const placeholders = ['id', 'title', 'order', 'ext'] as const;
const LONGEST = 180;
const reserved = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)\s*(\.|$)/i;

/** Refuses a template that names unknown things or leads out of its folder. */
export function checkTemplate(template: string, severalFormats = false): void {
  if (severalFormats && !template.includes('{ext}'))
    throw usage(`--name-as '${template}' gives every format the same name`, 'put {ext} into it');
  for (const [, name = ''] of template.matchAll(/\{([^{}]*)\}/g)) {
    if (!placeholders.some((each) => each === name)) {
      throw usage(
        `--name-as does not know {${name}}`,
        `it knows ${placeholders.map((each) => `{${each}}`).join(', ')}`,
      );
    }
  }
  const steps = template.split(/[/\\]/);
  if (steps.some((step) => /^\.*\s*$/.test(step)) || /^[a-z]:/i.test(template)) {
    throw usage(`--name-as '${template}' is not a name below the download folder`);
  }
}

/** Fills a template; a slash in the template makes a folder, one in the data does not. */
export function fileName(template: string, parts: NameParts): string {
  return template
    .split(/[/\\]/)
    .map((step) => safeStep(step.replace(/\{(\w+)\}/g, (_, name: keyof NameParts) => partText(name, parts))))
    .join('/');
}

/** A file with no title goes by its id. */
const partText = (name: keyof NameParts, parts: NameParts): string => {
  const value = safeValue(parts[name]);
  return name === 'title' && /^\.*$/.test(value) ? safeValue(parts.id) : value;
};

const safeValue = (value: string): string =>
  value
    .normalize('NFC')
    .replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, ' ')
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/\s+/g, ' ')
    .trim();

/** One step of a path: no reserved name, nothing that a shell takes for a flag, no more bytes than fit. */
function safeStep(text: string): string {
  let step = Buffer.from(text)
    .toString('utf8')
    .replace(/^[.\s-]+/, '_')
    .replace(/[.\s]+$/, '');
  if (step === '') step = '_';
  if (reserved.test(step)) step = `_${step}`;
  return shorten(step);
}

/** Cuts the stem, not the extension, at a whole character, and leaves room for what comes before the extension. */
function shorten(step: string, mark = ''): string {
  const ext = /\.[A-Za-z0-9]{1,8}$/.exec(step)?.[0] ?? '';
  const stem = step.slice(0, step.length - ext.length);
  return cut(stem, LONGEST - Buffer.byteLength(mark + ext)) + mark + ext;
}

function cut(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = '';
  for (const character of text) {
    if (Buffer.byteLength(kept + character) > bytes) break;
    kept += character;
  }
  return kept.replace(/[.\s]+$/, '');
}

/** Tells names apart that a file system may take for the same, by adding the id to the later ones. */
export class Names {
  readonly #taken = new Set<string>();

  claim(name: string, id: string): string {
    const slash = name.lastIndexOf('/') + 1;
    for (let n = 1; ; n += 1) {
      const mark = n === 1 ? '' : `-${cut(safeValue(id), 60)}${n === 2 ? '' : `-${n - 1}`}`;
      const candidate = name.slice(0, slash) + shorten(name.slice(slash), mark);
      const key = candidate.normalize('NFC').toUpperCase().toLowerCase();
      if (this.#taken.has(key)) continue;
      this.#taken.add(key);
      return candidate;
    }
  }
}
