/** `replying.streaming` for the nested value of a snapshot. */
export function stateName(value: unknown): string {
  if (typeof value === 'string') return value
  const [state] = Object.keys(value as object)
  return `${state}.${stateName((value as Readonly<Record<string, unknown>>)[state!])}`
}
