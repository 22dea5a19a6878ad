import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { type Certificate, makeCertificate } from '../../support/certificate.ts';
import { complete, eventsOf, FORM, Listener } from '../../support/listener.ts';
import { KEY } from '../../support/steno.ts';
import type { NodeUnderTest } from '../node-user.ts';

export function tls(node: NodeUnderTest): void {
  let certificate: Certificate;

  beforeAll(() => {
    certificate = makeCertificate();
  });

  const read = () => ({ key: readFileSync(certificate.key), cert: readFileSync(certificate.cert) });

  /** A service with a certificate that only those know who are told. */
  async function secureService(): Promise<string> {
    const server = createServer(read(), (_, response) => void response.end('{"balance":"3.50"}'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `https://localhost:${(server.address() as AddressInfo).port}/API4`;
  }

  it('talks to a service whose certificate it is told to trust', async () => {
    const user = node.newcomer({
      STENO_API_KEY: KEY,
      STENO_BASE_URL: await secureService(),
      NODE_EXTRA_CA_CERTS: certificate.cert,
    });
    expect((await user.ok('balance')).stdout).toBe('3.50\n');
  });

  it('exits 7 at a certificate that it does not know, and says so', async () => {
    const user = node.newcomer({ STENO_API_KEY: KEY, STENO_BASE_URL: await secureService() });
    expect((await user.exits(7, 'balance')).stderr).toMatch(/certificate/);
  });

  it('receives events by https', async () => {
    const user = node.newcomer();
    const listener = await Listener.start(user, [
      '--tls-cert',
      certificate.cert,
      '--tls-key',
      certificate.key,
    ]);
    expect(listener.url).toMatch(/^https:/);
    const status = await new Promise((done, failed) => {
      const headers = { 'content-type': FORM };
      request(listener.url, { method: 'POST', headers, ca: read().cert }, (response) => {
        response.resume();
        done(response.statusCode);
      })
        .on('error', failed)
        .end(complete('8008'));
    });
    expect(status).toBe(200);
    await listener.stop();
    expect(await eventsOf(user)).toMatchObject([{ audiofile: '8008' }]);
  });
}
