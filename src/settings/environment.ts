/** The environment variables that are read, besides those of a setting or a flag, for the help. */

export const environment: ReadonlyArray<readonly [names: string, what: string]> = [
  ['STENO_CONFIG_DIR', 'folder of the settings, instead of the default'],
  ['STENO_STATE_DIR', 'folder of the ledger, unsaved events and the sandbox, instead of the default'],
  ['STENO_PAGER', 'pager for long lists and help on a terminal, such as less -R; cat or empty turns it off'],
  ['PAGER', 'pager if STENO_PAGER is not set (default: less, with LESS=FRX unless LESS is set)'],
  ['FORCE_COLOR', 'colour messages even if stderr is not a terminal; 0 turns colour off'],
  ['HTTPS_PROXY', 'proxy for https, like http://host:port'],
  ['HTTP_PROXY', 'proxy for plain http: feeds and forwards'],
  ['NO_PROXY', 'hosts to reach directly, separated by commas: localhost,.internal; * for all'],
  ['NODE_EXTRA_CA_CERTS', 'file of extra certificates to trust (PEM), read by Node'],
  [
    'NODE_TLS_REJECT_UNAUTHORIZED',
    '0 turns off certificate checks in Node: anyone on the network path can read the key',
  ],
  [
    'PGHOST, PGPORT, PGUSER, PGDATABASE',
    "defaults for parts missing from the shared ledger's URL, as in psql",
  ],
  ['PGPASSWORD, PGPASSFILE', 'password of the shared ledger; better than one in its URL'],
  ['PGSSLMODE, PGSSLROOTCERT', "encryption of the shared ledger's connection"],
  ['USER, USERNAME', 'default user of the shared ledger'],
  ['HOME, USERPROFILE', 'your home folder, where settings and state are kept by default'],
  ['TERM', 'dumb: no colour, no pager, no live progress'],
  [
    'TERM_PROGRAM, VTE_VERSION, KONSOLE_VERSION, WT_SESSION',
    'identify terminals that support links; inside tmux (TMUX) and screen (STY), links are off',
  ],
  ['CI', 'set, and not 0 or false: progress is a plain line every ten seconds'],
  [
    'STENO_EVENT_N, STENO_EVENT_…',
    'set for the command of --exec: number and fields of the event; KEY, TAGS, FEED and TITLE of its file; PATH of the transcript',
  ],
  ['STENO_FILE', 'set for upload-command: path of the file'],
];
