import type { Store } from '../../../../src/protocol/ports/store.ts'
import { reopenChecks, storeChecks } from './contractCases.ts'

/** One guarantee of a store, as a case for any test runner. */
export interface StoreContractCase {
  readonly name: string
  /** Rejects with a readable error if the guarantee is broken. Creates its own store and closes it. */
  run(): Promise<void>
}

export interface StoreContractOptions {
  /** Creates a store without any log. */
  create(): Promise<Store> | Store
  /**
   * Opens the data of the last created store again, as another process would. Called while the first store is open, and after it was closed. Omit it
   * for a store that keeps nothing.
   */
  reopen?(): Promise<Store> | Store
}

/**
 * The contract of `Store` as cases for any test runner: `for (const { name, run } of storeContract({ create })) it(name, run)`.
 * Cases are independent but must not run at the same time when `reopen` is given.
 */
export function storeContract({ create, reopen }: StoreContractOptions): readonly StoreContractCase[] {
  const alone = Object.entries(storeChecks).map(([name, check]): StoreContractCase => ({
    name,
    run: () => withStores(create, check),
  }))
  if (reopen === undefined) return alone
  const twice = Object.entries(reopenChecks).map(([name, check]): StoreContractCase => ({
    name,
    run: () => withStores(create, (store, track) => check(store, async () => track(await reopen()))),
  }))
  return [...alone, ...twice]
}

async function withStores(
  create: StoreContractOptions['create'],
  check: (store: Store, track: (store: Store) => Store) => Promise<void>,
): Promise<void> {
  const stores: Store[] = []
  const track = (store: Store): Store => {
    stores.push(store)
    return store
  }
  try {
    await check(track(await create()), track)
  } finally {
    await Promise.all(stores.map((store) => store.close()))
  }
}
