// What the server answers itself is below its base.

const bridgePath = '/bridge'
/** Path of the health check. */
export const healthPath = '/healthz'

/** Paths of a server's own resources. */
export interface ServedPlaces {
  /** Base path of the resources. It ends with a slash. */
  readonly base: string
  /** Path of the bridge, from the root. */
  readonly bridge: string
}

/** Returns the paths of a server with these options. Pure. */
export function placesOf(options: {
  readonly base?: string | undefined
  readonly path?: string | undefined
}): ServedPlaces {
  const { base = '/', path } = options
  return { base, bridge: path ?? `${base.slice(0, -1)}${bridgePath}` }
}

/** Returns a path relative to a base; `undefined` if it is not below the base. */
export const belowBase = (base: string, path: string): string | undefined =>
  path.startsWith(base) ? path.slice(base.length - 1) : undefined

/** Returns a path relative to a page at a base. */
export function seenFrom(base: string, path: string): string {
  const below = belowBase(base, path)
  return below === undefined ? `${'../'.repeat(base.split('/').length - 2)}${path.slice(1)}` : below.slice(1)
}
