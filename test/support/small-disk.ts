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
  readonly #megabytes: number;
  #isMounted = true;

  private constructor(folder: string, megabytes: number) {
    this.#folder = folder;
    this.#megabytes = megabytes;
  }

  /** Moves the state folder to a disk of this size; nothing where none can be mounted (in some containers). */
  static mount(user: User, megabytes: number): SmallDisk | undefined {
    const folder = user.env.STENO_STATE_DIR ?? '';
    const before = `${folder}.before`;
    renameSync(folder, before);
    mkdirSync(folder, { mode: 0o700 });
    if (!run('mount', '-t', 'tmpfs', '-o', `size=${megabytes}m,mode=700`, 'tmpfs', folder)) return undefined;
    const disk = new SmallDisk(folder, megabytes);
    onTestFinished(() => disk.#unmount());
    run('cp', '-a', `${before}/.`, folder);
    return disk;
  }

  #unmount(): void {
    this.#isMounted = false;
    run('umount', '-l', this.#folder);
  }

  /** Leaves no room at all, or as many kilobytes as are asked for. */
  fill(leavesKilobytes = 0): void {
    // A service that answers after the end of its test would fill the disk of the machine.
    if (!this.#isMounted) return;
    const path = join(this.#folder, 'fill');
    const count = this.#megabytes * 1024;
    spawnSync('dd', ['if=/dev/zero', `of=${path}`, 'bs=1k', `count=${count}`], { stdio: 'ignore' });
    if (leavesKilobytes) run('truncate', '-s', `-${leavesKilobytes}K`, path);
  }

  free(): void {
    writeFileSync(join(this.#folder, 'fill'), '');
  }
}
