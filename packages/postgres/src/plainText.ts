/** Returns text that the database accepts, with lone surrogates and NUL replaced. JSON contains neither. Pure. */
export const plainText = (value: string): string => value.toWellFormed().replaceAll('\u0000', '\ufffd')
