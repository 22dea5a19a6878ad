/** All checks, in the order in which they are shown. */
import type { Check, CheckResult } from './check.ts';
import { runChecks } from './check.ts';
import { checkCompletions } from './completions.ts';
import { checkConfigFile, checkSettings } from './config.ts';
import { checkDisk, checkStateFolder } from './folders.ts';
import { LedgerChecks } from './ledger.ts';
import { checkCertificates, checkProxy } from './network.ts';
import { checkNode, checkProgram } from './program.ts';
import { ServiceChecks } from './service.ts';
import type { Setup } from './setup.ts';
import { WebhookChecks } from './webhook.ts';

export interface Program {
  readonly version: string;
  /** Where its build is. */
  readonly folder: string;
}

export async function examine(setup: Setup, { version, folder }: Program): Promise<CheckResult[]> {
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
