/** What is to be pasted from a topic of `steno help`. */
import { topicPage } from '../../src/cli/help-topics.ts';

/** Every fenced block of the topic. */
export const topicBlocks = (name: string): string[] =>
  (topicPage(name)?.sections ?? [])
    .flatMap(({ body }) => body)
    .filter((block): block is string => typeof block === 'string' && block.includes('\n'))
    .map((block) => block.trimEnd());
