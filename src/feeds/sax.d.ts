/** Types for the parts of sax that xml.ts uses. */
declare module 'sax' {
  export interface Tag {
    readonly name: string;
    readonly attributes: Readonly<Record<string, string>>;
  }

  export interface Parser {
    readonly line: number;
    /** How many characters were read; after the `<` of the latest tag, in UTF-16 units. */
    readonly position: number;
    readonly startTagPosition: number;
    readonly state: number;
    /** The declaration that is being read: `<!…`. */
    readonly sgmlDecl: string;
    /** The entity that is being read, without its `&`. */
    readonly entity: string;
    ontext: (text: string) => void;
    oncdata: (text: string) => void;
    ondoctype: (text: string) => void;
    onsgmldeclaration: (text: string) => void;
    onattribute: () => void;
    onopentagstart: () => void;
    onopentag: (tag: Tag) => void;
    onclosetag: () => void;
    onerror: (error: Error) => void;
    write(text: string): void;
    close(): void;
    /** Goes on after an error. */
    resume(): void;
  }

  const sax: {
    MAX_BUFFER_LENGTH: number;
    readonly STATE: Readonly<Record<string, number>>;
    parser(strict: boolean): Parser;
  };
  export default sax;
}
