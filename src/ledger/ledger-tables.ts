/** All tables of a ledger, over one store: the ledger's own, or that of a transaction. */
import { cutSignatures } from '../lib/audio-identity.ts';
import { Actions } from './actions.ts';
import { Budgets } from './budgets.ts';
import { Claims } from './claims.ts';
import { Downloads } from './downloads.ts';
import { Events } from './events.ts';
import { FileWatch } from './file-watch.ts';
import { Files } from './files.ts';
import { IgnoredAudio } from './ignored-audio.ts';
import { Invoices } from './invoices.ts';
import { OpenAttempts } from './open-attempts.ts';
import type { Outbox } from './outbox.ts';
import { Properties } from './properties.ts';
import { PurchaseLog } from './purchase-log.ts';
import { Purchases } from './purchases.ts';
import { Runs } from './runs.ts';
import type { Store } from './store.ts';
import type { Hide } from './table.ts';
import { TrackedFiles } from './tracked-files.ts';
import { Uploads } from './uploads.ts';
import { WebhookRegistrations } from './webhook-registrations.ts';

export class LedgerTables {
  readonly purchases: Purchases;
  readonly purchaseLog: PurchaseLog;
  readonly openAttempts: OpenAttempts;
  readonly trackedFiles: TrackedFiles;
  readonly claims: Claims;
  readonly files: Files;
  readonly fileWatch: FileWatch;
  readonly downloads: Downloads;
  readonly events: Events;
  readonly actions: Actions;
  readonly runs: Runs;
  readonly webhookRegistrations: WebhookRegistrations;
  readonly properties: Properties;
  readonly invoices: Invoices;
  readonly uploads: Uploads;
  readonly budgets: Budgets;
  readonly ignoredAudio: IgnoredAudio;

  constructor(db: Store, profile: string, hide: Hide, outbox?: Outbox) {
    const context = { db, profile, hide: (text: string) => cutSignatures(hide(text)), outbox };
    this.purchases = new Purchases(context);
    this.purchaseLog = new PurchaseLog(context);
    this.openAttempts = new OpenAttempts(context);
    this.trackedFiles = new TrackedFiles(context);
    this.claims = new Claims(context);
    this.files = new Files(context);
    this.fileWatch = new FileWatch(context);
    this.downloads = new Downloads(context);
    this.events = new Events(context);
    this.actions = new Actions(context);
    this.runs = new Runs(context);
    this.webhookRegistrations = new WebhookRegistrations(context);
    this.properties = new Properties(context);
    this.invoices = new Invoices(context);
    this.uploads = new Uploads(context);
    this.budgets = new Budgets(context);
    this.ignoredAudio = new IgnoredAudio(context);
  }
}
