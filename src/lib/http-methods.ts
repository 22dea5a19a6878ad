/** The methods that `steno api` takes. */
export const httpMethods: readonly string[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
