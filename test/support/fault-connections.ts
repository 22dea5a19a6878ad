/** Faults of the connection itself. */
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { broken, good, type KnownFault, sends, silent } from './fault-kinds.ts';
import { type Fault, whole } from './fault-proxy.ts';

const never: Fault['serve'] = () => {
  throw new Error('no request can come here');
};

export const connections: readonly KnownFault[] = [
  { name: 'refused', refuses: true, serve: never, effect: { kind: 'unsent' }, repeated: true },
  {
    name: 'reset before it is sent',
    onConnect: (socket) => socket.resetAndDestroy(),
    serve: never,
    effect: { kind: 'unread' },
    repeated: true,
  },
  {
    name: 'closed before it is sent',
    onConnect: (socket) => socket.end(),
    serve: never,
    effect: { kind: 'unread' },
    repeated: true,
  },
  broken('reset after the request', ({ socket }) => void socket.resetAndDestroy()),
  broken('closed without an answer', ({ socket }) => void socket.end()),
  silent('no answer', () => {}),
  // Only a command with several calls meets it; a read is then sent again, and money has a connection of its own.
  good('closed as the next request is written', ({ socket, good, nth }) => {
    if (nth === 1) socket.write(whole(good));
    else socket.resetAndDestroy();
  }),
  good(
    'closed after an answer that keeps it',
    sends(({ good }) => whole(good)),
  ),
  good('slow, byte by byte', async ({ socket, good }) => {
    for (const byte of whole(good)) {
      socket.write(Buffer.of(byte));
      await nextTurn();
    }
  }),
  good('delayed', async ({ socket, good }) => {
    await sleep(300);
    socket.write(whole(good));
  }),
];
