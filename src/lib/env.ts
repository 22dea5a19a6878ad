/** Environment variables; handed down, so that tests can give their own. */
export type Env = Readonly<Record<string, string | undefined>>;
