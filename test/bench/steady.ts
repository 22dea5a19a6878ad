/** Sends an event every so often, answered or not, and tells how long each took: <url> <pause in ms> <seconds>. */
import { Agent, request } from 'node:http';

const [url = '', pause = '20', seconds = '10'] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const total = Math.round((Number(seconds) * 1000) / Number(pause));
const waits: number[] = [];
let refused = 0;

function send(id: number): Promise<void> {
  const body = `webhook_version=4&event=TRANSCRIPT_COMPLETE&audiofile=s${id}&order=s${id}`;
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((done, failed) => {
    const sentAt = performance.now();
    const call = request(url, { method: 'POST', agent, headers }, (response) => {
      waits[id] = performance.now() - sentAt;
      if (response.statusCode !== 200) refused += 1;
      response.resume().on('end', done);
    });
    call.on('error', failed).end(body);
  });
}

const sent: Array<Promise<void>> = [];
const begunAt = performance.now();
for (let id = 0; id < total; id += 1) {
  sent.push(send(id));
  const next = begunAt + (id + 1) * Number(pause);
  await new Promise((done) => setTimeout(done, Math.max(0, next - performance.now())));
}
await Promise.all(sent);
agent.destroy();
const first = waits[0] ?? 0;
const worst = Math.max(...waits);
const late = waits.filter((wait) => wait > 50).length;
process.stdout.write(`${JSON.stringify({ answered: waits.length, refused, first, worst, late })}\n`);
