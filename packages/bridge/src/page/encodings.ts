/** Encodings in which a body may be sent, the best first. */
export const encodings = ['br', 'gzip'] as const

export type Encoding = (typeof encodings)[number]

/**
 * Returns the encoding of a body for a client with this `accept-encoding` header: the one with the highest weight, and
 * among equals the smallest. `identity` means unchanged. `undefined` if the client accepts none of them. Pure.
 */
export function encodingFor(
  accepted: string | undefined,
  there: readonly Encoding[],
): Encoding | 'identity' | undefined {
  const weights = weightsOf(accepted ?? '')
  const others = weights.get('*')
  let best: Encoding | undefined
  let most = 0
  for (const name of encodings) {
    const weight = weights.get(name) ?? (name === 'gzip' ? weights.get('x-gzip') : undefined) ?? others ?? 0
    if (weight <= most || !there.includes(name)) continue
    best = name
    most = weight
  }
  const plain = weights.get('identity')
  // Who says nothing of it takes it where there is nothing better.
  if (best !== undefined && most >= (plain ?? 0)) return best
  return (plain ?? others ?? 1) > 0 || accepted === undefined ? 'identity' : undefined
}

/** Returns the weight of each named encoding, from 0 to 1. A malformed weight counts as none. */
function weightsOf(accepted: string): ReadonlyMap<string, number> {
  const weights = new Map<string, number>()
  for (const entry of accepted.toLowerCase().split(',')) {
    const [name = '', ...parameters] = entry.split(';').map((part) => part.trim())
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    if (name !== '')
      weights.set(
        name,
        weight === undefined ? 1 : /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(weight) ? Number(weight) : 0,
      )
  }
  return weights
}
