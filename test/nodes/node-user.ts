/** A user of the installed package on one of the Nodes, and the sandbox that the same Node serves for them. */
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { SANDBOX_KEY } from '../../src/sandbox/server.ts';
import { finished, type Options, type Result, User } from '../support/steno.ts';
import { until } from '../support/until.ts';
import { binFolder, type NodeVersion } from './node-versions.ts';

/** Warnings of Node, stack traces and minified code: nothing that a user can act on. */
const NOISE = /\(node:\d+\)|Warning:|--trace-|^\s+at .+:\d+|^Node\.js v/m;

export class NodeUser extends User {
  /** By its name in the prefix, whose first line has the `node` of PATH run it. */
  override readonly program: readonly [string, ...string[]] = [join(inject('prefix'), 'bin', 'steno')];

  constructor(version: NodeVersion, env: Record<string, string | undefined> = {}) {
    super({ PATH: `${binFolder(version)}${delimiter}${process.env.PATH}`, ...env });
  }

  override async run(args: readonly string[], options: Options = {}): Promise<Result> {
    const result = await super.run(args, options);
    this.#expectClean(args, result);
    return result;
  }

  /** Runs a command line that is split at blanks; fails unless it ends with this code. */
  async exits(code: number, line: string, options: Options = {}): Promise<Result> {
    const result = await this.run(line.split(' '), options);
    expect([line, result.code, result.stderr]).toEqual([line, code, expect.any(String)]);
    return result;
  }

  ok(line: string, options: Options = {}): Promise<Result> {
    return this.exits(0, line, options);
  }

  /** What a command line prints with --json. */
  async json<Value>(line: string, options: Options = {}): Promise<Value> {
    return JSON.parse((await this.ok(`${line} --json`, options)).stdout) as Value;
  }

  #expectClean(args: readonly string[], { stdout, stderr }: Result): void {
    if (!args.includes('--debug')) expect(stderr).not.toMatch(NOISE);
    const { STENO_API_KEY: key } = this.env;
    if (key) expect(`${stdout}${stderr}`).not.toContain(key);
  }
}

export class NodeUnderTest {
  readonly version: NodeVersion;
  #baseUrl = '';
  #user: NodeUser | undefined;

  constructor(version: NodeVersion) {
    this.version = version;
    let stop = async (): Promise<void> => {};
    beforeAll(async () => {
      const child = new NodeUser(version).start(['sandbox', '--port', '0', '--ephemeral', '--speed', '20']);
      const ended = finished(child);
      stop = async () => {
        child.kill('SIGTERM');
        await ended;
      };
      child.stdout.on('data', (chunk) => {
        this.#baseUrl += chunk;
      });
      await until(() => this.#baseUrl.includes('\n'), 'a sandbox that says its address');
      this.#baseUrl = this.#baseUrl.split('\t')[0] ?? '';
      this.#user = this.newUser();
    });
    afterAll(() => stop());
  }

  /** The one that most cases share: its ledger fills as that of a person does. */
  get user(): NodeUser {
    if (!this.#user) throw new Error('the sandbox does not run yet');
    return this.#user;
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  /** One with an empty home and the sandbox of this Node. */
  newUser(env: Record<string, string | undefined> = {}): NodeUser {
    return new NodeUser(this.version, { STENO_API_KEY: SANDBOX_KEY, STENO_BASE_URL: this.baseUrl, ...env });
  }

  /** One without a key or a service. */
  newcomer(env: Record<string, string | undefined> = {}): NodeUser {
    return new NodeUser(this.version, env);
  }

  /** Orders one audio and gives the id of its file. */
  async order(url: string, user = this.user, ...more: string[]): Promise<string> {
    const line = ['order', `https://example.com/${url}.mp3`, '--sku', 'TRANS14', '--quiet', ...more];
    const { code, stdout, stderr } = await user.run(line);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    return stdout.trim();
  }

  /** The same, and waits for its transcript. */
  async delivered(url: string, user = this.user): Promise<string> {
    const id = await this.order(url, user);
    await user.ok(`wait ${id} --interval 100ms --timeout 25s`);
    return id;
  }
}
