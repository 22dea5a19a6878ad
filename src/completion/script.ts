import { bashScript } from './bash.ts';
import { fishScript } from './fish.ts';
import type { CommandNode, Shell } from './model.ts';
import { powershellScript } from './powershell.ts';
import { zshScript } from './zsh.ts';

const makers: Record<Shell, (root: CommandNode) => string> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
  powershell: powershellScript,
};

/** The path of each shell's script in the repository. */
export const scriptPaths: Record<Shell, string> = {
  bash: 'completions/steno.bash',
  zsh: 'completions/_steno',
  fish: 'completions/steno.fish',
  powershell: 'completions/steno.ps1',
};

export function completionScript(shell: Shell, root: CommandNode): string {
  const first = shell === 'zsh' ? '#compdef steno\n' : '';
  return `${first}# Completion of steno for ${shell}, generated from the program: changes made here are lost.\n\n${makers[shell](root)}`;
}
