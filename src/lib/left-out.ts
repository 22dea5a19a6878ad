/** Why audio of a list was not ordered now. */
export const leftOutReasons = [
  ...(['ordered', 'unclear', 'in_progress', 'other_skus', 'budget', 'ignored'] as const),
  ...(['repeated', 'transcript', 'undated', 'unusable'] as const),
] as const;

export type LeftOutReason = (typeof leftOutReasons)[number];
