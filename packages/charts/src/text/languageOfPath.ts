/** Returns the language of a file, by the end of its name: `ts` for `src/a.ts`, `''` without an ending. Pure. */
export const languageOfPath = (path: string): string => /\.([^./\\]+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
