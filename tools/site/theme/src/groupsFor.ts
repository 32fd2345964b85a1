/** Pages by the beginning of their address, with the groups of the menu that lead to them. */
const groups: readonly (readonly [address: RegExp, labels: readonly string[]])[] = [
  [/^api\/[^/]+\//, ['Start', 'API by module']],
  [/^(?:decisions|upstream|source)(?:\/|$)/, ['Start', 'Changing escapement']],
]

/** The groups of the menu that a page shows, by its address within its version; `undefined` for all. Pure. */
export const groupsFor = (address: string): readonly string[] | undefined =>
  groups.find(([pattern]) => pattern.test(address))?.[1]
