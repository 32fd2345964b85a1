/** Returns text that the database takes: units that are no characters there are replaced. JSON has none of them. Pure. */
export const plainText = (value: string): string => value.toWellFormed().replaceAll('\u0000', '\ufffd')
