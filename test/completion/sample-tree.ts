import type { CommandNode, Flag } from '../../src/completion/model.ts';

const flagBase: Flag = {
  names: [],
  help: 'it\'s [odd]: $HOME `x` \\ "q"',
  takesValue: true,
  many: false,
  list: false,
  offers: [],
  onlyOneOf: [],
};

/** What no command has yet, and what a shell could trip over. */
export const sampleTree: CommandNode = {
  names: ['steno'],
  summary: '',
  flags: [],
  args: [],
  children: [
    {
      names: ['list', 'ls'],
      summary: flagBase.help,
      flags: [
        {
          ...flagBase,
          names: ['--state'],
          many: true,
          list: true,
          offers: [
            ['On Hold', flagBase.help],
            ['Delivered', ''],
          ],
        },
        { ...flagBase, names: ['--into', '-i'], offers: 'folder' },
        { ...flagBase, names: ['--order'], many: true, list: true, offers: 'order' },
        { ...flagBase, names: ['--odd'], offers: [[`$(x) 'y' "z" [a]:b\\c`, flagBase.help]] },
      ],
      args: [],
      children: [],
    },
  ],
};
