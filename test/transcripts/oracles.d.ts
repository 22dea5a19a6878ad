declare module 'webvtt-parser' {
  export class WebVTTParser {
    constructor(entities: Readonly<Record<string, string>>);
    parse(text: string): {
      readonly cues: ReadonlyArray<{
        readonly startTime: number;
        readonly endTime: number;
        readonly tree: { readonly children: readonly unknown[] };
      }>;
      readonly errors: ReadonlyArray<{ readonly message: string; readonly line: number }>;
    };
  }
}

declare module 'node-webvtt' {
  const nodeWebvtt: {
    parse(text: string): {
      readonly valid: boolean;
      readonly cues: ReadonlyArray<{ readonly start: number; readonly end: number; readonly text: string }>;
    };
  };
  export default nodeWebvtt;
}
