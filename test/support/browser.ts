/** A real browser without a window, driven over two pipes by its own protocol (Chromium's DevTools). */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';

const names = ['chromium', 'chromium-browser', 'google-chrome'];

/** The program of the browser; undefined where none is installed. */
export const chromium = names.find((name) => spawnSync(name, ['--version']).status === 0);

/** How a page is shown. */
export interface Media {
  readonly media?: 'screen' | 'print';
  readonly scheme?: 'light' | 'dark';
  readonly forcedColors?: boolean;
  readonly width?: number;
}

export interface AccessibleNode {
  readonly role: string;
  readonly name: string;
  readonly description: string;
}

type Reply = { readonly [name: string]: unknown };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: Reply;
  readonly error?: unknown;
}

export class Browser {
  /** What the page wrote to its console, and what it was refused. */
  readonly log: string[] = [];
  readonly #folder = mkdtempSync(join(tmpdir(), 'steno-browser-'));
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>();
  readonly #loaded: Array<() => void> = [];
  #session: string | undefined;
  #next = 1;
  #unread = '';

  private constructor(program: string) {
    // Without its sandbox, because tests may run as root; it opens only pages that we made.
    const flags = [
      '--headless=new',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      '--no-first-run',
    ];
    this.#child = spawn(
      program,
      [
        ...flags,
        '--hide-scrollbars',
        `--user-data-dir=${this.#folder}`,
        '--remote-debugging-pipe',
        'about:blank',
      ],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] },
    );
    this.#child.on('exit', () => {
      for (const { reject } of this.#waiting.values()) reject(new Error('the browser has ended'));
    });
    (this.#child.stdio[4] as Readable).setEncoding('utf8').on('data', (chunk: string) => this.#read(chunk));
  }

  static async start(program: string): Promise<Browser> {
    const browser = new Browser(program);
    const { targetId } = await browser.#call('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await browser.#call('Target.attachToTarget', { targetId, flatten: true });
    browser.#session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Accessibility', 'Network'])
      await browser.#call(`${domain}.enable`);
    return browser;
  }

  /** Shows a page that is a text. */
  async open(
    page: string,
    { media = 'screen', scheme = 'light', forcedColors = false, width = 1000 }: Media = {},
  ) {
    const features = [
      { name: 'prefers-color-scheme', value: scheme },
      { name: 'forced-colors', value: forcedColors ? 'active' : 'none' },
    ];
    await this.#call('Emulation.setEmulatedMedia', { media, features });
    await this.#call('Emulation.setDeviceMetricsOverride', {
      width,
      height: 900,
      deviceScaleFactor: 1,
      mobile: false,
    });
    this.log.length = 0;
    const { frameTree } = await this.#call('Page.getFrameTree');
    const { frame } = frameTree as { readonly frame: { readonly id: string } };
    await this.#call('Page.setDocumentContent', { frameId: frame.id, html: page });
  }

  /** The same from a file, so that the page has an address of its own. */
  async openFile(url: string): Promise<void> {
    const loaded = new Promise<void>((resolve) => this.#loaded.push(resolve));
    await this.#call('Page.navigate', { url });
    await loaded;
  }

  async evaluate<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.#call('Runtime.evaluate', {
      expression,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(JSON.stringify(exceptionDetails));
    return (result as { readonly value: T }).value;
  }

  /** The whole page as PNG. */
  async screenshot(): Promise<Buffer> {
    const { data } = await this.#call('Page.captureScreenshot', {
      captureBeyondViewport: true,
      clip: await this.#size(),
    });
    return Buffer.from(String(data), 'base64');
  }

  async #size(): Promise<object> {
    const { cssContentSize } = await this.#call('Page.getLayoutMetrics');
    return { ...(cssContentSize as object), scale: 1 };
  }

  /** As it is printed, by someone who has chosen this scheme. */
  async pdf(scheme: 'light' | 'dark'): Promise<Buffer> {
    await this.#call('Emulation.setEmulatedMedia', {
      media: '',
      features: [{ name: 'prefers-color-scheme', value: scheme }],
    });
    const { data } = await this.#call('Page.printToPDF', { printBackground: false, preferCSSPageSize: true });
    return Buffer.from(String(data), 'base64');
  }

  /** What a screen reader is told, in its order. */
  async accessibility(): Promise<AccessibleNode[]> {
    const { nodes } = await this.#call('Accessibility.getFullAXTree');
    type Value = { readonly value: string } | undefined;
    type Node = { ignored: boolean; role: Value; name: Value; description: Value };
    return (nodes as Node[])
      .filter(({ ignored }) => !ignored)
      .map(({ role, name, description }) => ({
        role: role?.value ?? '',
        name: name?.value ?? '',
        description: description?.value ?? '',
      }));
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    await this.#call('Browser.close').catch(() => {});
    await ended;
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  #call(method: string, params: object = {}): Promise<Reply> {
    const id = this.#next++;
    const isOfPage = this.#session !== undefined && !method.startsWith('Browser.');
    const message = { id, method, params, ...(isOfPage && { sessionId: this.#session }) };
    (this.#child.stdio[3] as Writable).write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  #read(chunk: string): void {
    const messages = (this.#unread + chunk).split('\0');
    this.#unread = messages.pop() ?? '';
    for (const message of messages) this.#take(JSON.parse(message));
  }

  #take({ id, method, params, result = {}, error }: Message): void {
    if (method === 'Page.loadEventFired') for (const done of this.#loaded.splice(0)) done();
    if (
      method &&
      /^(Log\.entryAdded|Runtime\.(consoleAPICalled|exceptionThrown)|Network\.requestWillBeSent)$/.test(
        method,
      )
    )
      this.log.push(`${method} ${JSON.stringify(params)}`);
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (!waiting || id === undefined) return;
    this.#waiting.delete(id);
    if (error) waiting.reject(new Error(JSON.stringify(error)));
    else waiting.resolve(result);
  }
}
