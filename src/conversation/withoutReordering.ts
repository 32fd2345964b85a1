/** Unicode's embeddings, overrides and isolates of direction. */
const reordering = /[\u202A-\u202E\u2066-\u2069]/g

/**
 * A text without the characters that make others stand in another order than they come in: with them a line says on a screen what it does
 * not say. Letters written from right to left stay as they are. For display; what is stored keeps them.
 */
export const withoutReordering = (text: string): string => text.replace(reordering, '')
