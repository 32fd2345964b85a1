import type { ErasableStore, Store } from '../protocol/store.ts'

/** Whether a store can forget. */
export const isErasable = (store: Store): store is ErasableStore =>
  'delete' in store && typeof store.delete === 'function'
