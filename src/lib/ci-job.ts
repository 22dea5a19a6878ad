/** The web page of the CI job that this process is a part of: who orders in CI is a job, not a person. */
import type { Env } from './env.ts';
import { oneLine } from './text.ts';
import { isUrl } from './url.ts';

type Source = (env: Env) => string | undefined;

/** Each gives nothing outside of its own CI. */
const sources: Readonly<Record<string, Source>> = {
  'GitHub Actions': ({ GITHUB_SERVER_URL, GITHUB_REPOSITORY, GITHUB_RUN_ID, GITHUB_RUN_ATTEMPT }) =>
    joined`${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}/actions/runs/${GITHUB_RUN_ID}/attempts/${GITHUB_RUN_ATTEMPT ?? '1'}`,
  GitLab: ({ CI_JOB_URL }) => CI_JOB_URL,
  CircleCI: ({ CIRCLE_BUILD_URL }) => CIRCLE_BUILD_URL,
  'Azure Pipelines': ({ SYSTEM_COLLECTIONURI, SYSTEM_TEAMPROJECT, BUILD_BUILDID }) =>
    joined`${SYSTEM_COLLECTIONURI?.replace(/\/*$/, '/')}${SYSTEM_TEAMPROJECT}/_build/results?buildId=${BUILD_BUILDID}`,
  Bitbucket: ({ BITBUCKET_REPO_FULL_NAME, BITBUCKET_BUILD_NUMBER }) =>
    joined`https://bitbucket.org/${BITBUCKET_REPO_FULL_NAME}/pipelines/results/${BITBUCKET_BUILD_NUMBER}`,
  Buildkite: ({ BUILDKITE_BUILD_URL, BUILDKITE_JOB_ID }) =>
    joined`${BUILDKITE_BUILD_URL}#${BUILDKITE_JOB_ID}` ?? BUILDKITE_BUILD_URL,
  // Last: the name of its variable is the least its own.
  Jenkins: ({ BUILD_URL }) => BUILD_URL,
};

const MAX_LENGTH = 500;

/** Empty outside of CI. */
export function ciJobUrl(env: Env): string {
  for (const source of Object.values(sources)) {
    const found = checked(source(env));
    if (found) return found;
  }
  return '';
}

/** Who started the CI job; empty where no CI says it. */
export function ciActor({
  GITHUB_ACTOR,
  GITLAB_USER_LOGIN,
  CIRCLE_USERNAME,
  BUILD_REQUESTEDFOR,
  BUILDKITE_BUILD_CREATOR,
}: Env): string {
  const actor =
    GITHUB_ACTOR || GITLAB_USER_LOGIN || CIRCLE_USERNAME || BUILD_REQUESTEDFOR || BUILDKITE_BUILD_CREATOR;
  return actor ? oneLine(actor, MAX_ACTOR_LENGTH) : '';
}

const MAX_ACTOR_LENGTH = 100;

/** Of the web, not too long, and without a user name and password. */
function checked(text: string | undefined): string {
  if (!text || text.length > MAX_LENGTH || !isUrl(text)) return '';
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return '';
  url.username = '';
  url.password = '';
  return url.href.length > MAX_LENGTH ? '' : url.href;
}

/** Nothing where one of the values is missing. */
function joined(texts: TemplateStringsArray, ...values: Array<string | undefined>): string | undefined {
  if (values.some((value) => !value)) return undefined;
  return String.raw({ raw: texts }, ...values);
}
