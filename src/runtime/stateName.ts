/** `replying.streaming` for the nested value of a snapshot. */
export function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  return Object.entries(value as object)
    .map(([state, inner]: [string, unknown]) => `${state}.${stateName(inner)}`)
    .join(',')
}
