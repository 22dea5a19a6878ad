import { shells } from '../completion/model.ts';
import { command } from '../spec/command.ts';
import { flag } from '../spec/options.ts';

const work = () => import('./completion.run.ts');

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
  load: async () => (await work()).install,
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
  load: async () => (await work()).uninstall,
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
  load: async () => (await work()).run,
});
