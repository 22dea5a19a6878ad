/** The small parts that all pages are made of. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { CallError } from './api.ts';
import { exact, now, placesOf, relative, short } from './format.ts';
import { filePath } from './route.ts';
import type { About, FileDocument } from './types.ts';

export const about = signal<About | undefined>(undefined);

/** `steno --sandbox files`, for copying. */
export const commandLine = (rest: string): string => `${about.value?.command ?? 'steno'} ${rest}`;

/** What has just been done, said once to screen readers too. */
export const said = signal<{ readonly text: string; readonly isBad?: boolean }>({ text: '' });
let forget: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, isBad = false): void {
  said.value = { text, isBad };
  clearTimeout(forget);
  forget = setTimeout(() => say(''), isBad ? 12_000 : 5_000);
}

export const sayError = ({ message, hint }: CallError): void =>
  say([message, hint].filter(Boolean).join('; '), true);

export async function copy(text: string, what = text): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied: ${what.length > 90 ? `${what.slice(0, 90)}…` : what}`);
  } catch {
    say('The browser did not allow copying', true);
  }
}

const paths = {
  copy: 'M6 6V3.5A1.5 1.5 0 0 1 7.5 2h5A1.5 1.5 0 0 1 14 3.5v5a1.5 1.5 0 0 1-1.5 1.5H10M3.5 6h5A1.5 1.5 0 0 1 10 7.5v5A1.5 1.5 0 0 1 8.5 14h-5A1.5 1.5 0 0 1 2 12.5v-5A1.5 1.5 0 0 1 3.5 6z',
  more: 'M3 8h.01M8 8h.01M13 8h.01',
  quote: 'M3 11c2 0 3-1.5 3-4V5H3v3h3M10 11c2 0 3-1.5 3-4V5h-3v3h3',
  down: 'M8 2v8M4.5 7 8 10.5 11.5 7M3 13.5h10',
  back: 'M9.5 3 4.5 8l5 5',
} as const;

export const Icon = ({ name }: { name: keyof typeof paths }) => (
  <svg class={`icon ${name}`} viewBox="0 0 16 16" aria-hidden="true">
    <path d={paths[name]} />
  </svg>
);

/** Relative, with the exact time on hover and for programs. */
export const Time = ({ at, isExact }: { at: string | null | undefined; isExact?: boolean }) =>
  at ? (
    <time dateTime={at} title={exact(at)}>
      {isExact ? short(at) : relative(at, now.value)}
    </time>
  ) : null;

/** Text of others, whichever way it is written. */
export const Text = ({ children }: { children: string | null | undefined }) => <bdi>{children}</bdi>;

/** A text with the words of a search marked. */
export function Marked({ text, words }: { text: string; words: readonly string[] }) {
  const parts: ComponentChildren[] = [];
  let done = 0;
  for (const [start, end] of words.length ? placesOf(text, words) : []) {
    parts.push(text.slice(done, start), <mark key={start}>{text.slice(start, end)}</mark>);
    done = end;
  }
  return (
    <bdi>
      {parts}
      {text.slice(done)}
    </bdi>
  );
}

/** A command line that does or shows the same, to copy. */
export function Command({ line = '', whole = commandLine(line) }: { line?: string; whole?: string }) {
  return (
    <button type="button" class="command" title="Copy this command line" onClick={() => void copy(whole)}>
      <code>{whole}</code>
      <Icon name="copy" />
    </button>
  );
}

export const Failed = ({ error }: { error: CallError | undefined }) =>
  error ? (
    <p class="failed" role="alert">
      {error.message}
      {error.hint ? <span class="muted"> ({error.hint})</span> : null}
    </p>
  ) : null;

export const Empty = ({
  title,
  line,
  children,
}: {
  title: string;
  line?: string;
  children?: ComponentChildren;
}) => (
  <div class="empty">
    <p>{title}</p>
    {children}
    {line ? <Command line={line} /> : null}
  </div>
);

export function Panel({
  title,
  extra,
  children,
}: {
  title: string;
  extra?: ComponentChildren;
  children: ComponentChildren;
}) {
  return (
    <section class="panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {extra}
      </header>
      {children}
    </section>
  );
}

/** A field that filters or searches. */
export const SearchField = (props: {
  id: string;
  label: string;
  hint: string;
  value: string;
  onType: (text: string) => void;
}) => (
  <input
    {...{ id: props.id, type: 'search', placeholder: props.hint, value: props.value, spellcheck: false }}
    aria-label={props.label}
    autocomplete="off"
    onInput={(event) => props.onType(event.currentTarget.value)}
  />
);

/** Names and values; what is empty is left out. */
export const Pairs = ({ pairs }: { pairs: ReadonlyArray<readonly [string, string | null | undefined]> }) => (
  <dl class="pairs">
    {pairs.map(([name, value], at) =>
      value ? (
        <div key={at}>
          <dt>{name}</dt>
          <dd>
            <Text>{value.slice(0, 2000)}</Text>
          </dd>
        </div>
      ) : null,
    )}
  </dl>
);

/** The title of a file, and the way to its page. */
export const FileLink = ({ id, title }: { id: string | null; title: string }) =>
  id ? (
    <a href={filePath(id)}>
      <Text>{title.slice(0, 200)}</Text>
    </a>
  ) : (
    <Text>{title.slice(0, 200)}</Text>
  );

/** A list of facts, a line between each. */
export const Facts = <T,>({
  items,
  children,
}: {
  items: readonly T[];
  children: (item: T) => ComponentChildren;
}) => (
  <ul class="facts">
    {items.map((item, at) => (
      <li key={at}>{children(item)}</li>
    ))}
  </ul>
);

interface GridProps {
  readonly label: string;
  readonly head: readonly string[];
  readonly rows: ReadonlyArray<readonly ComponentChildren[]>;
}

/** The first cell of a row names it. */
export const Grid = ({ label, head, rows }: GridProps) => (
  <table aria-label={label}>
    <thead>
      <tr>
        {head.map((name) => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
    <tbody>
      {rows.map(([name, ...cells], at) => (
        <tr key={at}>
          <th scope="row">{name}</th>
          {cells.map((cell, column) => (
            <td key={column}>{cell}</td>
          ))}
        </tr>
      ))}
    </tbody>
  </table>
);

/** The way back, and the command line of the page. */
export const Crumbs = ({ to, label, line }: { to: string; label: string; line: string }) => (
  <p class="crumbs">
    <a href={`#${to}`}>
      <Icon name="back" />
      {label}
    </a>
    <Command line={line} />
  </p>
);

export interface Choice {
  readonly name: string;
  readonly label: string;
}

export function Select(props: {
  label: string;
  value: string;
  choices: readonly Choice[];
  onPick: (name: string) => void;
}) {
  return (
    <select
      aria-label={props.label}
      value={props.value}
      onChange={(event) => props.onPick(event.currentTarget.value)}
    >
      {props.choices.map(({ name, label }) => (
        <option key={name} value={name}>
          {label}
        </option>
      ))}
    </select>
  );
}

/** Where a file stands: ordered, audio, transcription, editing, delivered. */
const steps = ['Ordered', 'Audio', 'Transcription', 'Editing', 'Delivered'];

const stepOf = (state: string): number => {
  if (/deliver/i.test(state)) return 5;
  if (/edit|approval/i.test(state)) return 4;
  if (/transcrib|^processing|difficulty|temporary/i.test(state)) return 3;
  return /audio|pre-processing/i.test(state) ? 2 : 1;
};

export function toneOf({ state, ended, hold }: Pick<FileDocument, 'state' | 'ended' | 'hold'>): string {
  if (ended === 'delivered') return 'good';
  if (ended) return 'bad';
  return hold || /hold|error|difficulty/i.test(state ?? '') ? 'warn' : 'busy';
}

export function Steps({ file }: { file: FileDocument }) {
  const state = file.state ?? 'Ordered';
  const at = stepOf(state);
  const tone = toneOf(file);
  return (
    <span class={`steps ${tone}`}>
      <span class="pips" title={`Step ${at} of 5: ${steps[at - 1]}`}>
        {steps.map((step, index) => (
          <i key={step} class={index < at ? 'done' : ''} />
        ))}
      </span>
      <span class="state">{state}</span>
      {file.late ? <b class="late">late</b> : null}
      {file.test ? <span class="chip">test</span> : null}
    </span>
  );
}

export interface MenuItem {
  readonly label: string;
  /** What is done, or the command line that is copied. */
  readonly detail?: string;
  readonly run: () => void;
}

const menu = signal<{ readonly items: readonly MenuItem[]; readonly by: HTMLElement } | undefined>(undefined);

export const openMenu = (by: HTMLElement | null, items: readonly MenuItem[]): void => {
  if (by) menu.value = { items, by };
};

/** The one open menu, over everything else. */
export function Menu() {
  const own = useRef<HTMLDivElement>(null);
  const shown = menu.value;
  useEffect(() => {
    const box = own.current;
    if (!box || !shown) return;
    const { right, bottom, top } = shown.by.getBoundingClientRect();
    box.showPopover();
    const below =
      bottom + box.offsetHeight < innerHeight ? bottom + 4 : Math.max(8, top - box.offsetHeight - 4);
    box.style.top = `${below}px`;
    box.style.left = `${Math.max(8, Math.min(right, innerWidth - 8) - box.offsetWidth)}px`;
    box.querySelector('button')?.focus();
  }, [shown]);
  const move = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    const all = [...(own.current?.querySelectorAll('button') ?? [])];
    if (!step) return;
    event.preventDefault();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    all[(at + step + all.length) % all.length]?.focus();
  };
  const close = (event: Pick<ToggleEvent, 'newState'>): void => {
    if (event.newState !== 'closed') return;
    shown?.by.focus();
    menu.value = undefined;
  };
  return (
    <div
      ref={own}
      class="menu"
      popover="auto"
      role="menu"
      aria-label="Actions"
      onKeyDown={move}
      onToggle={close}
    >
      {shown?.items.map(({ label, detail, run }) => (
        <button
          key={label}
          type="button"
          role="menuitem"
          onClick={() => {
            own.current?.hidePopover();
            run();
          }}
        >
          {label}
          {detail ? <code>{detail}</code> : null}
        </button>
      ))}
    </div>
  );
}

export const copyItem = (line: string): MenuItem => ({
  label: 'Copy',
  detail: commandLine(line),
  run: () => void copy(commandLine(line)),
});
