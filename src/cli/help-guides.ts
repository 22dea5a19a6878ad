/** The longer topics of `steno help`: uploads, a shared ledger, a listener as a service, the ledger, security. */
import { shellWord } from '../lib/text.ts';
import { uploadRecipes } from '../settings/upload-recipes.ts';
import { type Section, section } from './help-page.ts';

/** One step of the command per line; the shell reads it as the same command. */
const recipeText = (command: string): string =>
  `steno config set upload-command ${shellWord(`\n  ${command.replaceAll(' && ', ' &&\n  ')}`)}`;

export const uploadGuide = (): Section[] => [
  section(
    'How a recording gets a URL',
    'The service accepts only URLs. For a file or folder on your disk, steno order runs the command in the setting upload-command once for each recording.',
    [
      ['input', 'the path, as $1 and STENO_FILE; a command that uses neither gets it as its last argument'],
      ['output', 'one https URL on stdout, and nothing else; messages for you belong on stderr'],
      ['Windows', 'the command runs in cmd, and %STENO_FILE% is the path'],
    ],
    'Give each recording its own object name: steno refuses to order two recordings under one URL. The commands below choose a name that nobody can guess. Replace the bucket or host with yours.',
  ),
  ...uploadRecipes.map(({ program, command }) => section(`With ${program}`, recipeText(command))),
];

export const sharedLedgerGuide = (): Section[] => [
  section(
    'Set up the database',
    'The ledger needs PostgreSQL 13 or later. As administrator of the server, run this once in psql:',
    `CREATE ROLE steno LOGIN PASSWORD 'choose a long one';
CREATE DATABASE steno;
REVOKE ALL ON DATABASE steno FROM PUBLIC;
GRANT CONNECT ON DATABASE steno TO steno;
\\connect steno
CREATE SCHEMA steno AUTHORIZATION steno;`,
    "The role owns one schema, and the first steno command creates the tables there. In an existing database, run only the first and the last line. ?schema=<name> in the URL selects a schema other than 'steno'.",
    'If only an administrator may create tables, replace the last line with the lines below. The same administrator then runs steno ledger migrate, now and after each update that asks for it.',
    `CREATE SCHEMA steno;
GRANT USAGE ON SCHEMA steno TO steno;
ALTER DEFAULT PRIVILEGES IN SCHEMA steno
  GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO steno;
ALTER DEFAULT PRIVILEGES IN SCHEMA steno
  GRANT USAGE, SELECT ON SEQUENCES TO steno;`,
  ),
  section('Settings', [
    ['ledger', 'a postgres:// URL, preferably without a password; steno never reads DATABASE_URL'],
    [
      'password',
      'the first of: URL, PGPASSWORD, output of ledger-password-command (run for each connection, so a short-lived token works), ~/.pgpass',
    ],
    [
      'certificate',
      'verified unless the server is this machine; sslrootcert=<file> in the URL names your own CA',
    ],
    [
      'account',
      'whose orders these are: use the same name on every machine (default: the name of the profile); case is ignored',
    ],
  ]),
  section(
    'Move to the shared ledger and back',
    'steno ledger copy copies the orders, files, attempts, downloads and events of the profile: all or nothing, and you can repeat it. It refuses to run while an order is being sent or a listener of the profile is running. Before copying, it marks the local ledger as moved. From then on, with the local ledger:',
    [
      ['order, track, listen, attempts settle, ledger import', 'exit with 2 and send nothing'],
      ['files, events, attempts, ledger export', 'work as before, with a warning'],
      ['sync, wait, transcript', 'continue with the files they know, with a warning'],
    ],
    'If the copy fails, steno removes the mark; if it ends without a clear result, run it again. To go back, run steno ledger copy --to local while the setting ledger is still set: it copies everything back and removes the mark. If the database is lost, add --without-shared, which only removes the mark: orders placed with the shared ledger are then unknown to this machine.',
    "While this machine's own ledger has orders of the profile that are not in the shared ledger, order exits with 2, because they could be bought again. Copy them, or state once that they belong to another account: steno ledger account --leave-local. A fresh CI runner has no local ledger, so nothing stops it.",
  ),
  section(
    'In CI',
    'In the GitHub Actions job of the README, remove concurrency and add these entries to env, inside its braces. Runs may then overlap, and nothing is cached.',
    `STENO_LEDGER: '\${{ vars.STENO_LEDGER }}',
STENO_ACCOUNT: acme,
PGPASSWORD: '\${{ secrets.STENO_LEDGER_PASSWORD }}'`,
  ),
  section('When the database is down', [
    ['order', 'waits up to 30 s (connect_timeout=<seconds> in the URL), sends nothing and exits with 7'],
    [
      'order, if accepted',
      'prints the ids and exits with 0 and a warning; the next command writes the outcome to the ledger. A CI runner deletes its state folder before that, so the order stays listed in steno attempts',
    ],
    ['listen', 'saves each event locally, answers 200, and moves it to the ledger later'],
    ['file, transcript, wait <id>', 'continue after at most 3 s, with a warning'],
    ['files, events, sync, attempts, wait', 'exit with 7 (wait only without ids)'],
    [
      'balance, invoice, webhook, api',
      'need no ledger (api only if the call does not order, upgrade or refund)',
    ],
  ]),
  section(
    'Accounts',
    'If the ledger knows the same service and key under another account name, a command exits with 2, because orders would not be compared across the two names. Use the known name, or state once that the accounts are separate: steno ledger account --separate-from <name>. The ledger recognizes keys by a fingerprint that does not reveal them; a new key for a known account is fine. If the service moves, run steno ledger account --base-url <url>.',
  ),
  section(
    'Several machines',
    '--no-ledger is refused for an order unless you add --again.',
    'The ledger records a download by file, format and folder, not by machine. If two machines should each get every transcript, use folders with different paths.',
    'Listeners on several machines share the work: each action runs once. If a listener is killed, another one with the same command or target takes over its actions within a minute. steno never runs a command read from the database. Only one listener at a time registers the webhook.',
  ),
  section(
    'Operate the database',
    'A connection pooler in transaction mode (PgBouncer) works. Back up the database as usual: pg_dump -Fc -n steno, then pg_restore -c.',
    'With an asynchronous replica, a failover can lose the most recent writes, so audio ordered just before it could be ordered again; with synchronous_standby_names nothing is lost. After a failover or a restored backup, add the files ordered in that gap with steno track.',
  ),
];

export const serviceGuide = (): Section[] => [
  section(
    'With systemd',
    'Save this as /etc/systemd/system/steno-listen.service. Create the folder /etc/steno, and put STENO_API_KEY, STENO_BASE_URL and STENO_HOOK into /etc/steno/environment. STENO_HOOK is a path that only you and the service know: / followed by the output of openssl rand -hex 16.',
    `[Unit]
Description=Receive transcription events
Wants=network-online.target
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
RestartSec=5
SuccessExitStatus=143
TimeoutStopSec=30
KillMode=mixed
UMask=0077
NoNewPrivileges=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProtectClock=yes
ProtectControlGroups=yes
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
PrivateDevices=yes
PrivateTmp=yes
LockPersonality=yes
RemoveIPC=yes
RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallFilter=@system-service @pkey

[Install]
WantedBy=multi-user.target`,
    'Install Node and steno system-wide: the service cannot see /home. Write the path that which steno prints into ExecStart. Then run:',
    `sudo useradd --system --shell /usr/sbin/nologin steno
sudo chmod 600 /etc/steno/environment
sudo systemd-analyze verify steno-listen.service
sudo systemctl enable --now steno-listen
sudo -u steno env STENO_STATE_DIR=/var/lib/steno \\
  steno events`,
    'On stopping, listen gives running actions ten seconds. A command of --exec is confined like listen: to let it write elsewhere, add ReadWritePaths=.',
  ),
  section(
    'In a container',
    'The folder .github/docker in the repository of steno has a Dockerfile, and a compose file that runs listen with a shared ledger in PostgreSQL. In a clone, with the same three variables in steno.env:',
    `npm pack
docker build -f .github/docker/Dockerfile -t steno .
docker run --init --env-file steno.env -v steno:/data \\
  -p 127.0.0.1:4100:4100 --entrypoint sh steno -c \\
  'exec steno listen --host 0.0.0.0 --path "$STENO_HOOK" \\
  --download /data/transcripts'`,
    '/healthz answers ok and reveals nothing else. Without a proxy in front, add --tls-cert and --tls-key.',
  ),
  section('Limits for unauthenticated clients', [
    ['one body', '1 MiB, then 413; all bodies in progress 64 MiB, then the largest get 503'],
    ['chunks of a body', 'at most 1,000, unless they average 64 bytes or more; otherwise 400'],
    ['headers', '16 KiB within 10 s, the whole request within 15 s; then 431 or 408'],
    [
      'connections',
      '500 waiting, fewer if the limit of open files is low; then the longest-waiting one is closed',
    ],
    ['fields of an event', '1,000 are listed and used; the stored body contains all of them'],
  ]),
  section(
    'When something fails',
    'listen saves an event in the ledger before it answers 200; actions follow. If the ledger is locked, damaged or full, and always if it is shared, events first go to spool.db next to it and move to the ledger as soon as possible. Only if neither can be written does listen answer 503 and print the event on stderr.',
    'A failed action is retried for its own file only. If a target is down, listen tries one event at a time, with growing pauses, for a day. A target that answers 400, 409, 410, 413, 414, 415, 422 or 431 has refused the event for good. steno events show prints the outcome of each action and the time of its next try.',
    'The process group of a command ends when the command exits, at --exec-timeout, or with the listener. A process that leaves the group (setsid, a daemon) keeps running. On Windows, commands run in cmd, and end with the listener unless the listener is killed. listen shows up to 1 MiB of output per command.',
    'If nothing reads the output of listen (Ctrl-S, a hung ssh), it keeps receiving and prints later.',
  ),
];

export const ledgerGuide = (): Section[] => [
  section(
    'What it is',
    'The service keeps no list of your orders; the ledger is the only one. It is a SQLite file that other programs may read at any time. It never contains a key.',
  ),
  section(
    'Export and import',
    'An export is JSON lines. It contains everything except what belongs to this machine: a registered webhook, and events that a running listener received a moment ago. An import is all or nothing, can be repeated, and never undoes anything the ledger has learned since, so two machines can exchange exports. Rows keep their profile unless --as names another.',
    'steno ledger export | ssh host steno ledger import -',
  ),
  section(
    'Backups',
    'Once a day, the first command that uses the ledger copies it in the background. The folder backups in the state folder contains the last three copies. steno makes no copy of a damaged ledger, or when the disk is nearly full. To restore a copy, put it in place of ledger.db.',
  ),
  section(
    'A damaged ledger',
    'steno orders nothing with a damaged ledger, so nothing is bought twice. The error names the last backup and the command that puts it back. Files that you ordered after that backup are missing from it: add them with steno track before you order again.',
  ),
  section(
    'Disk space',
    'steno ledger prune deletes old events, their actions and the listeners that ran them; listen --keep 90d does so continuously. Orders, files, attempts and downloads stay. order, sync and listen warn when the disk has less than 100 MB free, or less than 1 % (and less than 1 GB).',
  ),
];

export const securityGuide = (): Section[] => [
  section(
    'The key',
    'The key never appears in output, debug traces, errors, the ledger, the process list or completions, in any encoding. It goes in the JSON body wherever the API accepts one, never over plain http except to this machine, and never to the target of a redirect.',
    'steno refuses the config file (exit 2) if others can write it, if it belongs to another user, or if it contains a key and others can read it. A readable file owned by root is accepted, because containers mount such files. steno also refuses a config or state folder that another user owns or can write to, and closes your own folder to others (mode 0700).',
    'Programs that steno starts (--exec, --tunnel, upload and key commands, the pager) inherit neither STENO_API_KEY nor PGPASSWORD, and get STENO_LEDGER without its password. --exec-with-key gives only the key to the command of --exec. If such a command runs steno, the password of a shared ledger comes from ledger-password-command or ~/.pgpass.',
  ),
  section(
    'The mask',
    'steno replaces the key with **** in everything it prints or stores: the plain key, and the key encoded for a URL, JSON, HTML, CSV, base64 or hexadecimal. It removes signatures from links (S3, Google, Azure, CloudFront), and user names and passwords from the addresses of --forward-to and --public-url. There are two exceptions: --json prints the answers of the service unchanged except for the key, and a live forward passes a delivery on with its signatures.',
    'The mask knows only these secrets. A token of another service in a command of --exec is stored as you typed it, so keep the token in a file or a variable. If a command or an address contains the key or another secret that steno knows, listen stores the masked text and a fingerprint.',
  ),
  section(
    'Unauthenticated clients',
    "A client that knows the receiver's URL can send events. steno saves, shows and forwards them, and passes them to the command of --exec on stdin and in variables; the command must treat them as untrusted text. A forged event can add a false remark to a file and make steno poll that file. It cannot spend money, change the state of a file or finish it, replace a file on disk, write outside the folder of --download, become part of a command line, read anything back, delay other events, or stop the receiver. --register and --tunnel use a URL that nobody can guess; otherwise choose such a --path yourself.",
  ),
  section(
    'Who else can read the data',
    'Root, and every program that runs as you. On Windows, the permissions of your own folders apply. Anyone who can write to your state folder can change what counts as ordered: keep it out of shared folders and repositories.',
  ),
  section(
    'Untrusted text',
    'Invisible characters and characters that reverse text are shown as �, everywhere except in --json. If a spreadsheet would run a cell of --csv as a formula, the cell gets a leading apostrophe.',
  ),
  section(
    'Privacy',
    'No telemetry, no update check. steno connects only to the base URL and to addresses that you name.',
  ),
];
