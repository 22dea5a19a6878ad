/** Every command, in the groups that help shows. */
import { api } from '../commands/api.ts';
import { attempts } from '../commands/attempts.ts';
import { balance } from '../commands/balance.ts';
import { budget } from '../commands/budget.ts';
import { commandsCommand } from '../commands/commands.ts';
import { completion } from '../commands/completion.ts';
import { config } from '../commands/config.ts';
import { doctor } from '../commands/doctor.ts';
import { events } from '../commands/events.ts';
import { file } from '../commands/file.ts';
import { files } from '../commands/files.ts';
import { formatsCommand } from '../commands/formats.ts';
import { ignore } from '../commands/ignore.ts';
import { invoice } from '../commands/invoice.ts';
import { ledger } from '../commands/ledger.ts';
import { listen } from '../commands/listen.ts';
import { log } from '../commands/log.ts';
import { login } from '../commands/login.ts';
import { logout } from '../commands/logout.ts';
import { order } from '../commands/order.ts';
import { refund } from '../commands/refund.ts';
import { report } from '../commands/report.ts';
import { sandbox } from '../commands/sandbox.ts';
import { schema } from '../commands/schema.ts';
import { skus } from '../commands/skus.ts';
import { states } from '../commands/states.ts';
import { sync } from '../commands/sync.ts';
import { track } from '../commands/track.ts';
import { transcript } from '../commands/transcript.ts';
import { upgrade } from '../commands/upgrade.ts';
import { wait } from '../commands/wait.ts';
import { webhook } from '../commands/webhook.ts';
import { whoami } from '../commands/whoami.ts';
import type { Command } from '../spec/command.ts';

export interface Group {
  readonly title: string;
  readonly commands: readonly Command[];
}

export const groups: readonly Group[] = [
  {
    title: 'Order and follow',
    commands: [order, attempts, ignore, files, file, track, wait, transcript, sync],
  },
  { title: 'Change and pay', commands: [upgrade, refund, balance, invoice, budget, report, log] },
  { title: 'Events', commands: [listen, events, webhook] },
  { title: 'Set up', commands: [login, logout, whoami, config, ledger, doctor] },
  { title: 'Look up', commands: [skus, states, formatsCommand] },
  { title: 'More', commands: [sandbox, api, commandsCommand, schema, completion] },
];

export const commands: readonly Command[] = groups.flatMap((group) => group.commands);
