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
  summary: 'Install the completion script for your shell',
  about:
    'Writes the completion script for your shell ($SHELL, or the one you name) to the folder where the shell ' +
    'looks for it, and lists the files it wrote. It asks no questions.',
  details: [
    'It writes these files, unless XDG_DATA_HOME, XDG_CONFIG_HOME, ZDOTDIR or BASH_COMPLETION_USER_DIR name other ' +
      'folders:',
    [
      [
        'bash',
        '~/.local/share/bash-completion/completions/steno; if bash-completion is not loaded, also a line in ~/.bashrc ' +
          '(on macOS in ~/.bash_profile, unless that reads ~/.bashrc)',
      ],
      ['zsh', '~/.local/share/zsh/site-functions/_steno, and three lines in ~/.zshrc'],
      ['fish', '~/.config/fish/completions/steno.fish'],
      ['powershell', 'steno-completion.ps1 beside $PROFILE, and a line in $PROFILE'],
    ],
    'Lines added to your start-up files stand between two markers; file modes and symbolic links are preserved. ' +
      'Run install again after updating steno. uninstall restores everything.',
  ],
  args: [{ name: '[shell]', help: 'shell (default: the one in $SHELL)', values: shells }],
  options: { dryRun: flag('--dry-run', 'show what would be written and where; write nothing') },
  examples: [
    ['steno completion install', 'for your shell'],
    ['steno completion install zsh --dry-run', 'preview the changes'],
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
  summary: 'Remove the installed completion script',
  about: 'Removes the completion scripts and start-up lines that install wrote, for one shell or for all.',
  args: [{ name: '[shell]', help: 'only for this shell', values: shells }],
  options: { dryRun: flag('--dry-run', 'show what would be removed; remove nothing') },
  examples: [
    ['steno completion uninstall', 'for every shell'],
    ['steno completion uninstall zsh --dry-run', 'preview the changes'],
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
  summary: 'Install or print a shell completion script',
  about:
    'Prints the completion script of a shell, or installs it. It completes commands, flags, SKUs and formats, and ' +
    'your own files, orders, invoices, events and profiles.',
  args: [
    {
      name: '<shell>',
      help: 'print the script for this shell',
      values: shells,
      meaning: () => 'print its script',
    },
  ],
  children: [install, uninstall],
  examples: [
    ['steno completion install', 'for your shell'],
    ['eval "$(steno completion bash)"', 'for this session only'],
    ['steno completion powershell | Out-String | Invoke-Expression', 'for this PowerShell session only'],
  ],
  refuses: { '--json': 'completion prints a script', '--csv': 'completion prints a script' },
  effect: 'read',
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
