import { zip } from '../../lib/zip.ts';
import { escapeMarkup, type Transcript } from './dialogue.ts';

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const WORD_TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

export function docx(transcript: Transcript): Buffer {
  const parts: ReadonlyArray<readonly [name: string, xml: string]> = [
    ['[Content_Types].xml', contentTypes],
    ['_rels/.rels', packageRelations],
    ['docProps/core.xml', properties(transcript.title)],
    ['word/document.xml', body(transcript)],
    ['word/_rels/document.xml.rels', documentRelations],
    ['word/styles.xml', styles],
  ];
  return zip(parts.map(([name, xml]) => ({ name, data: Buffer.from(DECLARATION + xml) })));
}

const contentTypes = [
  `<Types xmlns="${PACKAGE}/content-types">`,
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>',
  '<Default Extension="xml" ContentType="application/xml"/>',
  '<Override PartName="/docProps/core.xml" ContentType="application/vnd.openxmlformats-package.core-properties+xml"/>',
  `<Override PartName="/word/document.xml" ContentType="${WORD_TYPE}.document.main+xml"/>`,
  `<Override PartName="/word/styles.xml" ContentType="${WORD_TYPE}.styles+xml"/>`,
  '</Types>',
].join('');

const packageRelations = [
  `<Relationships xmlns="${PACKAGE}/relationships">`,
  `<Relationship Id="rId1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/>`,
  `<Relationship Id="rId2" Type="${PACKAGE}/relationships/metadata/core-properties" Target="docProps/core.xml"/>`,
  '</Relationships>',
].join('');

const documentRelations = [
  `<Relationships xmlns="${PACKAGE}/relationships">`,
  `<Relationship Id="rId1" Type="${OFFICE}/styles" Target="styles.xml"/>`,
  '</Relationships>',
].join('');

const styles = [
  `<w:styles xmlns:w="${WORD}">`,
  '<w:docDefaults><w:rPrDefault><w:rPr><w:rFonts w:ascii="Arial" w:hAnsi="Arial" w:cs="Arial"/>',
  '<w:sz w:val="22"/></w:rPr></w:rPrDefault>',
  '<w:pPrDefault><w:pPr><w:spacing w:after="160"/></w:pPr></w:pPrDefault></w:docDefaults>',
  '<w:style w:type="paragraph" w:default="1" w:styleId="Normal"><w:name w:val="Normal"/></w:style>',
  '<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/><w:basedOn w:val="Normal"/>',
  '<w:next w:val="Normal"/><w:qFormat/><w:pPr><w:spacing w:after="240"/></w:pPr>',
  '<w:rPr><w:b/><w:sz w:val="36"/></w:rPr></w:style>',
  '</w:styles>',
].join('');

function properties(title: string): string {
  const space = `xmlns:cp="${PACKAGE}/metadata/core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"`;
  return `<cp:coreProperties ${space}><dc:title>${escapeMarkup(title)}</dc:title></cp:coreProperties>`;
}

function body({ title, link, details, notice, turns }: Transcript): string {
  const about = [...(link ? [`Source: ${link}`] : []), ...details];
  const paragraphs = [
    `<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr>${run(title)}</w:p>`,
    ...about.map((line) => `<w:p>${run(line)}</w:p>`),
    ...(notice ? [`<w:p>${run(notice, '<w:i/>')}</w:p>`] : []),
    ...turns.map(({ speaker, text }) => `<w:p>${run(`${speaker}:`, '<w:b/>')}${run(` ${text}`)}</w:p>`),
  ];
  const page = '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/></w:sectPr>';
  return `<w:document xmlns:w="${WORD}"><w:body>${paragraphs.join('')}${page}</w:body></w:document>`;
}

function run(text: string, look = ''): string {
  const properties = look && `<w:rPr>${look}</w:rPr>`;
  return `<w:r>${properties}<w:t xml:space="preserve">${escapeMarkup(text)}</w:t></w:r>`;
}
