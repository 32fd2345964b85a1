import { setImmediate as later } from './globals.ts'

/** Resolves in a later turn of the event loop. */
export const setImmediate = (): Promise<void> => new Promise(later)
