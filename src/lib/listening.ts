import type { Server } from 'node:net';
import { StenoError, systemReason } from './errors.ts';

/** Resolves when the server takes connections. Later errors are about single connections: it goes on. */
export function startListening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const hint =
        error.code === 'EADDRINUSE' ? 'choose another port with --port; 0 picks a free one' : undefined;
      const what = `can't listen on ${host}:${port}: ${systemReason(error)}`;
      reject(new StenoError('failed', what, { hint, cause: error }));
    });
    server.listen(port, host, () => resolve(void server.on('error', () => {})));
  });
}
