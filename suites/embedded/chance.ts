/** A number from 0 to below 1 that only the seed and the words decide: the dice of an embedded model. Pure. */
export function chance(seed: number, ...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5 ^ seed
  for (const char of words.join('\0')) hash = Math.imul(hash ^ char.codePointAt(0)!, 0x01000193)
  // One round of mixing alone would leave neighbouring seeds alike.
  for (let round = 0; round < 3; round++) {
    hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  }
  return ((hash ^ (hash >>> 16)) >>> 0) / 2 ** 32
}

/** One of several, each with a share; shares that are left belong to the last. Pure. */
export function drawn<T extends string>(at: number, shares: Readonly<Record<T, number>>): T {
  const entries = Object.entries<number>(shares) as [T, number][]
  let sum = 0
  for (const [name, share] of entries) if (at < (sum += share)) return name
  return entries.at(-1)![0]
}
