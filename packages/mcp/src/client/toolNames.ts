import { createHash } from 'node:crypto'
import { toolName } from '../../../../src/actors/tools/toolName.ts'

/** Returns a name with a fingerprint of the server's own name. */
const marked = (name: string, own: string): string =>
  `${name.slice(0, 57)}_${createHash('sha256').update(own).digest('hex').slice(0, 6)}`

/**
 * Returns the names of a server's tools as models get them, by the server's own names. A tool's name does not depend on the order of the list:
 * of two that would collide, a name that needed no change stays, and the others get a fingerprint. Pure.
 */
export function toolNames(names: readonly string[], prefix = ''): ReadonlyMap<string, string> {
  const shared = new Map<string, number>()
  for (const name of new Set(names)) {
    const plain = toolName(`${prefix}${name}`)
    shared.set(plain, (shared.get(plain) ?? 0) + 1)
  }
  return new Map(
    names.map((name) => {
      const plain = toolName(`${prefix}${name}`)
      const isOwn = plain === `${prefix}${name}` || shared.get(plain) === 1
      return [name, isOwn ? plain : marked(plain, name)]
    }),
  )
}
