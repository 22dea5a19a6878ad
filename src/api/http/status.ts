/** What the status of a response says about the call. */

/** May be gone on the next try. */
export const isTransient = (status: number): boolean => transientStatuses.has(status);

const transientStatuses = new Set([408, 425, 429, 500, 502, 503, 504]);

/** 4xx and 503 refuse for certain; after any other failure the call may have gone through. */
export const isRefusal = (status: number): boolean => (status >= 400 && status < 500) || status === 503;
