/** Unicode characters for bidirectional embedding, override and isolation. */
const reordering = /[\u202A-\u202E\u2066-\u2069]/g

/**
 * Removes bidirectional control characters, which can make a line look different on screen. Right-to-left letters are left alone. For display only:
 * stored text keeps these characters.
 */
export const withoutReordering = (text: string): string => text.replace(reordering, '')
