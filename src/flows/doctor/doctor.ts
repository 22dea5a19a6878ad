/** `steno doctor`: all checks, in the order in which they are shown; and those of the way of an event. */
import { getWebhook, testWebhook } from '../../api/account.ts';
import { Events } from '../../ledger/events.ts';
import { factsOf } from '../../ledger/inspect.ts';
import { registrationOfUrl, setCommand } from '../../ledger/webhook-registrations.ts';
import { errorMessage } from '../../lib/errors.ts';
import { plural } from '../../lib/text.ts';
import { durationText, monotonicMs, sleep, timeAgo } from '../../lib/time.ts';
import { maskUserinfo } from '../../lib/url.ts';
import {
  type Check,
  type CheckResult,
  type Finding,
  fail,
  ok,
  once,
  runChecks,
  type Setup,
  skipped,
  warn,
  within,
} from './check.ts';
import { LedgerChecks } from './ledger.ts';
import {
  checkCompletions,
  checkConfigFile,
  checkDisk,
  checkNode,
  checkProgram,
  checkSettings,
  checkStateFolder,
} from './machine.ts';
import { checkCertificates, checkProxy, ServiceChecks } from './service.ts';

/** `folder`: where the build is. */
export async function examine(setup: Setup, version: string, folder: string): Promise<CheckResult[]> {
  const service = new ServiceChecks(setup);
  const ledger = new LedgerChecks(setup);
  const webhook = new WebhookChecks(setup, service, ledger);
  const checks: readonly Check[] = [
    { name: 'node', run: () => checkNode() },
    { name: 'steno', run: () => checkProgram(version, folder) },
    { name: 'config', run: () => checkConfigFile(setup) },
    { name: 'settings', run: () => checkSettings(setup) },
    { name: 'state', run: () => checkStateFolder(setup) },
    { name: 'disk', run: () => checkDisk(setup) },
    { name: 'base-url', run: () => service.checkBaseUrl() },
    { name: 'proxy', run: () => checkProxy(setup) },
    { name: 'certificates', run: () => checkCertificates(setup) },
    { name: 'service', needsNetwork: true, run: () => service.checkReachable() },
    { name: 'key', run: () => service.checkKey() },
    { name: 'clock', needsNetwork: true, run: () => service.checkClock() },
    { name: 'ledger', run: () => ledger.checkFile() },
    { name: 'shared-ledger', run: () => ledger.checkShared() },
    { name: 'orders', run: () => ledger.checkOrders() },
    { name: 'spool', run: () => ledger.checkSpool() },
    { name: 'webhook', needsNetwork: true, run: () => webhook.checkWebhook() },
    { name: 'listener', run: () => webhook.checkListener() },
    { name: 'test-event', needsNetwork: true, run: () => webhook.checkTestEvent() },
    { name: 'completions', run: () => checkCompletions(setup) },
  ];
  try {
    return await runChecks(checks, setup);
  } finally {
    await ledger.close();
  }
}

// The account's webhook, the listener behind it, and the way of an event from the service to the ledger.

const TEST_LIMIT_MS = 20_000;
const POLL_INTERVAL_MS = 200;

class WebhookChecks {
  readonly #setup: Setup;
  readonly #service: ServiceChecks;
  readonly #ledger: LedgerChecks;

  constructor(setup: Setup, service: ServiceChecks, ledger: LedgerChecks) {
    this.#setup = setup;
    this.#service = service;
    this.#ledger = ledger;
  }

  /** Empty where none is set; undefined where the service can't be asked. */
  readonly #url = once(async (): Promise<string | undefined> => {
    const { limitMs, signal } = this.#setup;
    const key = await this.#service.usableKey();
    if (key === undefined) return undefined;
    return within(
      limitMs,
      signal,
      async (limit) => (await getWebhook(await this.#setup.connect(key, limit))).url,
    );
  });

  async checkWebhook(): Promise<Finding> {
    const url = await this.#url();
    if (url === undefined) return skipped('the service is unavailable');
    if (url === '') return ok('none set; steno listen --register sets one while it runs');
    const facts = await this.#ledger.facts();
    const set = facts && registrationOfUrl(url, facts.registrations);
    if (!set) return ok(`${maskUserinfo(url)}; not set by a listener of this ledger`);
    if (set.isRunning) return ok(`it points to the running listener (pid ${set.pid})`);
    return warn(
      `it points to a listener that ended without restoring the previous webhook (last seen ${timeAgo(set.seenAt)}): events are lost`,
      `steno listen restores it, or: ${setCommand(set.previous)}`,
    );
  }

  async checkListener(): Promise<Finding> {
    const facts = await this.#ledger.facts();
    if (await this.#ledger.isNew()) return ok('none running');
    if (!facts) return skipped('the ledger was not read');
    return ok(facts.listeners ? `${plural(facts.listeners, 'listener')} running` : 'none running');
  }

  /** Asks the service for a test, and waits until a listener has kept it. */
  async checkTestEvent(): Promise<Finding> {
    const { testEvent: type, signal } = this.#setup;
    if (type === undefined) return skipped('not requested (--test-event TRANSCRIPT_COMPLETE)');
    const key = await this.#service.usableKey();
    const view = await this.#ledger.view();
    const url = await this.#url();
    if (key === undefined || url === undefined)
      return fail('the service is unavailable', 'see the checks above');
    if (url === '')
      return fail(
        'no webhook is set, so no event is sent',
        'set one with: steno listen --register, or steno webhook set <url>',
      );
    if (!view || !(await factsOf(view.context)).listeners)
      return fail('no listener is running here to receive it', 'start one in another terminal: steno listen');
    const events = new Events(view.context);
    const latest = await events.latest();
    const startedAt = monotonicMs();
    try {
      const n = await within(TEST_LIMIT_MS, signal, async (limit) => {
        await testWebhook(await this.#setup.connect(key, limit), type);
        for (;;) {
          const found = await events.firstAfter(latest, type);
          if (found !== undefined) return found;
          await sleep(POLL_INTERVAL_MS, limit);
        }
      });
      return ok(`${type} arrived as event ${n} after ${durationText(monotonicMs() - startedAt)}`);
    } catch (error) {
      if (signal.aborted) throw error;
      return fail(
        `${type} was requested but did not arrive: ${errorMessage(error)}`,
        'check that the webhook points to the listener: steno webhook get',
      );
    }
  }
}
