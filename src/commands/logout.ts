import { command } from '../spec/command.ts';

export const logout = command({
  name: 'logout',
  summary: 'Forget the key of a profile',
  about: 'Forgets the key of the selected profile; its other settings stay. Nothing is sent.',
  examples: [
    ['steno logout', 'forget the key of the default profile'],
    ['steno logout --profile work', 'of another one'],
  ],
  load: async () => (await import('./logout.run.ts')).run,
});
