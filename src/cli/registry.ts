/** Every command, in the groups that help shows: to add one, write its file and name it here. */
import type { Command, Group } from '../spec/command.ts';

type Load = () => Promise<Command>;

const files: Load = async () => (await import('../commands/files.ts')).files;

/** By the words that name each, its name and its alias. A command line loads only those that it names. */
const registry: Readonly<Record<string, Readonly<Record<string, Load>>>> = {
  'Order and follow': {
    order: async () => (await import('../commands/order.ts')).order,
    attempts: async () => (await import('../commands/attempts.ts')).attempts,
    ignore: async () => (await import('../commands/ignore.ts')).ignore,
    files,
    ls: files,
    file: async () => (await import('../commands/file.ts')).file,
    track: async () => (await import('../commands/track.ts')).track,
    wait: async () => (await import('../commands/wait.ts')).wait,
    transcript: async () => (await import('../commands/transcript.ts')).transcript,
    sync: async () => (await import('../commands/sync.ts')).sync,
    ui: async () => (await import('../commands/ui.ts')).ui,
    open: async () => (await import('../commands/ui.ts')).open,
  },
  Transcripts: {
    search: async () => (await import('../commands/search.ts')).search,
    check: async () => (await import('../commands/check.ts')).check,
    quote: async () => (await import('../commands/quote.ts')).quote,
    diff: async () => (await import('../commands/diff.ts')).diff,
    convert: async () => (await import('../commands/convert.ts')).convert,
  },
  'Change and pay': {
    upgrade: async () => (await import('../commands/change.ts')).upgrade,
    refund: async () => (await import('../commands/change.ts')).refund,
    balance: async () => (await import('../commands/balance.ts')).balance,
    invoice: async () => (await import('../commands/invoice.ts')).invoice,
    budget: async () => (await import('../commands/budget.ts')).budget,
    report: async () => (await import('../commands/report.ts')).report,
    log: async () => (await import('../commands/log.ts')).log,
  },
  Events: {
    listen: async () => (await import('../commands/listen.ts')).listen,
    events: async () => (await import('../commands/events.ts')).events,
    webhook: async () => (await import('../commands/webhook.ts')).webhook,
  },
  'Set up': {
    login: async () => (await import('../commands/login.ts')).login,
    logout: async () => (await import('../commands/login.ts')).logout,
    whoami: async () => (await import('../commands/whoami.ts')).whoami,
    config: async () => (await import('../commands/config.ts')).config,
    ledger: async () => (await import('../commands/ledger.ts')).ledger,
    doctor: async () => (await import('../commands/doctor.ts')).doctor,
  },
  'Look up': {
    skus: async () => (await import('../commands/catalog.ts')).skus,
    states: async () => (await import('../commands/catalog.ts')).states,
    formats: async () => (await import('../commands/catalog.ts')).formats,
  },
  More: {
    sandbox: async () => (await import('../commands/sandbox.ts')).sandbox,
    mcp: async () => (await import('../commands/mcp.ts')).mcp,
    api: async () => (await import('../commands/api.ts')).api,
    commands: async () => (await import('../commands/commands.ts')).commandsCommand,
    schema: async () => (await import('../commands/schema.ts')).schema,
    completion: async () => (await import('../commands/completion.ts')).completion,
  },
};

export const loaders: ReadonlyMap<string, Load> = new Map(
  Object.values(registry).flatMap((group) => Object.entries(group)),
);

/** Loads all of them: for help, completion scripts, documents, and a line that names none. */
export const loadGroups = (): Promise<Group[]> =>
  Promise.all(
    Object.entries(registry).map(async ([title, group]) => {
      const commands = await Promise.all(Object.values(group).map((load) => load()));
      return { title, commands: [...new Set(commands)] };
    }),
  );
