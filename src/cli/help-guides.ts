/** The longer topics of `steno help`: a shared ledger, a listener as a service, the ledger itself, security. */
import { type Section, section } from './help-page.ts';

export const sharedLedgerGuide = (): Section[] => [
  section(
    'Rights',
    "The SQL in the README gives the role a schema of its own, in which the first command makes the tables. In a database that you have already, its first and its last line are enough; ?schema=<name> in the URL chooses another schema than 'steno'.",
    'If an administrator alone is to make the tables, these lines take the place of the last one, in the session of that administrator, who then runs steno ledger migrate, now and after an update that asks for it:',
    `CREATE SCHEMA steno;
GRANT USAGE ON SCHEMA steno TO steno;
ALTER DEFAULT PRIVILEGES IN SCHEMA steno
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO steno;
ALTER DEFAULT PRIVILEGES IN SCHEMA steno
  GRANT USAGE, SELECT ON SEQUENCES TO steno;`,
  ),
  section('Settings', [
    ['ledger', 'postgres:// URL, better without its password; it is never taken from DATABASE_URL'],
    [
      'password',
      'the first of: URL, PGPASSWORD, what ledger-password-command prints (asked at each connection, so a token will do), ~/.pgpass',
    ],
    [
      'certificate',
      'verified unless the server is this machine; sslrootcert=<file> in the URL names a CA of your own',
    ],
    [
      'account',
      'whose orders these are: give every machine the same (default: the name of the profile); Acme and acme are one',
    ],
  ]),
  section(
    'To it and back',
    'steno ledger copy takes the profile along: orders, files, attempts, downloads, events. It does all or nothing, may be repeated, and is refused while an order is being sent or a listener of the profile runs. Before the first row is copied, the local ledger is marked as moved:',
    [
      ['order, track, listen', 'exit 2, nothing is sent; so do attempts settle and ledger import'],
      ['files, events', 'read it as before, with a warning; so do attempts and ledger export'],
      ['sync, wait', 'go on with what it knows, with a warning; so does transcript'],
    ],
    'If the copy fails, the mark is taken back; if its end is not known, run it again. steno ledger copy --to local, with the setting still there, brings everything back and lifts the mark. If the database is gone for good, --without-shared lifts the mark alone: what was ordered with it since is then unknown here.',
    'While the ledger of this machine has orders of the profile that were not copied to the shared one that is set, order exits with 2: they could be bought again. Copy them, or say once that they are not of this account: steno ledger account --leave-local. A fresh CI runner has no such ledger, and is not asked.',
  ),
  section('When the database is down', [
    ['order', 'waits up to 30 s (connect_timeout=<seconds> in the URL), sends nothing, exits with 7'],
    [
      'order, once accepted',
      'prints the ids and exits with 0 and a warning; the next command hands the outcome over. In CI the state folder is gone by then: the order stands in steno attempts',
    ],
    ['listen', 'keeps each event on its own disk, answers 200, hands over later, each event once'],
    ['file, transcript', 'go on after 3 s at most, with a warning; so does wait <id>'],
    ['files, events, sync', 'exit with 7; so do attempts, and wait without ids'],
    ['balance, invoice', 'need no ledger; nor do webhook, and api unless it orders, upgrades or refunds'],
  ]),
  section(
    'Also',
    'A new account name with a service and key that the ledger knows under another name exits with 2, because each name would buy for itself. Use the known name, or say once that they are two accounts: steno ledger account --separate-from <name>. The ledger holds a mark of each key, from which the key cannot be read; a new key for an account stops nobody.',
    '--no-ledger is refused for an order unless you add --again. Downloads are known by file, format and folder, whatever the machine: two machines that each want all transcripts need folders of different paths.',
    'Listeners on several machines share the work: each action is done once, and what a killed one has left is taken over within a minute by one with the same command or target. No command is read from the database. One at a time lends out the webhook.',
    'A pooler in transaction mode (PgBouncer) may stand in between. Backups are those of the database: pg_dump -Fc -n steno, then pg_restore -c.',
    'A replica that follows asynchronously may lose the last moment in a failover, and what was ordered then can be ordered once more; with synchronous_standby_names nothing is lost. After a failover, or a restored backup, take files of the time between in with steno track.',
  ),
];

export const serviceGuide = (): Section[] => [
  section(
    'With systemd',
    'Put this into /etc/systemd/system/steno-listen.service. The file /etc/steno/environment holds STENO_API_KEY, STENO_BASE_URL and STENO_HOOK, a path that only you and the service know: / and the output of openssl rand -hex 16.',
    `[Unit]
Description=Receive transcription events
After=network-online.target

[Service]
User=steno
Environment=STENO_STATE_DIR=/var/lib/steno
Environment=STENO_CONFIG_DIR=/etc/steno
StateDirectory=steno
StateDirectoryMode=0700
EnvironmentFile=/etc/steno/environment
ExecStart=/usr/bin/steno listen --path \${STENO_HOOK} \\
  --download /var/lib/steno/transcripts
Restart=always
SuccessExitStatus=143

[Install]
WantedBy=multi-user.target`,
  ),
  section(
    'In a container, with the same three variables',
    `FROM node:22-slim
RUN npm install --global steno-cli
ENV STENO_STATE_DIR=/data
VOLUME /data
EXPOSE 4100
HEALTHCHECK CMD node -e \\
  "fetch('http://127.0.0.1:4100/healthz') \\
  .then((r) => process.exit(r.ok ? 0 : 1))"
ENTRYPOINT ["sh", "-c", \\
  "exec steno listen --host 0.0.0.0 \\
  --path \\"$STENO_HOOK\\" --download /data/transcripts"]`,
    '/healthz answers ok and tells nothing else. Without a proxy in front, add --tls-cert and --tls-key.',
  ),
  section('What an unauthenticated client can take is bounded', [
    ['one body', '1 MiB, then 413; all that are under way 64 MiB, then the largest get 503'],
    ['chunks of a body', '1,000, or 64 bytes each; then 400'],
    ['headers', '16 KiB in 10 s, the whole request in 15 s; then 431 or 408'],
    [
      'connections',
      '500 that wait, fewer where the limit of open files is low; then the one that has waited longest is closed',
    ],
    ['fields of an event', '1,000 are listed and acted on; all are kept in the body'],
  ]),
  section(
    'When something fails',
    'An event is saved in the ledger before the 200 goes out; its actions follow. While the ledger is locked, damaged or full, and always where it is shared, events go into spool.db beside it first and move over as soon as the ledger takes them. Only if neither can be written is the answer 503, and the event is printed on stderr.',
    'What fails for one file is tried again for that file alone. A target that is down is tried with one event at a time, after growing pauses, for a day. One that answers 400, 409, 410, 413, 414, 415, 422 or 431 has refused the event for good. steno events show tells the outcome of each action and when it is tried next.',
    'A command ends with its process group: at its own end, at --exec-timeout, and with the listener. What leaves the group (setsid, a daemon) goes on. 1 MiB of its output is shown.',
    'Where nothing reads what listen prints (Ctrl-S, a hung ssh), it goes on receiving and prints later.',
  ),
];

export const ledgerGuide = (): Section[] => [
  section(
    'What it is',
    'The service keeps no list of your orders: the ledger is the only one. It is a SQLite file that other programs may read at any time. It holds no key.',
  ),
  section(
    'Export and import',
    'An export is JSON lines, and complete but for what belongs to this machine: a borrowed webhook, and what a running listener has received in the last moment. An import does all or nothing, may be repeated, and never undoes what the ledger has learned since: two machines can exchange theirs. Rows stay those of their profile; --as takes them in as those of another.',
    'steno ledger export | ssh host steno ledger import -',
  ),
  section(
    'Backups',
    'Once a day the first command that uses the ledger has a copy made in the background; backups in the state folder keeps the last three. None is made of a damaged ledger, nor where the disk has too little room. A copy in the place of ledger.db is a ledger.',
  ),
  section(
    'A damaged ledger',
    'Nothing is ordered, so that nothing is bought twice, and the error names the last backup. To rescue it:',
    `steno ledger export --damaged -o rescued.jsonl
mv ~/.local/state/steno ~/.local/state/steno.damaged
steno ledger import rescued.jsonl`,
    'Every audio that any rescued row knows counts as ordered. Where too much is lost, put the last backup into the place of the ledger before the import, which adds what is newer.',
  ),
  section(
    'Room',
    'prune removes events, what was done about them and the listeners that did it; so does listen --keep 90d as it goes. Orders, files, attempts and downloads stay. order, sync and listen warn when the disk has less than 100 MB left, or less than 1 % (and less than 1 GB).',
  ),
];

export const securityGuide = (): Section[] => [
  section(
    'The key',
    'It never appears in output, debug traces, errors, the ledger, the list of processes or completions, in any encoding. It is sent in the JSON body wherever the API takes one, never over plain http except to this machine, and never to the target of a redirect.',
    'The config file is refused (exit 2) if others may write it, if it belongs to another user, or if it holds a key and others may read it; a file of root that you may read is taken, as containers mount it. So is a config or state folder that another user owns or may write to; your own is closed to others (mode 0700).',
    'Programs that steno starts (--exec, --tunnel, upload and key commands, the pager) inherit neither STENO_API_KEY nor PGPASSWORD, and STENO_LEDGER without its password; --exec-with-key gives the command of --exec the key alone. A steno in such a command takes the password of a shared ledger from ledger-password-command or ~/.pgpass.',
  ),
  section(
    'The mask',
    'The key is replaced by **** in everything that is printed or kept: as it is, or encoded for a URL, JSON, HTML, CSV, base64 or hexadecimal. Signatures of links (S3, Google, Azure, CloudFront) are cut, and names and passwords from the addresses of --forward-to and --public-url. Two things differ: --json prints answers of the service as they came but for the key, and a live forward passes a delivery on with its signatures.',
    'The mask knows these alone: a token of another service in a command of --exec is kept as you wrote it, so put it into a file or a variable. Of a command or an address with a secret listen keeps the masked text and a mark.',
  ),
  section(
    "A client that knows the receiver's URL",
    'can send events. They are kept, shown, forwarded, and given to the command of --exec on stdin and in variables, which must treat them as untrusted text. An event can make files show a wrong remark, and have the service asked. It cannot spend money, change a state, end a file, replace a file on disk, write outside of the folder of --download, become part of a command line, read anything back, hold up other events, or stop the receiver. --register and --tunnel make the URL unguessable; otherwise choose such a --path.',
  ),
  section(
    'Who else can read it',
    'Root, and every program that runs as you. On Windows the rights of your own folders hold. Who can write to your state folder can change what counts as ordered: keep it out of shared folders and repositories.',
  ),
  section(
    'Text of others',
    'Characters that show nothing or turn the text around are shown as �, everywhere but in --json. A cell of --csv that a spreadsheet would run as a formula gets an apostrophe before it.',
  ),
  section(
    'Privacy',
    'There is no telemetry and no update check. Nothing is sent anywhere but to the base URL and to the addresses that you name.',
  ),
];
