/** What commands print of files and of transcripts. */
import { savedRecord } from './transcripts.ts';
import { fileRecord } from './files.ts';
import { anyOf, type CommandOutput, printed } from './outputs.ts';
import { arrayOf, described } from './schema.ts';

export const fileSchema = () => described('a file', fileRecord.schema);

/** Of commands that ask the service about files. */
export const askedFiles = (): CommandOutput =>
  printed(
    anyOf(
      described('for a single id', fileSchema()),
      described('for several ids, or where the line does not say which', arrayOf(fileSchema())),
    ),
    fileRecord.columnHelp,
  );

export const savedSchema = () => described('a transcript', savedRecord.schema);
