/** The version of package.json, put in by the build. */
declare const STENO_VERSION: string;
