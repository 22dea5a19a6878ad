/** The version of package.json, put in by the build. */
declare const STENO_VERSION: string;
/** Tells one build from another, put in by the build. */
declare const STENO_BUILD: string;
