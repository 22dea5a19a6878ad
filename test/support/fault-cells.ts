/** The cells of the fault matrix: which are run, and what is wrong with one. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Command, canMeet, commands, exitCodes } from './fault-commands.ts';
import { FORGED, type KnownFault } from './fault-kinds.ts';
import { FaultProxy, noFault, TRANSCRIPT } from './fault-proxy.ts';
import { faults } from './faults.ts';
import { ledgerOf } from './ledger.ts';
import { finished, KEY, type Result, User } from './steno.ts';

export interface Cell {
  readonly command: Command;
  readonly fault: KnownFault;
}

export const allCells: readonly Cell[] = commands.flatMap((command) =>
  faults.filter((fault) => canMeet(command, fault)).map((fault) => ({ command, fault })),
);

/** Each fault once, spread over the commands; those that a read would repeat mostly on what is sent once. */
export function slice(): readonly Cell[] {
  const sentOnce = commands.filter(({ sends }) => sends === 'money' || sends === 'once');
  return faults.map((fault, at) => {
    const among = (fault.repeated && at % 4 > 0 ? sentOnce : commands).filter((each) => canMeet(each, fault));
    // A step that shares no factor with the number of commands, so that each comes up.
    return { fault, command: among[(at * 5) % among.length] as Command };
  });
}

/** Longer than any cell takes, also on a busy machine. */
const KILL_AFTER_MS = 40_000;
const MAX_READS = 4;

/** The answer to the order of the file that the ledger has; later orders get another id. */
const firstOrder = {
  type: 'application/json',
  body: Buffer.from(JSON.stringify({ order: '0a0', audiofiles: [5], message: 'ordered' })),
};

/** Runs cells one after the other, against a service of its own. */
export class CellRunner {
  readonly #proxy: FaultProxy;
  /** The ledger of a user who has one file on order. */
  readonly #ledger: Buffer;

  private constructor(proxy: FaultProxy, ledger: Buffer) {
    this.#proxy = proxy;
    this.#ledger = ledger;
  }

  static async start(): Promise<CellRunner> {
    const proxy = await FaultProxy.start();
    await proxy.inject(
      { ...noFault, serve: (exchange) => noFault.serve({ ...exchange, good: firstOrder }) },
      /^/,
    );
    const user = userOf(proxy);
    const { code, stderr } = await user.run(['order', 'https://example.com/a.mp3', '--sku', 'TRANS14']);
    if (code !== 0) throw new Error(stderr);
    return new CellRunner(proxy, readFileSync(ledgerOf(user)));
  }

  /** What is wrong with a cell; nothing if all is well. */
  async run(cell: Cell): Promise<string[]> {
    const { command, fault } = cell;
    await this.#proxy.inject(fault, command.call);
    const user = userOf(this.#proxy);
    mkdirSync(dirname(ledgerOf(user)));
    writeFileSync(ledgerOf(user), this.#ledger);
    const args = [...command.args, '--quiet', '--timeout', timeLimit(cell)];
    const child = user.start(args);
    const killer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
    child.stdin.end();
    const result = await finished(child);
    clearTimeout(killer);
    const wrong = [
      ...wrongOutput(cell, result),
      ...wrongFiles(cell, user, result),
      ...this.#wrongCalls(cell),
    ];
    rmSync(user.home, { recursive: true, force: true, maxRetries: 5 });
    return wrong.map(
      (each) => `${command.name}, ${fault.name}: ${each} (exit ${result.code})\n${result.stderr}`,
    );
  }

  #wrongCalls({ command: { call, sends, readsBack } }: Cell): string[] {
    const requests = this.#proxy.requests.filter(({ path }) => call.test(path));
    const changes = requests.filter(({ method }) => !(readsBack && method === 'GET')).length;
    if ((sends === 'money' || sends === 'once') && changes > 1) return [`was sent ${changes} times`];
    const calls = requests.length;
    return (sends === 'read' || sends === 'bulk') && calls > MAX_READS ? [`asked ${calls} times`] : [];
  }
}

const userOf = (proxy: FaultProxy): User => new User({ STENO_API_KEY: KEY, STENO_BASE_URL: proxy.baseUrl });

/** Short only where the time runs out: on a busy machine any call may take long. */
function timeLimit({ command, fault: { effect } }: Cell): string {
  const runsOut = effect.kind === 'silent' || exitCodes(command, effect).includes(6);
  return runsOut ? '2s' : '20s';
}

const shapesOfKey = [KEY, encodeURIComponent(KEY), JSON.stringify(KEY).slice(1, -1)].concat(
  Buffer.from(KEY).toString('base64').replace(/=+$/, ''),
);

function wrongOutput({ command, fault }: Cell, { code, stdout, stderr }: Result): string[] {
  const wrong: string[] = [];
  const expected = exitCodes(command, fault.effect);
  if (!expected.includes(code ?? -1)) wrong.push(`expected exit ${expected.join(' or ')}`);
  if (code === 0 && stderr) wrong.push('says something on stderr though all is well');
  if (code !== 0 && stdout && !command.showsAnswer)
    wrong.push(`prints ${JSON.stringify(stdout.slice(0, 80))} though it failed`);
  const failures = command.sends === 'bulk' ? '(steno: 5\\.txt: [^\\n]+\\n)?' : '';
  if (code !== 0 && !new RegExp(`^${failures}steno: [^\\n]+\\n(hint: [^\\n]+\\n)?$`).test(stderr))
    wrong.push('is not told in one line and a hint');
  if (/^\s+at |node:internal|\bdist\/|undici|\[object |undefined/m.test(stderr))
    wrong.push('shows its inside');
  if (shapesOfKey.some((shape) => (stdout + stderr).includes(shape))) wrong.push('shows the key');
  if ((stdout + stderr).includes(FORGED)) wrong.push('takes a forged answer');
  return wrong;
}

/** A transcript is there as a whole or not at all, and nothing else is. */
function wrongFiles({ command, fault }: Cell, user: User, { code }: Result): string[] {
  const names = readdirSync(user.home, { recursive: true, encoding: 'utf8' });
  const left = names.filter((name) => name.includes('.steno-part'));
  const texts = names.filter((name) => name.endsWith('.txt'));
  const wrong = left.length ? [`leaves ${left.join(', ')}`] : [];
  const wanted = command.downloads && code === 0 ? ['5.txt'] : [];
  if (texts.join() !== wanted.join()) return [...wrong, `the folder holds '${texts.join()}'`];
  const whole = fault.effect.kind === 'good' || command.call.test('/audiofile/5');
  const isCut = texts.some((name) => readFileSync(join(user.home, name), 'utf8') !== TRANSCRIPT);
  return whole && isCut ? [...wrong, 'the transcript is not whole'] : wrong;
}
