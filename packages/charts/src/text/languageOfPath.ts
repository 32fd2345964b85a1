/** The language of a file, by the end of its name: `ts` of `src/a.ts`; `''` when it has none. Pure. */
export const languageOfPath = (path: string): string => /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
