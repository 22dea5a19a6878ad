/** The test service notices stubs that a test registered and did not use. */
import { expect, it } from 'vitest';
import { complaintOf, Service } from './server.ts';

it('names a route that was never called, with the line that registered it', async () => {
  const service = await Service.start();
  service.on('GET /a', {}, { status: 201 });
  expect(service.complaints()).toEqual([
    expect.stringMatching(/^test\/support\/server\.test\.ts:\d+ GET \/a was never called$/),
  ]);
  expect((await fetch(`${service.baseUrl}/a`)).status).toBe(200);
  expect(service.complaints()).toEqual([expect.stringMatching(/GET \/a gave only 1 of its 2 answers$/)]);
  expect((await fetch(`${service.baseUrl}/a`)).status).toBe(201);
  expect((await fetch(`${service.baseUrl}/a`)).status).toBe(201);
  expect(service.complaints()).toEqual([]);
});

it('names a replaced route that was not called before', async () => {
  const service = await Service.start();
  service.allow('*').on('GET /a', {});
  await fetch(`${service.baseUrl}/a`);
  service.on('GET /a', { status: 202 });
  expect(service.complaints()).toHaveLength(1);
  expect((await fetch(`${service.baseUrl}/a`)).status).toBe(202);
  expect(service.complaints()).toEqual([]);
});

it.each([
  ['required', 0, 1],
  ['required', 1, 0],
  ['optional', 0, 0],
  ['forbidden', 0, 0],
  ['forbidden', 1, 1],
] as const)('of a %s route with %i calls has %i complaints', (use, calls, complaints) => {
  expect(complaintOf({ route: '*', answers: [{}], use, calls })).toHaveLength(complaints);
});
