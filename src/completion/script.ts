export type Shell = 'bash' | 'zsh' | 'fish' | 'powershell';

export function completionScript(shell: Shell): string {
  return `# steno completion for ${shell}\n`;
}
