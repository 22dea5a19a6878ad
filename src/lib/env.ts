/** Environment variables; handed down, so that tests can give their own. */
export type Env = Readonly<Record<string, string | undefined>>;

/** For calls that stay within this process. */
export const withoutProxies = (env: Env): Env =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !/^(https?|no)_proxy$/i.test(name)));
