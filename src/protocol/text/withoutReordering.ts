/** Unicode's embeddings, overrides and isolates of direction. */
const reordering = /[\u202A-\u202E\u2066-\u2069]/g

/**
 * Removes bidirectional control characters, with which a line can appear on screen as something else. Right-to-left letters are left
 * alone. For display only: stored text keeps them.
 */
export const withoutReordering = (text: string): string => text.replace(reordering, '')
