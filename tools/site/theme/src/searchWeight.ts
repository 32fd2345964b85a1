/** Pages by the beginning of their address, and how much a word on them counts in the search; on all others it counts 1. */
const weights: readonly (readonly [address: RegExp, weight: number])[] = [
  // Lists name everything and explain little.
  [/^guide(?:\/command-line|\/options)?$/, 0.5],
  // Pages that say how something is done come before those that say why it is so, or how others do it.
  [/^(?:guide\/|quick-start$)/, 2],
  [/^braking$/, 1.5],
  [/^coming-from\//, 0.5],
  [/^(?:errors$|protocol$|api\/)/, 0.3],
  [/^(?:decisions|upstream)(?:\/|$)/, 0.2],
  [/^(?:changelog|architecture|contributing|upgrading|performance|evidence)$/, 0.2],
]

/** The weight of a page in the search, by its address within its version. Pure. */
export const searchWeight = (address: string): number => weights.find(([pattern]) => pattern.test(address))?.[1] ?? 1
