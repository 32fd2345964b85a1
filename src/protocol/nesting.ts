/** Whether a value has lists or objects within each other for more than so many levels. Takes no more levels of the stack than that. Pure. */
export function isNestedDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((inner) => isNestedDeeper(inner, levels - 1))
}
