/** Text that the database takes: what is no character there is replaced. JSON has none of it. Pure. */
export const plainText = (value: string): string => value.toWellFormed().replaceAll('\u0000', '\ufffd')
