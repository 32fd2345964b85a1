import { RuntimeError } from '../errors.ts'
import type { Store } from './store.ts'

/** Returns a predicate that is true for an object with these methods. */
export const has =
  (...methods: readonly string[]) =>
  (value: unknown): boolean =>
    typeof value === 'object' &&
    value !== null &&
    methods.every((name) => typeof Reflect.get(value, name) === 'function')

export const isStore = has('append', 'read', 'list', 'open', 'close') as (value: unknown) => value is Store

const isReadable = has('read')

/** Checks a store that is only read. @throws RuntimeError `INVALID_OPTION` for a value that is not a store */
export function checkStore(store: unknown): void {
  if (isReadable(store)) return
  throw new RuntimeError(
    'INVALID_OPTION',
    `Give a store, such as fileStore(dir), not ${store === null ? 'null' : typeof store}.`,
  )
}
