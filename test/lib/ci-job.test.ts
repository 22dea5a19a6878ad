import { describe, expect, it } from 'vitest';
import { ciJobUrl } from '../../src/lib/ci-job.ts';

describe('the page of a CI job', () => {
  it.each([
    [
      'GitHub Actions',
      {
        GITHUB_SERVER_URL: 'https://github.com',
        GITHUB_REPOSITORY: 'acme/talks',
        GITHUB_RUN_ID: '77',
        GITHUB_RUN_ATTEMPT: '2',
      },
      'https://github.com/acme/talks/actions/runs/77/attempts/2',
    ],
    ['GitLab', { CI_JOB_URL: 'https://gitlab.example/a/-/jobs/9' }, 'https://gitlab.example/a/-/jobs/9'],
    ['Jenkins', { BUILD_URL: 'http://jenkins.local:8080/job/x/4/' }, 'http://jenkins.local:8080/job/x/4/'],
    ['CircleCI', { CIRCLE_BUILD_URL: 'https://circleci.com/gh/a/b/5' }, 'https://circleci.com/gh/a/b/5'],
    [
      'Azure Pipelines',
      {
        SYSTEM_COLLECTIONURI: 'https://dev.azure.com/acme/',
        SYSTEM_TEAMPROJECT: 'Our Talks',
        BUILD_BUILDID: '6',
      },
      'https://dev.azure.com/acme/Our%20Talks/_build/results?buildId=6',
    ],
    [
      'Bitbucket',
      { BITBUCKET_REPO_FULL_NAME: 'acme/talks', BITBUCKET_BUILD_NUMBER: '8' },
      'https://bitbucket.org/acme/talks/pipelines/results/8',
    ],
    [
      'Buildkite',
      { BUILDKITE_BUILD_URL: 'https://buildkite.com/acme/talks/builds/3', BUILDKITE_JOB_ID: '01-ab' },
      'https://buildkite.com/acme/talks/builds/3#01-ab',
    ],
  ])('of %s', (_, env, url) => {
    expect(ciJobUrl(env)).toBe(url);
  });

  it.each([
    ['outside of CI', {}],
    ['where a part is missing', { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'a/b' }],
    ['that is no page of the web', { CI_JOB_URL: 'javascript:alert(1)' }],
    ['that is no URL', { BUILD_URL: 'x\u001b[31m' }],
    ['that is too long', { CI_JOB_URL: `https://ci.example/${'x'.repeat(600)}` }],
  ])('is empty %s', (_, env) => {
    expect(ciJobUrl(env)).toBe('');
  });

  it('is kept without a user name and password', () => {
    expect(ciJobUrl({ CI_JOB_URL: 'https://bot:token@ci.example/j/1' })).toBe('https://ci.example/j/1');
  });
});
