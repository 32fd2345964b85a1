import type { Store } from '../../src/protocol/ports/store.ts'

/** A store that outlives its runtime. */
export const sharedStore = <S extends Store>(store: S): S => ({ ...store, close: async () => {} })
