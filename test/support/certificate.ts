/** A certificate for this machine, signed by itself. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { freshFolder } from './files.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
}

export function makeCertificate(): Certificate {
  const folder = freshFolder();
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const rsa = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert];
  execFileSync('openssl', [...rsa, ...subject], { stdio: 'ignore' });
  return { key, cert };
}
