/** Environment variables; handed down, so that tests can give their own. */
export type Env = Readonly<Record<string, string | undefined>>;

/** For calls that stay within this process. */
export const withoutProxies = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(https?|no)_proxy$/i.test(name)));

/** For a program that the user has us start: it gets the key only where that is asked for. */
export const withoutKey = (env: Env): Env =>
  // Windows knows no case in the names of variables.
  Object.fromEntries(Object.entries(env).filter(([name]) => name.toUpperCase() !== 'STENO_API_KEY'));
