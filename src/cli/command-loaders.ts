/** Every command by the words that name it, each to be loaded by itself: a command line needs one of them. */
import type { Command } from '../spec/command.ts';

type Loader = () => Promise<Command>;

const files: Loader = async () => (await import('../commands/files.ts')).files;

export const loaders: ReadonlyMap<string, Loader> = new Map(
  Object.entries({
    api: async () => (await import('../commands/api.ts')).api,
    attempts: async () => (await import('../commands/attempts.ts')).attempts,
    balance: async () => (await import('../commands/balance.ts')).balance,
    budget: async () => (await import('../commands/budget.ts')).budget,
    commands: async () => (await import('../commands/commands.ts')).commandsCommand,
    completion: async () => (await import('../commands/completion.ts')).completion,
    config: async () => (await import('../commands/config.ts')).config,
    doctor: async () => (await import('../commands/doctor.ts')).doctor,
    events: async () => (await import('../commands/events.ts')).events,
    file: async () => (await import('../commands/file.ts')).file,
    files,
    ls: files,
    formats: async () => (await import('../commands/formats.ts')).formatsCommand,
    ignore: async () => (await import('../commands/ignore.ts')).ignore,
    invoice: async () => (await import('../commands/invoice.ts')).invoice,
    ledger: async () => (await import('../commands/ledger.ts')).ledger,
    listen: async () => (await import('../commands/listen.ts')).listen,
    log: async () => (await import('../commands/log.ts')).log,
    login: async () => (await import('../commands/login.ts')).login,
    logout: async () => (await import('../commands/logout.ts')).logout,
    order: async () => (await import('../commands/order.ts')).order,
    refund: async () => (await import('../commands/refund.ts')).refund,
    report: async () => (await import('../commands/report.ts')).report,
    sandbox: async () => (await import('../commands/sandbox.ts')).sandbox,
    schema: async () => (await import('../commands/schema.ts')).schema,
    skus: async () => (await import('../commands/skus.ts')).skus,
    states: async () => (await import('../commands/states.ts')).states,
    sync: async () => (await import('../commands/sync.ts')).sync,
    track: async () => (await import('../commands/track.ts')).track,
    transcript: async () => (await import('../commands/transcript.ts')).transcript,
    upgrade: async () => (await import('../commands/upgrade.ts')).upgrade,
    wait: async () => (await import('../commands/wait.ts')).wait,
    webhook: async () => (await import('../commands/webhook.ts')).webhook,
    whoami: async () => (await import('../commands/whoami.ts')).whoami,
  }),
);
