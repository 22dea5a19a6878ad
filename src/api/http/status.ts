/** What the status of a response says about the call. */

/** May be gone on the next try. */
export const isTransient = (status: number): boolean => transientStatuses.has(status);

const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** Names another address to ask; 304 and the like name none. */
export const isRedirect = (status: number): boolean => redirectStatuses.has(status);

const redirectStatuses = new Set([301, 302, 303, 307, 308]);

/** 4xx (but 408: a proxy may have given up waiting) and 503 refuse for certain; after others it may have gone through. */
export const isRefusal = (status: number): boolean =>
  (status >= 400 && status < 500 && status !== 408) || status === 503;
