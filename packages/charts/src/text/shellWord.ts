/** Quotes a text as one word of a shell, whatever it contains. Pure. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns a text as a person types it for one word of a shell, quoted only if needed. Pure. */
export const shellWord = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : quoted(text))
