/** A text as one word of a shell, whatever it holds. Pure. */
export const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** A text as a person types it for one word of a shell. Pure. */
export const shellWord = (text: string): string => (/^[\w./:=@%+,-]+$/.test(text) ? text : quoted(text))
