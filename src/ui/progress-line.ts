/** One line on a terminal that is written over: drawn by ora, loaded on first use. */
import type { Ora } from 'ora';

const TICK_MS = 200;
/** The spinner, a space, and the last column, in which some terminals wrap. */
const MARGIN = 3;

type CutEnd = (text: string, width: number) => string;

interface LineOptions {
  /** Makes the text anew: it tells the time too. */
  readonly text: () => string;
  readonly colour: boolean;
  readonly stream: NodeJS.WriteStream;
}

export class ProgressLine {
  readonly #options: LineOptions;
  readonly #spinner: Ora;
  readonly #cutEnd: CutEnd;
  readonly #timer: NodeJS.Timeout;

  private constructor(options: LineOptions, spinner: Ora, cutEnd: CutEnd) {
    this.#options = options;
    this.#spinner = spinner;
    this.#cutEnd = cutEnd;
    this.#timer = setInterval(this.#tick, TICK_MS);
    this.#tick();
    spinner.start();
    options.stream.on('resize', this.#tick);
    process.on('exit', this.#clear);
    process.on('SIGTSTP', this.#onStop);
  }

  /** A spinner that can't be loaded is left out: the work goes on. */
  static async start(options: LineOptions): Promise<ProgressLine | undefined> {
    const [ora, fit] = await Promise.all([import('ora'), import('./fit.ts')]).catch(() => []);
    if (!ora || !fit) return undefined;
    const { colour, stream } = options;
    const spinner = ora.default({
      ...{ color: colour ? 'cyan' : false, stream, discardStdin: false },
      // Ora would draw nothing where it finds CI in the environment.
      isEnabled: true,
    });
    return new ProgressLine(options, spinner, fit.cutEnd);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#options.stream.off('resize', this.#tick);
    process.off('exit', this.#clear);
    process.off('SIGTSTP', this.#onStop);
    process.off('SIGCONT', this.#onContinue);
    this.#clear();
  }

  readonly #tick = (): void => {
    const { text, stream } = this.#options;
    this.#spinner.text = this.#cutEnd(text(), Math.max(0, (stream.columns || 80) - MARGIN));
  };

  /** Clears the line and shows the cursor. */
  readonly #clear = (): void => void this.#spinner.stop();

  /** Ctrl-Z: the shell gets a clean line, and only then is the process stopped. */
  readonly #onStop = (): void => {
    this.#clear();
    process.off('SIGTSTP', this.#onStop);
    process.once('SIGCONT', this.#onContinue);
    process.kill(process.pid, 'SIGTSTP');
  };

  readonly #onContinue = (): void => {
    process.on('SIGTSTP', this.#onStop);
    this.#tick();
    this.#spinner.start();
  };
}
