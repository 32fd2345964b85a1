/** Returns the line with which a shell runs a program with these arguments. Pure. */
export const shellLine = (words: readonly string[]): string => words.map(quoted).join(' ')

const quoted = (word: string): string =>
  /^[\w@%+:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
