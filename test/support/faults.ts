/** Every fault that is known. */

import { bodies } from './fault-bodies.ts';
import { connections } from './fault-connections.ts';
import { heads } from './fault-heads.ts';
import type { KnownFault } from './fault-kinds.ts';
import { noFault } from './fault-proxy.ts';
import { statuses } from './fault-statuses.ts';

export const faults: readonly KnownFault[] = [
  { ...noFault, effect: { kind: 'good' } },
  ...connections,
  ...heads,
  ...statuses,
  ...bodies,
];
