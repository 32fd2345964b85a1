/** Pages by the beginning of their address, with the groups of the menu that lead to them. */
const groups: readonly (readonly [address: RegExp, labels: readonly string[]])[] = [
  [/^api\/[^/]+\//, ['Start', 'API by module']],
  [/^(?:decisions|upstream|source)(?:\/|$)/, ['Start', 'Changing escapement']],
]

/** The groups of the menu that a page shows, by its address within its version; `undefined` for all. Pure. */
export const groupsFor = (address: string): readonly string[] | undefined =>
  groups.find(([pattern]) => pattern.test(address))?.[1]

/** Of the modules of the API a page of a type shows its own, and the list of all: tells whether it shows an entry of its menu. Pure. */
export function isNear(address: string, href: string): boolean {
  const [, module] = /^(api\/[^/]+)\//.exec(address) ?? []
  return module === undefined || !/\/api\/[^/]+\/$/.test(href) || href.endsWith(`/${module}/`)
}
