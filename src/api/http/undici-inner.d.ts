/** Types for the inner file of undici that undici.ts imports. */
declare module 'undici/lib/dispatcher/pool.js' {
  export { Pool as default } from 'undici';
}
