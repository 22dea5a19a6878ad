import { apply, type Change, kindOf, planInstall, planUninstall } from '../completion/install.ts';
import { shells } from '../completion/model.ts';
import { chooseShell, type Place, placeOf, thisMachine } from '../completion/places.ts';
import { completionScript } from '../completion/shells.ts';
import { usage } from '../lib/errors.ts';
import { didYouMean } from '../lib/text.ts';
import { command } from '../spec/command.ts';
import { flag } from '../spec/options.ts';
import { changesView, completionRecord } from '../views/setup.ts';

const install = command({
  name: 'install',
  summary: 'Put the completion script where your shell finds it',
  about:
    'Writes the completion script of your shell (that of $SHELL, or the one you name) to the folder where the shell ' +
    'looks for it, and says which files it wrote. It asks nothing.',
  details: [
    'It writes these files, or where XDG_DATA_HOME, XDG_CONFIG_HOME, ZDOTDIR and BASH_COMPLETION_USER_DIR say:',
    [
      [
        'bash',
        '~/.local/share/bash-completion/completions/steno; where bash-completion is not loaded, also a line in ' +
          '~/.bashrc (on macOS in ~/.bash_profile, if that does not read ~/.bashrc)',
      ],
      ['zsh', '~/.local/share/zsh/site-functions/_steno, and three lines in ~/.zshrc'],
      ['fish', '~/.config/fish/completions/steno.fish'],
      ['powershell', 'steno-completion.ps1 beside $PROFILE, and a line in $PROFILE'],
    ],
    'Lines in a file of yours stand between two marks; the file keeps its mode, and a link stays a link. Run it again ' +
      'after an update of steno. uninstall gives everything back as it was.',
  ],
  args: [{ name: '[shell]', help: 'the shell, if not that of $SHELL', values: shells }],
  options: { dryRun: flag('--dry-run', 'show what would be written and where; write nothing') },
  examples: [
    ['steno completion install', 'for the shell that you use'],
    ['steno completion install zsh --dry-run', 'see what it would write'],
  ],
  effect: 'local',
  exits: [],
  output: () => completionRecord.printedList,
  async run(context, { args: [name], options }) {
    const { out } = context;
    const machine = thisMachine(context.env);
    const place = placeOf(chooseShell(name, machine), machine);
    const changes = planInstall(place, completionScript(place.shell));
    if (!options.dryRun) await apply(changes);
    await out.show(changesView(changes.map((each) => ({ ...each, change: kindOf(each) }))));
    for (const line of notesOf(place, changes, options.dryRun)) out.note(line);
  },
});

const uninstall = command({
  name: 'uninstall',
  summary: 'Undo what completion install has done',
  about: 'Removes the completion scripts and lines that install has written, of one shell or of all.',
  args: [{ name: '[shell]', help: 'only of this shell', values: shells }],
  options: { dryRun: flag('--dry-run', 'show what would be removed; remove nothing') },
  examples: [
    ['steno completion uninstall', 'for every shell'],
    ['steno completion uninstall zsh --dry-run', 'see what it would remove'],
  ],
  effect: 'local',
  exits: [],
  output: () => completionRecord.printedList,
  async run(context, { args: [name], options }) {
    const { out } = context;
    const machine = thisMachine(context.env);
    const chosen = name === undefined ? shells : [chooseShell(name, machine)];
    const changes = chosen.flatMap((shell) => planUninstall(placeOf(shell, machine)));
    if (!options.dryRun) await apply(changes);
    await out.show(changesView(changes.map((each) => ({ ...each, change: kindOf(each) }))));
    if (changes.length === 0) out.note('nothing is installed');
    else if (options.dryRun) out.note('nothing was removed');
  },
});

export const completion = command({
  name: 'completion',
  summary: 'Install or print the completion script of a shell',
  about:
    'Prints the completion script of a shell, or installs it: commands, flags, SKUs, formats, and your own files, ' +
    'orders, invoices, events and profiles.',
  args: [{ name: '<shell>', help: 'the shell', values: shells, meaning: () => 'print its script' }],
  children: [install, uninstall],
  examples: [
    ['steno completion install', 'for the shell that you use'],
    ['eval "$(steno completion bash)"', 'only in this shell'],
    ['steno completion powershell | Out-String | Invoke-Expression', 'only in this PowerShell'],
  ],
  refuses: { '--json': 'it prints a script', '--csv': 'it prints a script' },
  effect: 'none',
  exits: [],
  async run(context, { args: [name = ''] }) {
    const shell = shells.find((each) => each === name);
    if (!shell)
      throw usage(
        `no completion for '${name}'`,
        didYouMean(name, shells, `choose from: ${shells.join(', ')}`),
      );
    context.out.stdout.write(completionScript(shell));
  },
});

function notesOf({ block, now, shell }: Place, changes: readonly Change[], dryRun: boolean): string[] {
  const added = changes.find(({ part }) => part === 'block');
  const shown =
    added && kindOf(added) !== 'unchanged'
      ? [`lines for ${added.path}:`, ...block.map((line) => `  ${line}`)]
      : [];
  if (dryRun) return [...shown, 'nothing was written'];
  const unchanged = changes.every((each) => kindOf(each) === 'unchanged');
  if (unchanged) return [`already installed for ${shell}`];
  return [...shown, `new shells use it; to use it in this one: ${now}`];
}
