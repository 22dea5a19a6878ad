import { zip } from '../../lib/zip.ts';
import { escapeMarkup, type Transcript } from './dialogue.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument';

const CONTENT_TYPES = `${DECLARATION}<Types xmlns="${PACKAGE}/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Override PartName="/word/document.xml"
 ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>
</Types>`;

const RELATIONS = `${DECLARATION}<Relationships xmlns="${PACKAGE}/relationships">
<Relationship Id="rId1" Type="${DOCUMENT}" Target="word/document.xml"/>
</Relationships>`;

/** The least that Word opens: the three parts that a document must have. */
export function docx({ title, link, details, notice, turns }: Transcript): Buffer {
  const about = [...(link ? [`Source: ${link}`] : []), ...details];
  const paragraphs = [
    run(title, '<w:b/><w:sz w:val="36"/>'),
    ...about.map((line) => run(line)),
    ...(notice ? [run(notice, '<w:i/>')] : []),
    ...turns.map(({ speaker, text }) => run(`${speaker}:`, '<w:b/>') + run(` ${text}`)),
  ];
  const body = paragraphs.map((each) => `<w:p>${each}</w:p>`).join('');
  const document = `${DECLARATION}<w:document xmlns:w="${WORD}"><w:body>${body}</w:body></w:document>`;
  const parts = {
    '[Content_Types].xml': CONTENT_TYPES,
    '_rels/.rels': RELATIONS,
    'word/document.xml': document,
  };
  return zip(Object.entries(parts).map(([name, xml]) => ({ name, data: Buffer.from(xml) })));
}

const run = (text: string, look = ''): string =>
  `<w:r><w:rPr>${look}</w:rPr><w:t xml:space="preserve">${escapeMarkup(text)}</w:t></w:r>`;
