/** A disk of a few megabytes in the place of a user's state folder. Only root may mount one, and only on Linux. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { User } from './steno.ts';

export const canMount = process.platform === 'linux' && process.getuid?.() === 0;

const run = (program: string, ...args: string[]): boolean => spawnSync(program, args).status === 0;

export class SmallDisk {
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Moves the state folder to a disk of this size; nothing where none can be mounted (in some containers). */
  static mount(user: User, size: string): SmallDisk | undefined {
    const folder = user.env.STENO_STATE_DIR ?? '';
    const before = `${folder}.before`;
    renameSync(folder, before);
    mkdirSync(folder, { mode: 0o700 });
    if (!run('mount', '-t', 'tmpfs', '-o', `size=${size},mode=700`, 'tmpfs', folder)) return undefined;
    onTestFinished(() => void run('umount', '-l', folder));
    run('cp', '-a', `${before}/.`, folder);
    return new SmallDisk(folder);
  }

  /** Leaves no room at all, or as many kilobytes as are asked for. */
  fill(leavesKilobytes = 0): void {
    const path = join(this.#folder, 'fill');
    spawnSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=1k'], { stdio: 'ignore' });
    if (leavesKilobytes) run('truncate', '-s', `-${leavesKilobytes}K`, path);
  }

  free(): void {
    writeFileSync(join(this.#folder, 'fill'), '');
  }
}
