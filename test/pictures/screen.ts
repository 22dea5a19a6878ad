/** A terminal without a window: takes what a program writes, and tells what a person would see. */
import { type IBufferCell, type IBufferLine, Terminal } from '@xterm/headless';

export interface Style {
  /** A colour of the palette, 0 to 15; undefined: the terminal's own. */
  readonly color: number | undefined;
  readonly bold: boolean;
  readonly dim: boolean;
  readonly italic: boolean;
  readonly underline: boolean;
}

/** Characters of one style and of one width, side by side. */
export interface Run {
  readonly column: number;
  readonly columns: number;
  readonly text: string;
  readonly style: Style;
}

export type Screen = ReadonlyArray<readonly Run[]>;

interface Cell extends Run {
  readonly wide: boolean;
}

export class ScreenReader {
  readonly #terminal: Terminal;

  constructor(columns: number, rows: number) {
    this.#terminal = new Terminal({ cols: columns, rows, scrollback: 0, allowProposedApi: true });
  }

  /** Resolves when the screen shows it. */
  write(bytes: Buffer): Promise<void> {
    return new Promise((done) => this.#terminal.write(bytes, done));
  }

  /** The rows up to the last one that shows something. */
  read(): Screen {
    const { active } = this.#terminal.buffer;
    const rows = Array.from({ length: this.#terminal.rows }, (_, row) => rowOf(active.getLine(row)));
    return rows.slice(0, rows.findLastIndex((row) => row.length > 0) + 1);
  }
}

export const textOf = (screen: Screen): string =>
  screen
    .map((row) => row.reduce((line, { column, text }) => line.padEnd(column) + text, '').trimEnd())
    .join('\n');

function rowOf(line: IBufferLine | undefined): Run[] {
  const cells: Cell[] = [];
  for (let column = 0; line && column < line.length; column += 1) {
    const cell = line.getCell(column);
    // The second half of a wide character has no width of its own.
    if (cell && cell.getWidth() > 0) cells.push(cellAt(cell, column));
  }
  while (cells.at(-1)?.text === ' ') cells.pop();
  return cells.reduce<Run[]>((runs, cell) => joined(runs, cell), []);
}

function cellAt(cell: IBufferCell, column: number): Cell {
  const columns = cell.getWidth();
  return {
    column,
    columns,
    text: cell.getChars() || ' ',
    wide: columns > 1,
    style: {
      color: cell.isFgPalette() ? cell.getFgColor() : undefined,
      bold: cell.isBold() !== 0,
      dim: cell.isDim() !== 0,
      italic: cell.isItalic() !== 0,
      underline: cell.isUnderline() !== 0,
    },
  };
}

function joined(runs: Run[], { wide, ...cell }: Cell): Run[] {
  const last = runs.at(-1);
  const fits = last && last.columns > [...last.text].length === wide && sameStyle(last.style, cell.style);
  if (!fits) return [...runs, cell];
  const longer = { ...last, text: last.text + cell.text, columns: last.columns + cell.columns };
  return [...runs.slice(0, -1), longer];
}

const sameStyle = (a: Style, b: Style): boolean => JSON.stringify(a) === JSON.stringify(b);
