/** Environment variables, as they are handed down. */
export type Env = Readonly<Record<string, string | undefined>>;
