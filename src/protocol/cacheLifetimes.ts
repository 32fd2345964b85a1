/** Times for which providers keep a cached beginning without another request, in milliseconds: by default, and at a higher price. */
export const cacheLifetimes = { '5m': 5 * 60_000, '1h': 60 * 60_000 } as const
